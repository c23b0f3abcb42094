//! A delivery's record, and its row in the index of open and dead deliveries.

use switchboard_core::delivery::{DeathReason, DeliveryKey, State};
use switchboard_core::identity::Run;
use switchboard_core::names::{Kind, SourceName};
use switchboard_core::stood::Stood;
use switchboard_core::time::Timestamp;
use switchboard_core::views::death_line;

use super::{Attributes, Reading, Unreadable, Writing, log, names};
use crate::token::Token;
use crate::{keys, life};

const ITEM: &str = "delivery";

/// What of its event a delivery's record holds, so that lists and moves need not read that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct About {
    pub(crate) source: SourceName,
    pub(crate) kind: Kind,
    pub(crate) received_at: Timestamp,
    /// End of the event's life, as far as this delivery knows.
    pub(crate) until: Timestamp,
}

/// What the keeper keeps of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Watch {
    /// When it is to be looked at: one that waits always, a dead one while it owes a ticket, others never.
    pub(crate) look: Option<Timestamp>,
    /// How often it was looked at since the last record.
    pub(crate) looks: u32,
    /// How often a hint of it came back.
    pub(crate) returns: u32,
    /// When such a return was last counted.
    pub(crate) returned_at: Option<Timestamp>,
}

/// A delivery's record. Of a row of the index the log is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Delivery {
    pub(crate) key: DeliveryKey,
    /// The life of its event. Of another one than the event's own, it counts as absent.
    pub(crate) life: Token,
    /// The write that left it so.
    pub(crate) token: Token,
    pub(crate) stood: Stood,
    pub(crate) changed_at: Timestamp,
    pub(crate) about: About,
    pub(crate) watch: Watch,
    /// It is not removed before that, in seconds since 1970, nor before its event is as far as it knows of that.
    pub(crate) stays: i64,
}

/// Attributes that a row of the index of open and dead deliveries has beside the keys: all but the log and what is
/// the keeper's.
pub(crate) const ROW: [&str; 18] = [
    names::VERSION,
    names::LIFE,
    names::TOKEN,
    names::DESTINATION,
    names::ACTION,
    names::RUN,
    names::STATE,
    names::ATTEMPTS,
    names::BASE,
    names::DUE,
    names::CHANGED,
    names::REASON,
    names::REASON_LINE,
    names::SOURCE,
    names::KIND,
    names::RECEIVED,
    names::UNTIL,
    names::TTL,
];

/// What a change writes beside [`ROW`].
pub(crate) const REST: [&str; 10] = [
    names::LOG,
    names::LOOK,
    names::LOOKS,
    names::RETURNS,
    names::RETURNED,
    names::WAITING[0],
    names::WAITING[1],
    names::OPEN[0],
    names::OPEN[1],
    names::DEAD,
];

/// The number that a state is stored as.
pub(crate) fn state_number(state: State) -> u32 {
    match state {
        State::Waiting => 0,
        State::Held => 1,
        State::Delivered => 2,
        State::Dead => 3,
    }
}

fn state(number: u32) -> Option<State> {
    State::ALL
        .into_iter()
        .find(|state| state_number(*state) == number)
}

fn reason_number(reason: DeathReason) -> u32 {
    match reason {
        DeathReason::AttemptsUsedUp => 0,
        DeathReason::NoDestination => 1,
        DeathReason::EndpointCleared => 2,
        DeathReason::ReturnedTooOften => 3,
    }
}

fn reason(number: u32) -> Option<DeathReason> {
    DeathReason::ALL
        .into_iter()
        .find(|reason| reason_number(*reason) == number)
}

impl Delivery {
    /// Reads a record.
    pub(crate) fn read(attributes: &Attributes) -> Result<Self, Unreadable> {
        let reading = Reading::of(ITEM, attributes)?;
        let mut delivery = Self::read_row(attributes)?;
        delivery.stood.log = reading.parsed(names::LOG, log::read)?;
        delivery.watch = Watch {
            look: reading.moment_if_any(names::LOOK)?,
            looks: reading.number_if_any(names::LOOKS)?.unwrap_or_default(),
            returns: reading.number_if_any(names::RETURNS)?.unwrap_or_default(),
            returned_at: reading.moment_if_any(names::RETURNED)?,
        };
        Ok(delivery)
    }

