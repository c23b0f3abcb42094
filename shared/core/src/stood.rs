//! How a delivery stands, and what a recorded attempt makes of it: the same decision for every backend.

use crate::attempt::Attempt;
use crate::delivery::{AttemptRecord, DeathReason, KEPT_ATTEMPTS, Next, State};
use crate::time::Timestamp;

/// How a delivery stands, as far as an attempt can change it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stood {
    /// Where.
    pub state: State,
    /// How many attempts are recorded.
    pub attempts: u32,
    /// How many of them were before the present round.
    pub base: u32,
    /// Not attempted before this moment.
    pub due: Timestamp,
    /// Why it is a dead letter, if it is.
    pub reason: Option<DeathReason>,
    /// The last attempts, the oldest first.
    pub log: Vec<AttemptRecord>,
}

impl Stood {
    /// A planned delivery of which nothing is recorded yet.
    pub fn planned(due: Timestamp) -> Self {
        Self {
            state: State::Waiting,
            attempts: 0,
            base: 0,
            due,
            reason: None,
            log: Vec::new(),
        }
    }

    /// How it stands once `attempt` is recorded; `None` when that changes nothing, since the attempt was recorded before
    /// or the delivery is delivered.
    #[must_use]
    pub fn after(&self, attempt: &Attempt, record: &AttemptRecord, next: Next) -> Option<Self> {
        let is_fresh = record.number == self.attempts.saturating_add(1);
        // Redriven while its attempt was under way: this attempt is the last of the round before, and the new round is whole.
        let of_round_before = record.number.saturating_sub(attempt.in_round) != self.base;
        let (state, due, reason) = match (next, self.state) {
            (_, State::Delivered) => return None,
            (Next::Delivered, _) => (State::Delivered, self.due, None),
            (Next::Waiting(_) | Next::Dead(_), _) if !is_fresh => return None,
            // Buried while its attempt was under way: the attempt is kept, the dead letter stays one.
            (Next::Waiting(_) | Next::Dead(_), State::Dead) => (State::Dead, self.due, self.reason),
            // A delivery that was held while its attempt was under way stays held for the next one.
            (Next::Waiting(due), State::Held) => (State::Held, due, None),
            (Next::Waiting(due), State::Waiting) => (State::Waiting, due, None),
            (Next::Dead(_), State::Waiting | State::Held) if of_round_before => {
                (self.state, self.due, None)
            }
            (Next::Dead(reason), State::Waiting | State::Held) => {
                (State::Dead, self.due, Some(reason))
            }
        };
        let mut log = self.log.clone();
        log.push(record.clone());
        let surplus = log.len().saturating_sub(KEPT_ATTEMPTS);
        log.drain(..surplus);
        Some(Self {
            state,
            attempts: self.attempts.max(record.number),
            base: if of_round_before && is_fresh {
                record.number
            } else {
                self.base
            },
            due,
            reason,
            log,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use bytes::Bytes;

    use super::*;
    use crate::delivery::{DeliveryKey, Outcome, Unanswered};
    use crate::event::Event;
    use crate::forward::KeptHeaders;
    use crate::identity::{EventId, Run};
    use crate::names::{ActionName, DestinationName, Kind, SenderId, SourceName};
    use crate::piece::Piece;

    const USED_UP: Next = Next::Dead(DeathReason::AttemptsUsedUp);

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_seconds(seconds)
    }

    fn attempt(number: u32, in_round: u32) -> Attempt {
        let source = SourceName::parse("shop").expect("a name");
        let sender_id = SenderId::new("1001").expect("an id");
        let event = Event {
            id: EventId::of(&source, &sender_id),
            source,
            sender_id,
            kind: Kind::default(),
            received_at: at(0),
            headers: KeptHeaders::from_lines(b""),
            body: Bytes::new(),
        };
        let to = DestinationName::parse("chat").expect("a name");
        Attempt {
            key: DeliveryKey::of(&event.id, to, ActionName::deliver(), Run(0)),
            event: Arc::new(event),
            number,
            in_round,
        }
    }

    fn failure(number: u32) -> AttemptRecord {
        let outcome = Outcome::Unanswered(Unanswered::TimeLimit);
        AttemptRecord::new(number, at(1), Duration::from_secs(3), &outcome)
    }

    fn success(number: u32) -> AttemptRecord {
        let outcome = Outcome::Answered {
            status: 200,
            piece: Piece::default(),
        };
        AttemptRecord::new(number, at(1), Duration::from_millis(7), &outcome)
    }

    fn after_failure(stood: &Stood, number: u32, in_round: u32, next: Next) -> Option<Stood> {
        stood.after(&attempt(number, in_round), &failure(number), next)
    }

    #[test]
    fn a_failure_waits_and_the_last_of_a_round_is_dead() {
        let first = after_failure(&Stood::planned(at(0)), 1, 1, Next::Waiting(at(2)));
        let first = first.expect("it changes");
        assert_eq!((first.state, first.attempts), (State::Waiting, 1));
        assert_eq!((first.due, &first.log), (at(2), &vec![failure(1)]));
        let dead = after_failure(&first, 2, 2, USED_UP).expect("it changes");
        assert_eq!((dead.state, dead.attempts), (State::Dead, 2));
        assert_eq!(dead.reason, Some(DeathReason::AttemptsUsedUp));
    }

    #[test]
    fn an_attempt_that_is_recorded_already_changes_nothing_unless_it_succeeded() {
        let first = after_failure(&Stood::planned(at(0)), 1, 1, Next::Waiting(at(2)));
        let first = first.expect("it changes");
        assert_eq!(
            after_failure(&first, 1, 1, Next::Waiting(at(9))),
            None,
            "twice"
        );
        assert_eq!(after_failure(&first, 1, 1, USED_UP), None, "differently");
        let late = first.after(&attempt(1, 1), &success(1), Next::Delivered);
        let late = late.expect("delivered wins");
        assert_eq!((late.state, late.attempts), (State::Delivered, 1));
        assert_eq!(late.log, [failure(1), success(1)], "no new number");
    }

    #[test]
    fn delivered_wins_over_every_state_and_nothing_moves_it() {
        for state in State::ALL {
            let stood = Stood {
                state,
                attempts: 1,
                reason: (state == State::Dead).then_some(DeathReason::NoDestination),
                ..Stood::planned(at(0))
            };
            let after = stood.after(&attempt(1, 1), &success(1), Next::Delivered);
            if state == State::Delivered {
                assert_eq!(after, None);
                assert_eq!(after_failure(&stood, 2, 2, USED_UP), None);
                continue;
            }
            let after = after.expect("a success is kept");
            assert_eq!((after.state, after.reason), (State::Delivered, None));
        }
    }

    #[test]
    fn what_was_held_or_buried_under_way_stays_so() {
        let held = Stood {
            state: State::Held,
            ..Stood::planned(at(0))
        };
        let after = after_failure(&held, 1, 1, Next::Waiting(at(2))).expect("it is kept");
        assert_eq!((after.state, after.due), (State::Held, at(2)));
        let buried = Stood {
            state: State::Dead,
            reason: Some(DeathReason::NoDestination),
            ..Stood::planned(at(0))
        };
        for next in [Next::Waiting(at(2)), USED_UP] {
            let after = after_failure(&buried, 1, 1, next).expect("it is kept");
            assert_eq!(after.state, State::Dead);
            assert_eq!(after.reason, Some(DeathReason::NoDestination));
            assert_eq!(after.attempts, 1);
        }
    }

    #[test]
    fn the_last_attempt_of_the_round_before_leaves_the_new_round_whole() {
        let redriven = Stood {
            attempts: 5,
            base: 5,
            ..Stood::planned(at(100))
        };
        let after = after_failure(&redriven, 6, 6, USED_UP).expect("it is kept");
        assert_eq!((after.state, after.due), (State::Waiting, at(100)));
        assert_eq!((after.attempts, after.base), (6, 6));
    }

    #[test]
    fn the_oldest_attempts_give_way() {
        let mut stood = Stood::planned(at(0));
        for number in 1..=20 {
            let next = Next::Waiting(at(0));
            stood = after_failure(&stood, number, number, next).expect("it changes");
        }
        let numbers: Vec<_> = stood.log.iter().map(|record| record.number).collect();
        assert_eq!(numbers, (9..=20).collect::<Vec<_>>());
    }
}
