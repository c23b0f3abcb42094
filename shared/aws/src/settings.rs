//! The settings in the table: what operators have set, how fast what they released goes, and the names that indexes are
//! asked for. One item: every change of it is a write on the condition that nobody else changed it meanwhile, and is
//! decided again where somebody did. A name is added to its set without a condition.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::types::{AttributeValue, ReturnValuesOnConditionCheckFailure};
use switchboard_core::endpoint::{Change, Settings};
use switchboard_core::names::{DestinationName, SourceName};
use switchboard_core::operate::PER_SECOND;
use switchboard_core::ports::{Answer, BackendError, SettingsStore, Spread};
use switchboard_core::release::Release;
use switchboard_core::time::{Clock, Timestamp};
use tracing::warn;

use crate::Aws;
use crate::failure::{Conditional, conditional, failed};
use crate::item::settings::Kept;
use crate::item::{VERSION, names, place};
use crate::keys;

/// How old what was read last may be where the table cannot be read.
const OLDEST: Duration = Duration::from_mins(1);
/// How often a change is decided anew when others come first.
const ROUNDS: u32 = 100;

impl SettingsStore for Aws {
    async fn settings(&self) -> Answer<Arc<Settings>> {
        let kept = self.settings.kept().await?;
        Ok(Arc::new(kept.settings.clone()))
    }

    async fn change(&self, change: Change) -> Answer<Arc<Settings>> {
        self.settings.change(&change).await
    }
}

impl Aws {
    /// The settings as a reading finds them that begins behind this call.
    pub async fn newest_settings(&self) -> Answer<Arc<Settings>> {
        let kept = self.settings.anew().await?;
        Ok(Arc::new(kept.settings.clone()))
    }
}

/// The settings of a table, as one process knows them.
pub(crate) struct Store {
    client: Client,
    table: String,
    clock: Arc<dyn Clock>,
    /// How long what was read counts as what stands.
    fresh_for: Duration,
    read: Mutex<Option<Read>>,
    reading: tokio::sync::Mutex<()>,
    // One change at a time in this process: they would only come in each other's way.
    changing: tokio::sync::Mutex<()>,
    known: Mutex<Known>,
}

/// What was read, and when, in ticks of the clock.
#[derive(Clone)]
struct Read {
    kept: Arc<Kept>,
    at: Duration,
}

/// Names that are in the table's sets for sure.
#[derive(Default)]
struct Known {
    sources: BTreeSet<SourceName>,
    destinations: BTreeSet<DestinationName>,
}

impl Store {
    /// `fresh_for` is how long this process goes by what it has read.
    pub(crate) fn new(
        client: Client,
        table: String,
        clock: Arc<dyn Clock>,
        fresh_for: Duration,
    ) -> Self {
        Self {
            client,
            table,
            clock,
            fresh_for,
            read: Mutex::default(),
            reading: tokio::sync::Mutex::default(),
            changing: tokio::sync::Mutex::default(),
            known: Mutex::default(),
        }
    }

    /// What stands, or stood a moment ago.
    pub(crate) async fn kept(&self) -> Answer<Arc<Kept>> {
        if let Some(fresh) = self.younger_than(self.fresh_for) {
            return Ok(fresh);
        }
        // Whoever waited for another's reading has it.
        let _one = self.reading.lock().await;
        if let Some(fresh) = self.younger_than(self.fresh_for) {
            return Ok(fresh);
        }
        match (self.now().await, self.younger_than(OLDEST)) {
            (Ok(kept), _) => Ok(kept),
            (Err(error), Some(last)) => {
                warn!(
                    error = error.line(),
                    "the settings cannot be read: going by the last ones"
                );
                Ok(last)
            }
            (Err(error), None) => Err(error),
        }
    }

    fn younger_than(&self, age: Duration) -> Option<Arc<Kept>> {
        let now = self.clock.ticks();
        let read = lock(&self.read);
        let young = read
            .as_ref()
            .filter(|read| now.saturating_sub(read.at) < age);
        young.map(|read| Arc::clone(&read.kept))
    }

    /// What stands, by a reading that began behind this call. All who wait while one goes on share the next.
    pub(crate) async fn anew(&self) -> Answer<Arc<Kept>> {
        let asked = self.clock.ticks();
        let _one = self.reading.lock().await;
        let read = lock(&self.read).clone();
        let shared = read.filter(|read| read.at > asked);
        match shared {
            Some(read) => Ok(read.kept),
            None => self.now().await,
        }
    }

    /// What stands now.
    pub(crate) async fn now(&self) -> Answer<Arc<Kept>> {
        let doing = "reading the settings";
        let at = self.clock.ticks();
        let read = self
            .client
            .get_item()
            .table_name(&self.table)
            .set_key(Some(place(keys::SETTINGS_PARTITION, keys::SETTINGS)))
            .consistent_read(true)
            .send()
            .await
            .map_err(|error| failed(doing, error))?;
        let kept = match read.item {
            Some(item) => Kept::read(&item).map_err(|cause| BackendError::new(doing, cause))?,
            None => Kept::default(),
        };
        Ok(self.remember(kept, at))
    }

    /// Keeps what was read or written at `at`, unless something later is kept.
    fn remember(&self, kept: Kept, at: Duration) -> Arc<Kept> {
        let mut known = lock(&self.known);
        known.sources.extend(kept.sources.iter().cloned());
        known.destinations.extend(kept.destinations.iter().cloned());
        drop(known);
        let kept = Arc::new(kept);
        let mut read = lock(&self.read);
        if read
            .as_ref()
            .is_none_or(|read| read.kept.revision <= kept.revision)
        {
            let kept = Arc::clone(&kept);
            *read = Some(Read { kept, at });
        }
        kept
    }