    /// Reads a row of the index: without the log, and without what is the keeper's.
    pub(crate) fn read_row(attributes: &Attributes) -> Result<Self, Unreadable> {
        let reading = Reading::of(ITEM, attributes)?;
        let number: u32 = reading.number(names::STATE)?;
        let why = reading.number_if_any(names::REASON)?;
        let stood = Stood {
            state: state(number).ok_or(reading.fault(names::STATE))?,
            attempts: reading.number(names::ATTEMPTS)?,
            base: reading.number(names::BASE)?,
            due: reading.moment(names::DUE)?,
            reason: why
                .map(|number| reason(number).ok_or(reading.fault(names::REASON)))
                .transpose()?,
            log: Vec::new(),
        };
        let key = DeliveryKey {
            id: reading.parsed(names::SORT, keys::delivery_of)?,
            event: reading.event()?,
            destination: reading.destination()?,
            action: reading.action()?,
            run: reading.run()?,
        };
        Ok(Self {
            key,
            life: reading.token(names::LIFE)?,
            token: reading.token(names::TOKEN)?,
            stood,
            changed_at: reading.moment(names::CHANGED)?,
            about: About {
                source: reading.source()?,
                kind: reading.kind()?,
                received_at: reading.moment(names::RECEIVED)?,
                until: reading.moment(names::UNTIL)?,
            },
            watch: Watch::default(),
            stays: reading.number(names::TTL)?,
        })
    }

    /// When it may be removed, in seconds since 1970: behind its event, and never earlier than it could have been before.
    pub(crate) fn ttl(&self) -> i64 {
        let end = life::with_delivery(self.about.until, self.stood.due);
        self.stays.max(life::of_belongings(end))
    }

    /// Where it stands in the order of the index of open and dead deliveries: a dead one by when it died, a held one by
    /// when it was held, a waiting one by since when it waits, as alerts count it: since its event came, unless an operator
    /// sent it once more.
    pub(crate) fn moment(&self) -> Timestamp {
        let stood = &self.stood;
        let is_first = stood.base == 0 && self.key.run == Run(0);
        match stood.state {
            State::Waiting if is_first && stood.attempts > 0 => self.about.received_at,
            State::Waiting => stood.due,
            State::Held | State::Dead | State::Delivered => self.changed_at,
        }
    }

