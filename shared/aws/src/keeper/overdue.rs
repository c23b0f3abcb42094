//! Waiting deliveries that the keeper is to look at: their hint seems lost, or their pause was too long for a hint. Each is
//! moved on to when it is looked at next, and whoever moved it queues a hint for the unchanged due time: one that is in
//! the queue already stays valid, and a backlog grows by less each time.

use std::time::Duration;

use aws_sdk_dynamodb::types::{AttributeValue, ReturnValuesOnConditionCheckFailure};
use futures_util::{StreamExt, stream};
use switchboard_core::delivery::DeliveryKey;
use switchboard_core::ports::Answer;
use switchboard_core::time::Timestamp;
use tracing::error;

use super::{FAILURES, Keeper, KeeperIntervals};
use crate::accept::AT_ONCE;
use crate::change::carries;
use crate::failure::{Conditional, conditional, failed};
use crate::item::{Attributes, Reading, Unreadable, names, place};
use crate::message::{Message, Origin};
use crate::token::Token;
use crate::{keys, schema};

const DOING: &str = "finding overdue deliveries";
/// Most deliveries of one query.
const PAGE: u32 = 100;

/// A delivery that is to be looked at, as the index has it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Overdue {
    key: DeliveryKey,
    life: Token,
    /// The write that left it so.
    token: Token,
    due: Timestamp,
    /// How often it was looked at since the last record.
    looks: u32,
}

impl Overdue {
    fn read(row: &Attributes) -> Result<Self, Unreadable> {
        let reading = Reading::of("delivery", row)?;
        Ok(Self {
            key: DeliveryKey {
                id: reading.parsed(names::SORT, keys::delivery_of)?,
                event: reading.event()?,
                destination: reading.destination()?,
                action: reading.action()?,
                run: reading.run()?,
            },
            life: reading.token(names::LIFE)?,
            token: reading.token(names::TOKEN)?,
            due: reading.moment(names::DUE)?,
            looks: reading.number_if_any(names::LOOKS)?.unwrap_or_default(),
        })
    }

    /// When it is looked at next: its hint may still be on its way to its due time.
    fn next_look(&self, now: Timestamp, intervals: &KeeperIntervals) -> Timestamp {
        let doubled = 2_u32.checked_pow(self.looks).unwrap_or(u32::MAX);
        let pause: Duration = intervals.next_look.saturating_mul(doubled);
        now.max(self.due).plus(pause.min(intervals.longest_look))
    }
}

impl Keeper {
    /// Queues hints of deliveries whose look is past. Cut between a move and its hint, the delivery waits for its next look.
    pub(super) async fn queue_overdue(
        &self,
        now: Timestamp,
        budget: u32,
        queued: &mut u32,
    ) -> Answer<()> {
        let mut left = budget;
        let mut failures: u32 = 0;
        let mut failure = None;
        for shard in 0..keys::SHARDS {
            // A backlog in one part takes no other part's share.
            let parts = u32::from(keys::SHARDS.saturating_sub(shard));
            let share = left.div_ceil(parts.max(1));
            let mut looked_at = 0;
            let went = self.overdue_in(shard, now, share, &mut looked_at, queued);
            if let Err(error) = went.await {
                failures = failures.saturating_add(1);
                failure = Some(error);
                if failures >= FAILURES {
                    break;
                }
            }
            left = left.saturating_sub(looked_at);
        }
        failure.map_or(Ok(()), Err)
    }

    async fn overdue_in(
        &self,
        shard: u8,
        now: Timestamp,
        most: u32,
        looked_at: &mut u32,
        queued: &mut u32,
    ) -> Answer<()> {
        let mut from: Option<Attributes> = None;
        loop {
            let left = most.saturating_sub(*looked_at);
            if left == 0 {
                return Ok(());
            }
            let page = self
                .aws
                .dynamodb
                .query()
                .table_name(&self.aws.place.table)
                .index_name(schema::WAITING.name)
                .key_condition_expression("g3 = :p AND g3s <= :now")
                .expression_attribute_values(":p", AttributeValue::S(keys::waiting(shard)))
                .expression_attribute_values(":now", AttributeValue::S(keys::behind(now)))
                .limit(i32::try_from(left.min(PAGE)).unwrap_or(i32::MAX))
                // Moved ones may still be shown where they were, so one turn never begins anew.
                .set_exclusive_start_key(from)
                .send()
                .await
                .map_err(|error| failed(DOING, error))?;
            let found = readable(&page.items.unwrap_or_default());
            let count = u32::try_from(found.len()).unwrap_or(u32::MAX);
            *looked_at = looked_at.saturating_add(count);
            self.look_at(found, now, queued).await?;
            from = page.last_evaluated_key;
            if from.is_none() {
                return Ok(());
            }
        }
    }