    /// Makes a change and gives what stands after it. Twice is once: a change that stands changes nothing more.
    pub(crate) async fn change(&self, change: &Change) -> Answer<Arc<Settings>> {
        let after = self.rewrite("changing a setting", |before| {
            let mut after = before.clone();
            if let Change::Release(destination, spread) = change {
                let release = match before.releases.get(destination) {
                    Some(release) => release.again(*spread),
                    None => Release::new(*spread),
                };
                after.releases.insert(destination.clone(), release);
            }
            after.settings = after.settings.after(change.clone());
            Some((after, ()))
        });
        let (kept, _) = after.await?;
        Ok(Arc::new(kept.settings.clone()))
    }

    /// Takes the next `count` due times of what is put back of a destination; `None` while it is held. What is reserved and
    /// not used is lost: no two calls are given the same times.
    pub(crate) async fn reserve(
        &self,
        destination: &DestinationName,
        now: Timestamp,
        count: u32,
    ) -> Answer<Option<Vec<Timestamp>>> {
        let taken = self.rewrite("releasing deliveries", |before| {
            if before.settings.held.contains(destination) {
                return None;
            }
            let mut after = before.clone();
            let usual = Spread {
                start: now,
                per_second: PER_SECOND,
            };
            let release = after
                .releases
                .entry(destination.clone())
                .or_insert_with(|| Release::new(usual));
            let dues = release.put_back(now, count);
            Some((after, dues))
        });
        Ok(taken.await?.1)
    }

    /// Writes what `decide` makes of what stands; nothing where that is the same, or `None`.
    async fn rewrite<T>(
        &self,
        doing: &'static str,
        decide: impl Fn(&Kept) -> Option<(Kept, T)> + Send + Sync,
    ) -> Answer<(Arc<Kept>, Option<T>)>
    where
        T: Send,
    {
        let _one = self.changing.lock().await;
        for _ in 0..ROUNDS {
            let before = self.now().await?;
            let Some((after, told)) = decide(&before) else {
                return Ok((before, None));
            };
            if after == *before {
                return Ok((before, Some(told)));
            }
            if let Some(stands) = self.write(doing, &before, after).await? {
                return Ok((stands, Some(told)));
            }
        }
        Err(BackendError::new(
            doing,
            "others change the settings all the time",
        ))
    }

    /// Writes `after` where `before` stands; `None` when it stands no more. The answer to a write may be lost, and the write
    /// then be found as another's: whoever decides again on it finds his change made, or reserves anew.
    async fn write(
        &self,
        doing: &'static str,
        before: &Kept,
        mut after: Kept,
    ) -> Answer<Option<Arc<Kept>>> {
        after.revision = before.revision.saturating_add(1);
        let number = |number: u64| AttributeValue::N(number.to_string());
        let update = self
            .client
            .update_item()
            .table_name(&self.table)
            .set_key(Some(place(keys::SETTINGS_PARTITION, keys::SETTINGS)))
            .update_expression("SET v = :v, vr = :after, js = :js")
            .expression_attribute_values(":v", number(VERSION.into()))
            .expression_attribute_values(":after", number(after.revision))
            .expression_attribute_values(":js", AttributeValue::S(after.json()))
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld);
        let update = match before.revision {
            0 => update.condition_expression("attribute_not_exists(vr)"),
            revision => update
                .condition_expression("vr = :before")
                .expression_attribute_values(":before", number(revision)),
        };
        let at = self.clock.ticks();
        match conditional(doing, update.send().await)? {
            Conditional::Written(_) => Ok(Some(self.remember(after, at))),
            Conditional::Unmet(_) => Ok(None),
        }
    }

    /// Makes sure that lists ask for events of this source. To be called before its first event is stored.
    pub(crate) async fn know_source(&self, source: &SourceName) -> Answer<()> {
        if lock(&self.known).sources.contains(source) {
            return Ok(());
        }
        self.add(names::SOURCES, source.as_str()).await?;
        self.amend(|kept| kept.sources.insert(source.clone()));
        lock(&self.known).sources.insert(source.clone());
        Ok(())
    }

    /// Makes sure that lists ask for deliveries to this destination. To be called before its first one is waiting with a
    /// record, held or dead.
    pub(crate) async fn know_destination(&self, destination: &DestinationName) -> Answer<()> {
        if lock(&self.known).destinations.contains(destination) {
            return Ok(());
        }
        self.add(names::DESTINATIONS, destination.as_str()).await?;
        self.amend(|kept| kept.destinations.insert(destination.clone()));
        lock(&self.known).destinations.insert(destination.clone());
        Ok(())
    }

    async fn add(&self, set: &'static str, name: &str) -> Answer<()> {
        let added = self
            .client
            .update_item()
            .table_name(&self.table)
            .set_key(Some(place(keys::SETTINGS_PARTITION, keys::SETTINGS)))
            .update_expression("SET v = :v ADD #set :name")
            .expression_attribute_names("#set", set)
            .expression_attribute_values(":v", AttributeValue::N(VERSION.to_string()))
            .expression_attribute_values(":name", AttributeValue::Ss(vec![name.to_owned()]))
            .send()
            .await;
        added.map_err(|error| failed("adding to the known names", error))?;
        Ok(())
    }

    /// Adds a name to what was read last.
    fn amend(&self, add: impl FnOnce(&mut Kept) -> bool) {
        if let Some(read) = lock(&self.read).as_mut() {
            add(Arc::make_mut(&mut read.kept));
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