    /// The item.
    pub(crate) fn write(&self) -> Attributes {
        let (stood, about) = (&self.stood, &self.about);
        let line = stood
            .reason
            .map(|reason| death_line(reason, stood.log.last()));
        let look = self.watch.look.filter(|_| match stood.state {
            State::Waiting | State::Dead => true,
            State::Held | State::Delivered => false,
        });
        let watched = look.map(|look| match stood.state {
            State::Dead => keys::owing_of(look, &self.key.id),
            State::Waiting | State::Held | State::Delivered => keys::waiting_of(look, &self.key.id),
        });
        let open = keys::open_of(
            stood.state,
            &self.key.destination,
            self.moment(),
            &self.key.id,
        );
        let dead = (stood.state == State::Dead).then(|| self.key.id.as_str());
        // Sent again, a dead letter has as many returns before it as any other.
        let (returns, returned_at) = match stood.state {
            State::Dead => (0, None),
            State::Waiting | State::Held | State::Delivered => {
                (self.watch.returns, self.watch.returned_at)
            }
        };
        Writing::at(keys::event(&self.key.event), keys::delivery(&self.key.id))
            .text(names::LIFE, self.life.as_str())
            .text(names::TOKEN, self.token.as_str())
            .text(names::DESTINATION, self.key.destination.as_str())
            .text(names::ACTION, self.key.action.as_str())
            .number(names::RUN, self.key.run.0)
            .number(names::STATE, state_number(stood.state))
            .number(names::ATTEMPTS, stood.attempts)
            .number(names::BASE, stood.base)
            .moment(names::DUE, stood.due)
            .moment(names::CHANGED, self.changed_at)
            .number_if_any(names::REASON, stood.reason.map(reason_number))
            .text_if_any(names::REASON_LINE, line)
            .text(names::LOG, log::text(&stood.log))
            .text(names::SOURCE, about.source.as_str())
            .text(names::KIND, about.kind.as_str())
            .moment(names::RECEIVED, about.received_at)
            .moment(names::UNTIL, about.until)
            .number(names::TTL, self.ttl())
            .number_if_any(names::LOOK, look.map(Timestamp::millis))
            .number_if_any(names::LOOKS, Some(self.watch.looks).filter(|n| *n > 0))
            .number_if_any(names::RETURNS, Some(returns).filter(|n| *n > 0))
            .number_if_any(names::RETURNED, returned_at.map(Timestamp::millis))
            .index(names::WAITING, watched)
            .index(names::OPEN, open)
            .text_if_any(names::DEAD, dead)
            .done()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::time::Duration;

    use switchboard_core::delivery::{AttemptRecord, Outcome, Unanswered};

    use super::super::event::tests::sample as event;
    use super::*;

    pub(crate) fn sample(state: State) -> Delivery {
        let event = event(None);
        let planned = event.head.plan.first().expect("planned").clone();
        let outcome = Outcome::Unanswered(Unanswered::TimeLimit);
        let at = Timestamp::from_millis(1_764_446_400_999);
        let record = AttemptRecord::new(1, at, Duration::from_secs(3), &outcome);
        Delivery {
            key: planned.key,
            life: event.head.life.clone(),
            token: Token::stored("this-write"),
            stood: Stood {
                state,
                attempts: 1,
                reason: (state == State::Dead).then_some(DeathReason::AttemptsUsedUp),
                log: vec![record],
                ..Stood::planned(planned.due)
            },
            changed_at: at,
            about: About {
                source: event.head.source,
                kind: event.head.kind,
                received_at: event.head.received_at,
                until: event.head.until,
            },
            watch: Watch {
                look: (state == State::Waiting).then_some(planned.due),
                ..Watch::default()
            },
            stays: life::of_belongings(life::longest(event.head.until)),
        }
    }

    #[test]
    fn a_record_stays_longer_than_the_event_that_it_keeps() {
        let late = |state| {
            let mut delivery = sample(state);
            delivery.stays = 0;
            delivery.stood.due = delivery.about.until.plus(Duration::from_hours(24 * 4));
            delivery
        };
        for state in [State::Waiting, State::Delivered] {
            let delivery = late(state);
            let kept = life::with_delivery(delivery.about.until, delivery.stood.due);
            let ttl = &delivery.write()[names::TTL];
            let ttl: i64 = ttl.as_n().expect("a number").parse().expect("seconds");
            assert!(ttl > life::of_event(kept), "{state:?}");
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        for state in State::ALL {
            let delivery = sample(state);
            assert_eq!(Delivery::read(&delivery.write()), Ok(delivery), "{state:?}");
        }
        let watched = Delivery {
            watch: Watch {
                look: Some(Timestamp::from_millis(7)),
                looks: 2,
                returns: 3,
                returned_at: Some(Timestamp::from_millis(5)),
            },
            ..sample(State::Waiting)
        };
        assert_eq!(Delivery::read(&watched.write()), Ok(watched));
    }

    #[test]
    fn each_state_is_in_the_indexes_that_look_for_it_and_in_no_other() {
        let expected = [
            (State::Waiting, [true, true, false]),
            (State::Held, [false, true, false]),
            (State::Delivered, [false, false, false]),
            (State::Dead, [false, true, true]),
        ];
        for (state, expected) in expected {
            let item = sample(state).write();
            let indexes = [names::WAITING[0], names::OPEN[0], names::DEAD];
            let found = indexes.map(|index| item.contains_key(index));
            assert_eq!(found, expected, "{state:?}");
        }
    }

    #[test]
    fn a_dead_letter_that_owes_a_ticket_stands_apart_from_what_waits() {
        let mut dead = sample(State::Dead);
        dead.watch.look = Some(dead.changed_at);
        let item = dead.write();
        let waiting = sample(State::Waiting).write();
        let partition = names::WAITING[0];
        assert_ne!(item[partition], waiting[partition]);
        assert_eq!(Delivery::read(&item), Ok(dead));
    }

    #[test]
    fn the_row_of_an_index_lacks_only_the_log() {
        let delivery = sample(State::Dead);
        let mut row = delivery.write();
        let keys = [names::PARTITION, names::SORT];
        row.retain(|name, _| keys.contains(&name.as_str()) || ROW.contains(&name.as_str()));
        let mut expected = delivery;
        expected.stood.log.clear();
        assert_eq!(Delivery::read_row(&row), Ok(expected));
    }

    #[test]
    fn every_attribute_that_is_written_is_known_to_changes() {
        for state in State::ALL {
            let keys = [names::PARTITION, names::SORT];
            for name in sample(state).write().keys() {
                let name = name.as_str();
                let known = keys.contains(&name) || ROW.contains(&name) || REST.contains(&name);
                assert!(known, "{name}");
            }
        }
    }

    #[test]
    fn a_waiting_one_stands_by_since_when_it_waits() {
        let mut delivery = sample(State::Waiting);
        assert_eq!(delivery.moment(), delivery.about.received_at);
        delivery.stood.base = 1;
        assert_eq!(delivery.moment(), delivery.stood.due, "redriven");
        delivery.stood.base = 0;
        delivery.stood.attempts = 0;
        assert_eq!(delivery.moment(), delivery.stood.due, "never attempted");
    }
}
