//! Waiting deliveries that nobody came for: each gets a hint with its unchanged due time, so that one that is in the queue
//! already stays valid, and is looked at again later and later, so that a backlog is not multiplied.

use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use futures_util::{StreamExt, TryStreamExt, stream};
use switchboard_core::delivery::State;
use switchboard_core::identity::{DeliveryId, EventId};
use switchboard_core::ports::Answer;
use switchboard_core::time::Timestamp;

use super::Keeper;
use crate::accept::AT_ONCE;
use crate::change::{Changed, Known, Seen};
use crate::failure::failed;
use crate::item::delivery::Delivery;
use crate::item::{Attributes, names};
use crate::message::{Message, Origin};
use crate::{keys, schema};

const DOING: &str = "looking at waiting deliveries";
/// The longest time between two looks at one.
const SELDOM: Duration = Duration::from_hours(24);

impl Keeper<'_> {
    /// Looks at all whose time has come, as far as there is time; `hinted` counts the hints.
    pub(super) async fn overdue(&self, hinted: &mut u32) -> Answer<()> {
        for shard in 0..keys::SHARDS {
            let mut behind: Option<Attributes> = None;
            while self.has_time() {
                let now = self.now();
                // Each of the keys goes on behind the moment with the delivery's id.
                let last = format!("{}~", keys::moment(now));
                let page = self
                    .aws
                    .dynamodb
                    .query()
                    .table_name(&self.aws.place.table)
                    .index_name(schema::WAITING.name)
                    .key_condition_expression("g3 = :p AND g3s <= :last")
                    .expression_attribute_values(":p", AttributeValue::S(keys::waiting(shard)))
                    .expression_attribute_values(":last", AttributeValue::S(last))
                    .set_exclusive_start_key(behind)
                    .send()
                    .await
                    .map_err(|error| failed(DOING, error))?;
                let ids = page.items.unwrap_or_default();
                let found: Vec<bool> = stream::iter(ids.iter().filter_map(ids_of))
                    .map(|(event, delivery)| async move { self.look(&event, &delivery, now).await })
                    .buffered(AT_ONCE)
                    .try_collect()
                    .await?;
                let count = found.into_iter().filter(|found| *found).count();
                *hinted = hinted.saturating_add(u32::try_from(count).unwrap_or(u32::MAX));
                behind = page.last_evaluated_key;
                if behind.is_none() {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Moves the next look at a delivery, then sends its hint. Cut in between, it is found at that look.
    async fn look(&self, event: &EventId, delivery: &DeliveryId, now: Timestamp) -> Answer<bool> {
        // The index may show what was changed since.
        let Some(record) = self.aws.delivery(event, delivery).await? else {
            return Ok(false);
        };
        let waits = record.stood.state == State::Waiting;
        if !waits || record.watch.look.is_none_or(|look| look > now) {
            return Ok(false);
        }
        let pause = 2_u32.saturating_pow(record.watch.looks);
        let pause = self.distances.again.saturating_mul(pause).min(SELDOM);
        let seen = Seen::LeftBy(record.token.clone());
        let mut after = Delivery {
            token: self.aws.tokens.fresh(),
            ..record
        };
        after.watch.look = Some(now.max(after.stood.due).plus(pause));
        after.watch.looks = after.watch.looks.saturating_add(1);
        let changed = self.aws.change(DOING, &after, &seen, Known::Whole).await?;
        if changed != Changed::Yes {
            return Ok(false);
        }
        let message = Message {
            due: after.stood.due,
            key: after.key,
            life: after.life,
            origin: Origin::Later,
            event: None,
        };
        self.aws.send(&[message]).await?;
        Ok(true)
    }
}

fn ids_of(item: &Attributes) -> Option<(EventId, DeliveryId)> {
    let text = |name| item.get(name)?.as_s().ok();
    let event = keys::event_of(text(names::PARTITION)?)?;
    Some((event, keys::delivery_of(text(names::SORT)?)?))
}
