//! An event that came again: counted, within a rate, and taken as a sign that its deliveries may not be queued.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use switchboard_core::event::Event;
use switchboard_core::ports::{Accepted, Answer, SameBody};
use switchboard_core::time::Timestamp;

use crate::failure::{Conditional, conditional};
use crate::item::event::{Head, Stored};
use crate::item::place;
use crate::item::repeat::Counted;
use crate::message::{Message, Origin};
use crate::token::Token;
use crate::{Aws, keys, life};

/// How old an event is when a repeat of it queues what has no record: before that its first hints are on their way.
const OLD: Duration = Duration::from_secs(10);
/// How often that is done at most.
const AGAIN_AFTER: Duration = Duration::from_secs(30);

/// How many repeats a process counts: each one is a write, and whoever repeats decides how many there are.
#[derive(Debug)]
pub(crate) struct Budget {
    per_second: Option<u32>,
    spent: Mutex<(Duration, u32)>,
}

impl Budget {
    /// `per_second` of them, or all; `ticks` is the present.
    pub(crate) fn new(per_second: Option<u32>, ticks: Duration) -> Self {
        Self {
            per_second,
            spent: Mutex::new((ticks, 0)),
        }
    }

    /// Whether one more is counted at `ticks`.
    fn take(&self, ticks: Duration) -> bool {
        let Some(per_second) = self.per_second else {
            return true;
        };
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        if ticks.saturating_sub(spent.0) >= Duration::from_secs(1) {
            *spent = (ticks, 0);
        }
        if spent.1 >= per_second {
            return false;
        }
        spent.1 = spent.1.saturating_add(1);
        true
    }
}

impl Aws {
    /// Counts a repeat of `stored`, then queues again what was planned and has no record.
    ///
    /// The count lies under the call's token: twice is once, and cut before it the sender has no answer and comes again.
    /// That deliveries are queued again is kept before they are: cut in between, the keeper queues them. Hints that are
    /// queued twice are read against the record, so nothing forks.
    pub(crate) async fn repeat(
        &self,
        event: &Event,
        stored: &Stored,
        digest: &[u8; 32],
        token: &Token,
    ) -> Answer<Accepted> {
        let same_body = if stored.digest == *digest {
            SameBody::Yes
        } else {
            SameBody::No
        };
        let head = &stored.head;
        if self.repeats.take(self.clock.ticks()) {
            let counted = Counted {
                life: head.life.clone(),
                source: head.source.clone(),
                same_body,
            };
            // As long as the event can live: nobody makes each of them stay longer.
            let item = counted.write(&head.id, token, life::longest(head.until));
            self.put("counting a repeat", item).await?;
        }
        let now = event.received_at;
        let lately = stored
            .requeued
            .is_some_and(|then| now.since(then) < AGAIN_AFTER);
        if now.since(head.received_at) >= OLD && !head.plan.is_empty() && !lately {
            self.queue_again(head, now).await?;
        }
        Ok(Accepted::Repeat(same_body))
    }

    async fn queue_again(&self, head: &Head, now: Timestamp) -> Answer<()> {
        let family = self.family(head).await?;
        let messages: Vec<Message> = family
            .unrecorded(head)
            .map(|queued| Message {
                key: queued.key.clone(),
                due: queued.due,
                life: head.life.clone(),
                origin: Origin::Later,
                event: None,
            })
            .collect();
        if messages.is_empty() || !self.may_queue_again(head, now).await? {
            return Ok(());
        }
        self.send(&messages).await
    }

    /// Takes the turn to queue an event's deliveries again: of several repeats at once one has it.
    async fn may_queue_again(&self, head: &Head, now: Timestamp) -> Answer<bool> {
        let number = |millis: i64| AttributeValue::N(millis.to_string());
        let before = i64::try_from(AGAIN_AFTER.as_millis()).unwrap_or(i64::MAX);
        let written = self
            .dynamodb
            .update_item()
            .table_name(&self.place.table)
            .set_key(Some(place(keys::event(&head.id), keys::EVENT)))
            .update_expression("SET rq = :now")
            .condition_expression("tok = :life AND (attribute_not_exists(rq) OR rq <= :before)")
            .expression_attribute_values(":now", number(now.millis()))
            .expression_attribute_values(":before", number(now.millis().saturating_sub(before)))
            .expression_attribute_values(":life", AttributeValue::S(head.life.to_string()))
            .send()
            .await;
        Ok(match conditional("queueing an event again", written)? {
            Conditional::Written(_) => true,
            Conditional::Unmet(_) => false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_whole_again_after_a_second() {
        let budget = Budget::new(Some(2), Duration::ZERO);
        let at = Duration::from_millis;
        let taken = [0, 1, 999, 1000, 1001, 1002].map(|millis| budget.take(at(millis)));
        assert_eq!(taken, [true, true, false, true, true, false]);
        let all = Budget::new(None, Duration::ZERO);
        assert!((0..100).all(|_| all.take(Duration::ZERO)));
    }
}