    /// Moves each of them, and queues the hints of those that were moved.
    async fn look_at(&self, found: Vec<Overdue>, now: Timestamp, queued: &mut u32) -> Answer<()> {
        let moved: Vec<Answer<Option<Message>>> = stream::iter(found)
            .map(|overdue| async move {
                let moved = self.move_look(&overdue, now).await?;
                Ok(moved.then_some(Message {
                    key: overdue.key,
                    due: overdue.due,
                    life: overdue.life,
                    origin: Origin::Later,
                    event: None,
                }))
            })
            .buffered(AT_ONCE)
            .collect()
            .await;
        let mut hints = Vec::new();
        let mut failure = None;
        for one in moved {
            match one {
                Ok(hint) => hints.extend(hint),
                Err(error) => failure = Some(error),
            }
        }
        self.aws.send(&hints).await?;
        let count = u32::try_from(hints.len()).unwrap_or(u32::MAX);
        *queued = queued.saturating_add(count);
        failure.map_or(Ok(()), Err)
    }

    /// Moves a delivery's look on where it stands as the index showed it: of two that do one has moved it. A write whose
    /// answer was lost is known by its token.
    async fn move_look(&self, overdue: &Overdue, now: Timestamp) -> Answer<bool> {
        const DOING: &str = "moving on when a delivery is looked at";
        let look = overdue.next_look(now, &self.intervals);
        let (_, sort) = keys::waiting_of(look, &overdue.key.id);
        let token = self.aws.tokens.fresh();
        let text = |text: String| AttributeValue::S(text);
        let number = |number: i64| AttributeValue::N(number.to_string());
        let key = place(
            keys::event(&overdue.key.event),
            keys::delivery(&overdue.key.id),
        );
        let written = self
            .aws
            .dynamodb
            .update_item()
            .table_name(&self.aws.place.table)
            .set_key(Some(key))
            .update_expression("SET lk = :lk, g3s = :g3s, bk = :bk, tok = :tok")
            .condition_expression("tok = :seen")
            .expression_attribute_values(":lk", number(look.millis()))
            .expression_attribute_values(":g3s", text(sort))
            .expression_attribute_values(":bk", number(i64::from(overdue.looks.saturating_add(1))))
            .expression_attribute_values(":tok", text(token.to_string()))
            .expression_attribute_values(":seen", text(overdue.token.to_string()))
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .send()
            .await;
        Ok(match conditional(DOING, written)? {
            Conditional::Written(_) => true,
            Conditional::Unmet(item) => item.is_some_and(|item| carries(&item, &token)),
        })
    }
}

/// Those that this program can read. The others stay where they are, and take nothing of the budget.
fn readable(rows: &[Attributes]) -> Vec<Overdue> {
    let read = rows.iter().filter_map(|row| match Overdue::read(row) {
        Ok(overdue) => Some(overdue),
        Err(why) => {
            let key = row.get(names::SORT).and_then(|value| value.as_s().ok());
            error!(
                delivery.key = key,
                error = why.to_string(),
                "an overdue delivery cannot be read and waits on"
            );
            None
        }
    });
    read.collect()
}

#[cfg(test)]
mod tests {
    use switchboard_core::delivery::State;

    use super::*;
    use crate::item::delivery::tests::sample;

    fn overdue() -> Overdue {
        Overdue::read(&sample(State::Waiting).write()).expect("read")
    }

    #[test]
    fn each_look_is_twice_as_far_as_the_one_before_up_to_a_day() {
        let intervals = KeeperIntervals::default();
        let mut overdue = overdue();
        let now = overdue.due.plus(Duration::from_mins(3));
        let minutes = [0, 1, 2, 3, 7, 8, 40].map(|looks| {
            overdue.looks = looks;
            overdue.next_look(now, &intervals).since(now).as_secs() / 60
        });
        assert_eq!(minutes, [10, 20, 40, 80, 1280, 1440, 1440]);
    }

    #[test]
    fn what_is_not_due_yet_is_looked_at_behind_its_due_time() {
        let overdue = overdue();
        let now = before_due(&overdue);
        let look = overdue.next_look(now, &KeeperIntervals::default());
        assert_eq!(look, overdue.due.plus(Duration::from_mins(10)));
    }

    fn before_due(overdue: &Overdue) -> Timestamp {
        Timestamp::from_millis(overdue.due.millis() - 600_000)
    }
}
