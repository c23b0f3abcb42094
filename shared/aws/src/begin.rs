//! May a delivery be attempted now? Asked of the table, but for the first hint of a delivery, which nothing can have
//! happened to. Nothing is written: whoever dies here leaves all as it was, and twice is once.

use std::sync::Arc;

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

impl Aws {
    /// [`Ledger::begin`](switchboard_core::ports::Ledger::begin) for a message that was received for the `received`-th time.
    ///
    /// A first hint that was never received before and carries its event is attempted without a read. Where the answer to
    /// its sending was lost there are two of it: two attempts under the same number and key, of which one is recorded.
    pub async fn begin_message(
        &self,
        message: &Message,
        received: u32,
        now: Timestamp,
    ) -> Answer<Begun> {
        match &message.event {
            Some(event) if message.origin == Origin::First && received <= 1 => {
                if message.due > now {
                    return Ok(Begun::Later(message.due));
                }
                let seen = Seen {
                    life: message.life.clone(),
                    planned: message.due,
                    record: None,
                };
                self.memory.keep(&message.key.id, seen);
                let stood = Stood::planned(message.due);
                let event = Arc::clone(event);
                Ok(go(message.key.clone(), &stood, event))
            }
            Some(_) | None => self.begin_by_reading(&message.hint(), now).await,
        }
    }

    /// The port's step.
    pub(crate) async fn begin_by_reading(&self, hint: &Hint, now: Timestamp) -> Answer<Begun> {
        let event = self.stored_event(&hint.event);
        let record = self.delivery(&hint.event, &hint.delivery);
        let (Some(stored), record) = try_join(event, record).await? else {
            return Ok(Begun::Drop);
        };
        let head = &stored.head;
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
            record,
        };
        self.memory.keep(&key.id, seen);
        let event = stored.event(self.body(&stored).await?);
        Ok(go(key, &stood, Arc::new(event)))
    }
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
