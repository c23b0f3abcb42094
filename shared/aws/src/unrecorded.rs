//! Finding planned deliveries that have no record: they are in no index, so the recent events are walked, as far back as the
//! keeper has not seen to every delivery's having one.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use futures_util::{StreamExt, TryStreamExt, stream};
use switchboard_core::names::{DestinationName, SourceName};
use switchboard_core::ports::{Answer, Moved, Queued};
use switchboard_core::time::Timestamp;

use crate::accept::AT_ONCE;
use crate::failure::failed;
use crate::item::event::Head;
use crate::item::{Attributes, Reading, names, place};
use crate::read::{Consistency, KEYS, unreadable};
use crate::views::lanes::{From, Lanes, List};
use crate::{Aws, keys, schema};

const DOING: &str = "finding deliveries without a record";
/// How many beyond a step's share are counted.
const COUNTED: usize = Moved::COUNTED as usize;
/// Most requests for records under way at once.
const REQUESTS: usize = 8;
/// Steps of one call follow each other at once; one that was cut off is called again by a person.
const FORGOTTEN_AFTER: Duration = Duration::from_mins(2);

/// A planned delivery without a record, and its event.
#[derive(Clone, Debug)]
pub(crate) struct Unrecorded {
    pub(crate) head: Head,
    pub(crate) queued: Queued,
}

/// Which planned deliveries are looked for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Wanted {
    /// Those to this destination.
    pub(crate) destination: DestinationName,
    /// Only those that are due by then.
    pub(crate) due: Option<Timestamp>,
}

impl Wanted {
    fn is(&self, queued: &Queued) -> bool {
        queued.key.destination == self.destination && self.due.is_none_or(|due| queued.due <= due)
    }
}

/// How far the steps of one call of an operator came.
#[derive(Debug)]
pub(crate) struct Way {
    /// Found, and to be moved by the next steps.
    found: VecDeque<Unrecorded>,
    /// The sort key that recent events are read on from.
    from: String,
}

impl Way {
    fn since(since: Option<Timestamp>) -> Self {
        Self {
            found: VecDeque::new(),
            from: keys::moment(since.unwrap_or_default()),
        }
    }
}

/// A step on a way. Wherever it is cut or fails, the next one goes on from there, with what this one was given.
pub(crate) struct Step<'a> {
    aws: &'a Aws,
    wanted: Wanted,
    way: Way,
    given: Vec<Unrecorded>,
    is_last: bool,
}

impl Step<'_> {
    /// The planned deliveries without a record that this step is to move, the oldest event first.
    pub(crate) fn given(&self) -> &[Unrecorded] {
        &self.given
    }

    /// How many are left behind them, as far as they are counted.
    pub(crate) fn left(&self) -> u32 {
        u32::try_from(self.way.found.len()).unwrap_or(u32::MAX)
    }

    /// What was given is moved. With nothing left, the next step is another call's.
    pub(crate) fn go_on(mut self, left: u32) {
        self.given.clear();
        self.is_last = left == 0;
    }
}

impl Drop for Step<'_> {
    fn drop(&mut self) {
        if self.is_last {
            return;
        }
        let way = Way {
            found: self
                .given
                .drain(..)
                .chain(self.way.found.drain(..))
                .collect(),
            from: std::mem::take(&mut self.way.from),
        };
        let ticks = self.aws.clock.ticks();
        self.aws.ways.keep(self.wanted.clone(), way, ticks);
    }
}

/// The ways that steps of this process are on. One that is not gone on with is forgotten: the next call begins anew.
#[derive(Debug, Default)]
pub(crate) struct Ways(Mutex<BTreeMap<Wanted, (Duration, Way)>>);

impl Ways {
    fn take(&self, wanted: &Wanted, ticks: Duration) -> Option<Way> {
        let (kept_at, way) = self.lock().remove(wanted)?;
        (ticks.saturating_sub(kept_at) < FORGOTTEN_AFTER).then_some(way)
    }

