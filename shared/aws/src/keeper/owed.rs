//! Tickets that deaths still owe: whoever recorded them was cut off before it put them, or buried many at once.

use aws_sdk_dynamodb::types::AttributeValue;
use futures_util::{StreamExt, stream};
use switchboard_core::delivery::State;
use switchboard_core::identity::{DeliveryId, EventId};
use switchboard_core::ports::Answer;
use switchboard_core::time::Timestamp;
use tracing::error;

use super::{FAILURES, Keeper};
use crate::accept::AT_ONCE;
use crate::failure::failed;
use crate::item::{Attributes, Reading, Unreadable, names};
use crate::{keys, schema};

const DOING: &str = "finding tickets that are owed";
/// Most deaths of one query.
const PAGE: u32 = 100;

impl Keeper {
    /// Puts the tickets of deaths that owe one for some minutes. Each is read first: the index may lag behind. Cut anywhere,
    /// what still owes one is found by the next run.
    pub(super) async fn put_tickets(
        &self,
        now: Timestamp,
        budget: u32,
        put: &mut u32,
    ) -> Answer<()> {
        let mut left = budget;
        let mut failures: u32 = 0;
        let mut failure = None;
        for shard in 0..keys::SHARDS {
            let mut from: Option<Attributes> = None;
            while left > 0 && failures < FAILURES {
                let page = self.owing(shard, now, left.min(PAGE), from).await;
                let (found, next) = match page {
                    Ok(page) => page,
                    Err(error) => {
                        failures = failures.saturating_add(1);
                        failure = Some(error);
                        break;
                    }
                };
                left = left.saturating_sub(u32::try_from(found.len()).unwrap_or(u32::MAX));
                let done: Vec<Answer<u32>> = stream::iter(found)
                    .map(|(event, delivery)| async move { self.put_for(&event, &delivery).await })
                    .buffered(AT_ONCE)
                    .collect()
                    .await;
                for one in done {
                    match one {
                        Ok(count) => *put = put.saturating_add(count),
                        Err(error) => {
                            failures = failures.saturating_add(1);
                            failure = Some(error);
                        }
                    }
                }
                from = next;
                if from.is_none() {
                    break;
                }
            }
        }
        failure.map_or(Ok(()), Err)
    }

    async fn put_for(&self, event: &EventId, delivery: &DeliveryId) -> Answer<u32> {
        let record = self.aws.delivery(event, delivery).await?;
        let owing = record
            .filter(|record| record.stood.state == State::Dead && record.watch.look.is_some());
        match owing {
            Some(dead) => {
                self.aws.put_owed(&dead).await?;
                Ok(1)
            }
            None => Ok(0),
        }
    }

    /// Deaths of a part of the index that owe a ticket, and where it is read on.
    async fn owing(
        &self,
        shard: u8,
        now: Timestamp,
        most: u32,
        from: Option<Attributes>,
    ) -> Answer<(Vec<(EventId, DeliveryId)>, Option<Attributes>)> {
        let page = self
            .aws
            .dynamodb
            .query()
            .table_name(&self.aws.place.table)
            .index_name(schema::WAITING.name)
            .key_condition_expression("g3 = :p AND g3s <= :now")
            .expression_attribute_values(":p", AttributeValue::S(keys::owing(shard)))
            .expression_attribute_values(":now", AttributeValue::S(keys::behind(now)))
            .limit(i32::try_from(most).unwrap_or(i32::MAX))
            .set_exclusive_start_key(from)
            .send()
            .await
            .map_err(|error| failed(DOING, error))?;
        let rows = page.items.unwrap_or_default();
        let found = rows.iter().filter_map(|row| match key(row) {
            Ok(key) => Some(key),
            Err(why) => {
                error!(
                    error = why.to_string(),
                    "a dead letter cannot be read, and its ticket is not put"
                );
                None
            }
        });
        Ok((found.collect(), page.last_evaluated_key))
    }
}

fn key(row: &Attributes) -> Result<(EventId, DeliveryId), Unreadable> {
    let reading = Reading::of("delivery", row)?;
    let delivery = reading.parsed(names::SORT, keys::delivery_of)?;
    Ok((reading.event()?, delivery))
}
