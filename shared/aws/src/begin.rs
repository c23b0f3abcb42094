//! May a delivery be attempted now? Asked of the table, but for the first hint of a delivery, which nothing can have
//! happened to. Nothing is written: whoever dies here leaves all as it was, and twice is once.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::try_join;
use switchboard_core::attempt::Attempt;
use switchboard_core::delivery::{DeliveryKey, State};
use switchboard_core::event::Event;
use switchboard_core::ports::{Answer, Begun, Hint};
use switchboard_core::stood::Stood;
use switchboard_core::time::Timestamp;

use crate::Aws;
use crate::memory::Seen;
use crate::message::{Message, Origin};
use crate::token::Token;

/// How young an event is whose first hints are attempted without a read. Behind that the queue was full or stood still: the
/// event may live longer than it was to, or may be over and another one be stored under its id. Half of what the keeper's
/// far walk is behind the present, so that the walk sees every record that is written without a read.
const FRESH: Duration = Duration::from_mins(30);

impl Aws {
    /// [`Ledger::begin`](switchboard_core::ports::Ledger::begin) for a message that was received for the `received`-th time.
    ///
    /// A first hint that was never received before and carries its young event is attempted without a read. Where the answer to
    /// its sending was lost there are two of it: two attempts under the same number and key, of which one is recorded.
    pub async fn begin_message(
        &self,
        message: &Message,
        received: u32,
        now: Timestamp,
    ) -> Answer<Begun> {
        match &message.event {
            Some(event) if is_fresh(message, event, received, now) => {
                if message.due > now {
                    return Ok(Begun::Later(message.due));
                }
                let seen = Seen {
                    life: message.life.clone(),
                    planned: message.due,
                    until: None,
                    record: None,
                };
                self.memory.keep(&message.key.id, seen);
                let stood = Stood::planned(message.due);
                let event = Arc::clone(event);
                Ok(go(message.key.clone(), &stood, event))
            }
            Some(_) | None => {
                self.begin_by_reading(&message.hint(), Some(&message.life), now)
                    .await
            }
        }
    }

    /// The port's step; `life` is the one that a hint is of, if it tells.
    pub(crate) async fn begin_by_reading(
        &self,
        hint: &Hint,
        life: Option<&Token>,
        now: Timestamp,
    ) -> Answer<Begun> {
        let event = self.stored_event(&hint.event);
        let record = self.delivery(&hint.event, &hint.delivery);
        let (Some(stored), record) = try_join(event, record).await? else {
            return Ok(Begun::Drop);
        };
        let head = &stored.head;
        if life.is_some_and(|life| *life != head.life) {
            return Ok(Begun::Drop);
        }
        let record = record.filter(|record| record.life == head.life);
        let mut planned = head.plan.clone();
        if record.is_none() && !planned.iter().any(|queued| queued.key.id == hint.delivery) {
            let family = self.family(head).await?;
            planned = family.runs.into_iter().flat_map(|run| run.plan).collect();
        }
        let planned = planned
            .into_iter()
            .find(|queued| queued.key.id == hint.delivery);
        let (key, stood) = match (&record, &planned) {
            (Some(record), _) => (record.key.clone(), record.stood.clone()),
            (None, Some(queued)) => (queued.key.clone(), Stood::planned(queued.due)),
            (None, None) => return Ok(Begun::Drop),
        };
        if stood.state != State::Waiting || stood.due != hint.due {
            return Ok(Begun::Drop);
        }
        if stood.due > now {
            return Ok(Begun::Later(stood.due));
        }
        let seen = Seen {
            life: head.life.clone(),
            planned: planned.map_or(stood.due, |queued| queued.due),
            until: Some(head.until),
            record,
        };
        self.memory.keep(&key.id, seen);
        let event = stored.event(self.body(&stored).await?);
        Ok(go(key, &stood, Arc::new(event)))
    }
}

/// Whether nothing can have happened to the delivery of a hint, and to its event.
fn is_fresh(message: &Message, event: &Event, received: u32, now: Timestamp) -> bool {
    message.origin == Origin::First && received <= 1 && now.since(event.received_at) < FRESH
}

fn go(key: DeliveryKey, stood: &Stood, event: Arc<Event>) -> Begun {
    let number = stood.attempts.saturating_add(1);
    Begun::Go(Box::new(Attempt {
        key,
        event,
        number,
        in_round: number.saturating_sub(stood.base),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keeper::KeeperIntervals;

    #[test]
    fn what_is_recorded_without_a_read_is_seen_by_the_far_walk() {
        // The rest is for the attempt and its record, and for the index to show what was made of the event.
        assert!(FRESH * 2 <= KeeperIntervals::default().far);
    }
}
