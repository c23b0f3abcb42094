//! A further run of an event: a replay with a plan of its own.

use switchboard_core::identity::{EventId, Run};
use switchboard_core::ports::Queued;
use switchboard_core::time::Timestamp;

use super::{Attributes, Reading, Unreadable, Writing, names, plan};
use crate::token::Token;
use crate::{keys, life};

const ITEM: &str = "run";

/// A stored run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stored {
    pub(crate) event: EventId,
    pub(crate) run: Run,
    /// The life of its event. Of another one than the event's own, it counts as absent.
    pub(crate) life: Token,
    /// The call that stored it.
    pub(crate) token: Token,
    pub(crate) plan: Vec<Queued>,
}

impl Stored {
    /// Reads it; `received_at` is its event's, from which due times count.
    pub(crate) fn read(
        attributes: &Attributes,
        received_at: Timestamp,
    ) -> Result<Self, Unreadable> {
        let reading = Reading::of(ITEM, attributes)?;
        let event = reading.event()?;
        let run = reading.parsed(names::SORT, keys::run_of)?;
        let plan = reading.parsed(names::PLAN, |text| {
            plan::read(text, &event, received_at, run)
        })?;
        Ok(Self {
            run,
            life: reading.token(names::LIFE)?,
            token: reading.token(names::TOKEN)?,
            plan,
            event,
        })
    }

    /// The item; `until` is the end of its event's life.
    pub(crate) fn write(&self, received_at: Timestamp, until: Timestamp) -> Attributes {
        Writing::at(keys::event(&self.event), keys::run(self.run))
            .text(names::LIFE, self.life.as_str())
            .text(names::TOKEN, self.token.as_str())
            .text(names::PLAN, plan::text(&self.plan, received_at))
            .number(names::TTL, life::of_belongings(until))
            .done()
    }
}

#[cfg(test)]
mod tests {
    use switchboard_core::delivery::DeliveryKey;

    use super::super::event::tests::sample;
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let head = sample(None).head;
        let planned = head.plan.first().expect("planned");
        let (to, action) = (planned.key.destination.clone(), planned.key.action.clone());
        let run = Run(3);
        let stored = Stored {
            event: head.id.clone(),
            run,
            life: head.life.clone(),
            token: Token::stored("this-write"),
            plan: vec![Queued {
                key: DeliveryKey::of(&head.id, to, action, run),
                due: Timestamp::from_millis(head.received_at.millis() + 86_400_000),
            }],
        };
        let item = stored.write(head.received_at, head.until);
        assert_eq!(Stored::read(&item, head.received_at), Ok(stored));
    }
}