    fn keep(&self, wanted: Wanted, way: Way, ticks: Duration) {
        let mut ways = self.lock();
        ways.retain(|_, (kept_at, _)| ticks.saturating_sub(*kept_at) < FORGOTTEN_AFTER);
        ways.insert(wanted, (ticks, way));
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Wanted, (Duration, Way)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Aws {
    /// A step that is given the next planned deliveries without a record, at most `most`. One step after the other reads each
    /// recent event once: what is found beyond a step's share is kept for the next one, which only looks whether something
    /// came first. Cut in the middle of its reading, it has come as far as it has.
    pub(crate) async fn unrecorded(&self, wanted: &Wanted, most: u32) -> Answer<Step<'_>> {
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let way = match self.ways.take(wanted, self.clock.ticks()) {
            Some(way) => way,
            None => Way::since(self.walked().await?),
        };
        let mut step = Step {
            aws: self,
            wanted: wanted.clone(),
            way,
            given: Vec::new(),
            is_last: false,
        };
        while step.given.len() < most && !step.way.found.is_empty() {
            let share = most.saturating_sub(step.given.len()).min(KEYS);
            let share = share.min(step.way.found.len());
            let some: Vec<Unrecorded> = step.way.found.iter().take(share).cloned().collect();
            let some = self.without_record(&some).await?;
            step.way.found.drain(..share);
            step.given.extend(some);
        }
        let share = most.saturating_sub(step.given.len());
        self.find_on(wanted, &mut step.way, share.saturating_add(COUNTED))
            .await?;
        let share = share.min(step.way.found.len());
        step.given.extend(step.way.found.drain(..share));
        Ok(step)
    }

    /// Reads on until so many are found.
    async fn find_on(&self, wanted: &Wanted, way: &mut Way, most: usize) -> Answer<()> {
        if way.found.len() >= most {
            return Ok(());
        }
        let sources = self.settings.now().await?.sources.clone();
        let partitions = sources
            .iter()
            .flat_map(|source| (0..keys::SHARDS).map(|shard| keys::recent(source, shard)));
        let list = List {
            doing: DOING,
            index: Some(schema::RECENT),
            partitions: partitions.collect(),
            from: From::Oldest(way.from.clone()),
            wanted: most.saturating_sub(way.found.len()),
        };
        let mut lanes = Lanes::new(self, list);
        while way.found.len() < most {
            let rows = lanes.take(KEYS * REQUESTS).await?;
            let mut planned = Vec::new();
            for row in &rows {
                let head = Head::read(&row.item).map_err(unreadable(DOING))?;
                let of_it = head.plan.iter().filter(|queued| wanted.is(queued));
                planned.extend(of_it.map(|queued| Unrecorded {
                    head: head.clone(),
                    queued: queued.clone(),
                }));
            }
            let looks = planned.chunks(KEYS).map(|some| self.without_record(some));
            let found: Vec<Vec<Unrecorded>> = stream::iter(looks.collect::<Vec<_>>())
                .buffered(REQUESTS)
                .try_collect()
                .await?;
            way.found.extend(found.into_iter().flatten());
            if let Some(last) = rows.last() {
                // No key goes on behind another one.
                way.from = format!("{}!", last.sort);
            }
            if rows.len() < KEYS * REQUESTS {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Where the keeper's later walk is.
    pub(crate) async fn walked(&self) -> Answer<Option<Timestamp>> {
        self.walked_to(keys::FAR_WALK).await
    }

    /// Where one of the keeper's walks is, by the sort key of its cursor.
    pub(crate) async fn walked_to(&self, walk: &str) -> Answer<Option<Timestamp>> {
        let key = place(keys::SETTINGS_PARTITION, walk);
        let Some(item) = self.get(DOING, key, None).await? else {
            return Ok(None);
        };
        let reading = Reading::of("cursor", &item).map_err(unreadable(DOING))?;
        reading
            .moment(names::AT)
            .map(Some)
            .map_err(unreadable(DOING))
    }

    /// When the first delivery without a record is due, by destination, among the `most` oldest events that were received
    /// since then.
    pub(crate) async fn first_unrecorded(
        &self,
        doing: &'static str,
        since: Option<Timestamp>,
        most: usize,
    ) -> Answer<BTreeMap<DestinationName, Timestamp>> {
        let known = self.settings.kept().await?;
        let partitions = known
            .sources
            .iter()
            .flat_map(|source| (0..keys::SHARDS).map(|shard| keys::recent(source, shard)));
        let list = List {
            doing,
            index: Some(schema::RECENT),
            partitions: partitions.collect(),
            from: From::Oldest(keys::moment(since.unwrap_or_default())),
            wanted: most,
        };
        let mut planned = Vec::new();
        for row in Lanes::new(self, list).take(most).await? {
            let head = Head::read(&row.item).map_err(unreadable(doing))?;
            let queued = head.plan.clone().into_iter();
            planned.extend(queued.map(|queued| Unrecorded {
                head: head.clone(),
                queued,
            }));
        }
        let mut first = BTreeMap::new();
        for chunk in planned.chunks(KEYS) {
            for one in self.without_record(chunk).await? {
                let due = first
                    .entry(one.queued.key.destination)
                    .or_insert(one.queued.due);
                *due = one.queued.due.min(*due);
            }
        }
        Ok(first)
    }

    /// The events of all sources that were received since then.
    pub(crate) async fn recent_heads(&self, since: Option<Timestamp>) -> Answer<Vec<Head>> {
        let sources: Vec<SourceName> = self.settings.now().await?.sources.iter().cloned().collect();
        let shards = sources
            .iter()
            .flat_map(|source| (0..keys::SHARDS).map(|shard| keys::recent(source, shard)));
        let heads: Vec<Vec<Head>> = stream::iter(shards.collect::<Vec<_>>())
            .map(|partition| self.recent_in(partition, since))
            .buffered(AT_ONCE)
            .try_collect()
            .await?;
        Ok(heads.into_iter().flatten().collect())
    }

    async fn recent_in(&self, partition: String, since: Option<Timestamp>) -> Answer<Vec<Head>> {
        let mut heads = Vec::new();
        let mut from: Option<Attributes> = None;
        let since = keys::moment(since.unwrap_or_default());
        loop {
            let page = self
                .dynamodb
                .query()
                .table_name(&self.place.table)
                .index_name(schema::RECENT.name)
                .key_condition_expression("g1 = :p AND g1s >= :since")
                .expression_attribute_values(":p", AttributeValue::S(partition.clone()))
                .expression_attribute_values(":since", AttributeValue::S(since.clone()))
                .set_exclusive_start_key(from)
                .send()
                .await
                .map_err(|error| failed(DOING, error))?;
            for item in page.items.unwrap_or_default() {
                heads.push(Head::read(&item).map_err(unreadable(DOING))?);
            }
            from = page.last_evaluated_key;
            if from.is_none() {
                return Ok(heads);
            }
        }
    }

    /// Those of at most [`KEYS`] that have no record of their event's life.
    pub(crate) async fn without_record(&self, planned: &[Unrecorded]) -> Answer<Vec<Unrecorded>> {
        let lives = self.lives(planned).await?;
        let absent = |one: &&Unrecorded| {
            lives.get(one.queued.key.id.as_str()).map(String::as_str)
                != Some(one.head.life.as_str())
        };
        Ok(planned.iter().filter(absent).cloned().collect())
    }

    /// The life that each delivery's record carries, by the delivery's id.
    async fn lives(&self, planned: &[Unrecorded]) -> Answer<BTreeMap<String, String>> {
        let mut lives = BTreeMap::new();
        let keys = planned.iter().map(|one| {
            let key = &one.queued.key;
            place(keys::event(&key.event), keys::delivery(&key.id))
        });
        let only = [names::SORT, names::LIFE];
        let items = self.get_many(DOING, keys.collect(), Some(&only), Consistency::Consistent);
        for item in items.await? {
            let text = |name| item.get(name).and_then(|value| value.as_s().ok());
            let id = text(names::SORT).and_then(|sort| keys::delivery_of(sort));
            if let (Some(id), Some(life)) = (id, text(names::LIFE)) {
                lives.insert(id.as_str().to_owned(), life.clone());
            }
        }
        Ok(lives)
    }
}
