//! Planned deliveries without a record: their hint may never have been sent, or their attempt never recorded. The recent
//! events are walked twice, each of them once per walk.

use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use futures_util::{StreamExt, TryStreamExt, stream};
use switchboard_core::ports::Answer;
use switchboard_core::time::Timestamp;

use super::Keeper;
use crate::accept::{AT_ONCE, planned};
use crate::change::{Changed, Known, Seen};
use crate::failure::failed;
use crate::item::Attributes;
use crate::item::event::Head;
use crate::message::{Message, Origin};
use crate::queue::is_near;
use crate::read::unreadable;
use crate::unrecorded::{KEYS, LATER_WALK, Unrecorded};
use crate::{keys, schema};

const DOING: &str = "walking over recent events";
const SOONER_WALK: &str = "cursor#sooner";
/// How much time of events is walked before the cursor is moved.
const SLICE: Duration = Duration::from_mins(10);

impl Keeper<'_> {
    /// Both walks, as far as there is time; `recorded` counts what was queued and recorded.
    pub(super) async fn walk(&self, recorded: &mut u32) -> Answer<()> {
        let walks = [
            (SOONER_WALK, self.distances.sooner),
            (LATER_WALK, self.distances.later),
        ];
        for (cursor, distance) in walks {
            self.walk_to(cursor, self.before(distance), recorded)
                .await?;
        }
        Ok(())
    }

    fn before(&self, distance: Duration) -> Timestamp {
        let distance = i64::try_from(distance.as_millis()).unwrap_or(i64::MAX);
        Timestamp::from_millis(self.now().millis().saturating_sub(distance))
    }

    async fn walk_to(&self, cursor: &str, to: Timestamp, recorded: &mut u32) -> Answer<()> {
        let mut from = self.aws.cursor(cursor).await?;
        while from.is_none_or(|from| from < to) && self.has_time() {
            // Before the first walk there is no telling where events begin.
            let end = from.map_or(to, |from| from.plus(SLICE).min(to));
            for partition in self.partitions().await? {
                self.walk_in(partition, from.unwrap_or_default(), end, recorded)
                    .await?;
            }
            self.aws.move_cursor(cursor, end).await?;
            from = Some(end);
        }
        Ok(())
    }

    async fn partitions(&self) -> Answer<Vec<String>> {
        let sources = self.aws.settings.now().await?.sources.clone();
        let shards = |source| (0..keys::SHARDS).map(move |shard| keys::recent(source, shard));
        Ok(sources.iter().flat_map(shards).collect())
    }

    /// Walks over the events of a partition that were received from `from` on and before `end`.
    async fn walk_in(
        &self,
        partition: String,
        from: Timestamp,
        end: Timestamp,
        recorded: &mut u32,
    ) -> Answer<()> {
        let mut behind: Option<Attributes> = None;
        loop {
            // Each of the keys goes on behind the moment with the event's id.
            let page = self
                .aws
                .dynamodb
                .query()
                .table_name(&self.aws.place.table)
                .index_name(schema::RECENT.name)
                .key_condition_expression("g1 = :p AND g1s BETWEEN :from AND :end")
                .expression_attribute_values(":p", AttributeValue::S(partition.clone()))
                .expression_attribute_values(":from", AttributeValue::S(keys::moment(from)))
                .expression_attribute_values(":end", AttributeValue::S(keys::moment(end)))
                .set_exclusive_start_key(behind)
                .send()
                .await
                .map_err(|error| failed(DOING, error))?;
            let mut planned = Vec::new();
            for item in page.items.unwrap_or_default() {
                let head = Head::read(&item).map_err(unreadable(DOING))?;
                for queued in head.plan.clone() {
                    let head = head.clone();
                    planned.push(Unrecorded { head, queued });
                }
            }
            for some in planned.chunks(KEYS) {
                let missing = self.aws.without_record(some).await?;
                let found: Vec<bool> = stream::iter(missing)
                    .map(|one| self.record(one))
                    .buffered(AT_ONCE)
                    .try_collect()
                    .await?;
                let count = found.into_iter().filter(|found| *found).count();
                *recorded = recorded.saturating_add(u32::try_from(count).unwrap_or(u32::MAX));
            }
            behind = page.last_evaluated_key;
            if behind.is_none() {
                return Ok(());
            }
        }
    }

    /// Sends a copy of a delivery's hint, then puts its record. Cut in between, there is one hint more: of two that attempt
    /// it, one records. `false` when a record came first.
    async fn record(&self, one: Unrecorded) -> Answer<bool> {
        let (head, queued) = (&one.head, &one.queued);
        let message = Message {
            key: queued.key.clone(),
            due: queued.due,
            life: head.life.clone(),
            origin: Origin::Later,
            event: None,
        };
        self.aws.send(&[message]).await?;
        let now = self.now();
        let mut record = planned(head, queued, self.aws.tokens.fresh(), now);
        if is_near(queued.due, now) {
            record.watch.look = Some(now.plus(self.distances.put));
        }
        let put = self.aws.change(DOING, &record, &Seen::Absent, Known::Whole);
        Ok(put.await? == Changed::Yes)
    }
}
