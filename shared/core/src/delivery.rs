//! A delivery: one event on its way to one destination; its states, attempts and end.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::identity::{DeliveryId, EventId, Run};
use crate::names::{ActionName, DestinationName};
use crate::piece::Piece;
use crate::time::Timestamp;

/// How many attempts a delivery's record keeps; the oldest give way.
pub const KEPT_ATTEMPTS: usize = 12;

/// Where a delivery stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// For its first or next attempt.
    Waiting,
    /// Its destination is held by an operator.
    Held,
    /// Done; wins over every other state.
    Delivered,
    /// Attempts used up, or no destination: a dead letter.
    Dead,
}

impl State {
    /// Every state, in the order of its stored number.
    pub const ALL: [Self; 4] = [Self::Waiting, Self::Held, Self::Delivered, Self::Dead];

    /// The word for it in tables and totals.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Held => "held",
            Self::Delivered => "delivered",
            Self::Dead => "dead",
        }
    }
}

/// What one attempt came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// An answer in the 200s in time.
    Delivered,
    /// Any other answer.
    Rejected,
    /// No answer in time, or none at all.
    Unanswered,
}

impl Verdict {
    /// The word for it in lists and logs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Delivered => "delivered",
            Self::Rejected => "rejected",
            Self::Unanswered => "unanswered",
        }
    }
}

/// The outcome of one attempt, as the transport saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The destination answered with this status.
    Answered {
        /// The final status; 2xx is success whatever the body does.
        status: u16,
        /// A short cleaned piece of the answer's body.
        piece: Piece,
    },
    /// No answer; why, without any address.
    Unanswered(Unanswered),
}

/// Why there was no answer. None of these texts quotes an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Unanswered {
    /// The name has no address.
    #[error("the name does not resolve")]
    Unresolved,
    /// The address guard said no.
    #[error("the address is not allowed: {0}")]
    Forbidden(crate::address::Forbidden),
    /// The connection was refused or broke before it stood.
    #[error("no connection")]
    NoConnection,
    /// TLS failed.
    #[error("TLS failed: the certificate or the handshake is not right")]
    Tls,
    /// Nothing came in time.
    #[error("no answer in time")]
    TimeLimit,
    /// Nothing came in the time that a test waits where that is less than its destination's.
    #[error("no answer within {0} s, which is as long as a test waits; a delivery waits longer")]
    TestLimit(u64),
    /// Closed before an answer.
    #[error("closed without an answer")]
    Closed,
    /// What came is not HTTP.
    #[error("the answer is not readable as HTTP")]
    Unreadable,
    /// The request could not be built; our own fault, recorded so that it ends.
    #[error("the request could not be built")]
    Unbuildable,
    /// Our own code failed; recorded so that it ends.
    #[error("the attempt broke off inside Switchboard")]
    BrokeOff,
}

impl Outcome {
    /// What it comes to by rule 4: only a final 2xx is success.
    pub fn verdict(&self) -> Verdict {
        match self {
            Self::Answered {
                status: 200..=299, ..
            } => Verdict::Delivered,
            Self::Answered { .. } => Verdict::Rejected,
            Self::Unanswered(_) => Verdict::Unanswered,
        }
    }
}

/// One HTTP try, as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AttemptRecord {
    /// From 1, running on over redrives.
    pub number: u32,
    /// When it started.
    pub at: Timestamp,
    /// How long it took.
    pub duration_ms: u64,
    /// What it came to.
    pub outcome: Verdict,
    /// The answer's status, when there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Why there was no answer, or a piece of the answer.
    pub detail: String,
}

impl AttemptRecord {
    /// The record of attempt `number`.
    pub fn new(number: u32, at: Timestamp, took: Duration, outcome: &Outcome) -> Self {
        let (status, detail) = match outcome {
            Outcome::Answered { status, piece } => (Some(*status), piece.as_str().to_owned()),
            Outcome::Unanswered(why) => (None, why.to_string()),
        };
        let duration_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        Self {
            number,
            at,
            duration_ms,
            outcome: outcome.verdict(),
            status,
            detail,
        }
    }

    /// When it ended.
    pub fn ended(&self) -> Timestamp {
        self.at.plus(Duration::from_millis(self.duration_ms))
    }
}

/// Why a delivery is a dead letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeathReason {
    /// Every attempt of the round failed.
    AttemptsUsedUp,
    /// The configuration has no destination of that name.
    NoDestination,
    /// Your endpoint's address is not set.
    EndpointCleared,
    /// Its hints came back from the queue again and again: on AWS only.
    ReturnedTooOften,
}

impl DeathReason {
    /// Every reason, in the order of its stored number.
    pub const ALL: [Self; 4] = [
        Self::AttemptsUsedUp,
        Self::NoDestination,
        Self::EndpointCleared,
        Self::ReturnedTooOften,
    ];
}

impl fmt::Display for DeathReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AttemptsUsedUp => "attempts used up",
            Self::NoDestination => "no such destination",
            Self::EndpointCleared => "your endpoint is not set",
            Self::ReturnedTooOften => "returned by the queue too often",
        })
    }
}

/// What follows from an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Nothing more to do.
    Delivered,
    /// Another attempt, not before this moment.
    Waiting(Timestamp),
    /// A dead letter.
    Dead(DeathReason),
}

impl fmt::Display for Next {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Delivered => f.write_str("delivered"),
            Self::Waiting(due) => write!(f, "waiting until {due}"),
            Self::Dead(reason) => write!(f, "dead: {reason}"),
        }
    }
}

/// Which delivery, and what it is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryKey {
    /// The delivery; also its idempotency key.
    pub id: DeliveryId,
    /// What is delivered.
    pub event: EventId,
    /// Who gets it.
    pub destination: DestinationName,
    /// What for.
    pub action: ActionName,
    /// Which plan of the event it belongs to.
    pub run: Run,
}

impl DeliveryKey {
    /// The key of the delivery of `event` to `destination` for `action` in `run`.
    pub fn of(event: &EventId, destination: DestinationName, action: ActionName, run: Run) -> Self {
        Self {
            id: DeliveryId::of(event, &destination, &action, run),
            event: event.clone(),
            destination,
            action,
            run,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_final_status_in_the_200s_is_success() {
        let verdict = |status| {
            Outcome::Answered {
                status,
                piece: Piece::default(),
            }
            .verdict()
        };
        for status in [200, 201, 202, 204, 205, 206, 226, 299] {
            assert_eq!(verdict(status), Verdict::Delivered, "{status}");
        }
        for status in [
            101, 199, 300, 301, 304, 400, 404, 409, 429, 500, 503, 600, 999,
        ] {
            assert_eq!(verdict(status), Verdict::Rejected, "{status}");
        }
        assert_eq!(
            Outcome::Unanswered(Unanswered::TimeLimit).verdict(),
            Verdict::Unanswered
        );
    }
}
