//! What the checks are made of: names, moments, events with their plans, and outcomes of attempts.

use std::time::Duration;

use bytes::Bytes;
use switchboard_core::attempt::Attempt;
use switchboard_core::delivery::{AttemptRecord, DeliveryKey, Outcome, Unanswered};
use switchboard_core::endpoint::Change;
use switchboard_core::event::Event;
use switchboard_core::forward::KeptHeaders;
use switchboard_core::identity::{EventId, Run};
use switchboard_core::names::{ActionName, DestinationName, Kind, SenderId, SourceName};
use switchboard_core::piece::Piece;
use switchboard_core::ports::{Hint, Keep, Queued, Spread};
use switchboard_core::refusal::Refusal;
use switchboard_core::time::Timestamp;

/// When the checks begin: not on a whole second, and so far ahead that no store's own clock removes anything.
pub(crate) const START: Timestamp = Timestamp::from_millis(4_102_444_800_250);
/// How long the checks keep events.
pub(crate) const KEEP: Keep = Keep { days: 30 };
/// A limit that no check reaches.
pub(crate) const MANY: u32 = 10_000;
/// Far enough from a boundary for a backend that keeps whole seconds there.
pub(crate) const A_MINUTE: Duration = Duration::from_mins(1);

/// The moment `seconds` after the start.
pub(crate) fn after(seconds: u64) -> Timestamp {
    START.plus(Duration::from_secs(seconds))
}

/// Ten starts a second from the start on, of what was held of `to`.
pub(crate) fn release(to: &DestinationName) -> Change {
    let spread = Spread {
        start: START,
        per_second: 10,
    };
    Change::Release(to.clone(), spread)
}

/// The moment a minute before `moment`.
pub(crate) fn just_before(moment: Timestamp) -> Timestamp {
    Timestamp::from_millis(moment.millis() - 60_000)
}

/// The moment a minute after `moment`.
pub(crate) fn just_after(moment: Timestamp) -> Timestamp {
    moment.plus(A_MINUTE)
}

pub(crate) fn source(name: &str) -> SourceName {
    SourceName::parse(name).expect("the name of a source")
}

pub(crate) fn destination(name: &str) -> DestinationName {
    DestinationName::parse(name).expect("the name of a destination")
}

pub(crate) fn sender_id(text: &str) -> SenderId {
    SenderId::new(text).expect("a sender's id")
}

pub(crate) fn kind(text: &str) -> Kind {
    Kind::new(text).expect("a kind")
}

/// An event of `from` under `id`, with a body and headers of its own.
pub(crate) fn event(from: &str, id: &str, received_at: Timestamp) -> Event {
    let id = sender_id(id);
    let source = source(from);
    Event {
        id: EventId::of(&source, &id),
        source,
        kind: kind("orders/create"),
        received_at,
        headers: KeptHeaders::from_lines(b"content-type: application/json\nx-sample: 1\n"),
        body: Bytes::from(format!("{{\"id\":{:?}}}", id.as_str())),
        sender_id: id,
    }
}

/// The same event with another body.
pub(crate) fn with_body(event: &Event, body: impl Into<Bytes>) -> Event {
    Event {
        body: body.into(),
        ..event.clone()
    }
}

/// The same event as it comes again at `received_at`.
pub(crate) fn again_at(event: &Event, received_at: Timestamp) -> Event {
    Event {
        received_at,
        ..event.clone()
    }
}

/// The delivery of `event` to `to` for `action` in `run`.
pub(crate) fn queued(event: &Event, to: &str, action: &str, run: Run, due: Timestamp) -> Queued {
    let destination = destination(to);
    let action = ActionName::parse(action).expect("the name of an action");
    Queued {
        key: DeliveryKey::of(&event.id, destination, action, run),
        due,
    }
}

/// A plan of one delivery to each of `to`, all due at `due`.
pub(crate) fn plan(event: &Event, run: Run, to: &[&str], due: Timestamp) -> Vec<Queued> {
    to.iter()
        .map(|to| queued(event, to, "deliver", run, due))
        .collect()
}

/// The hint that `key` is due at `due`.
pub(crate) fn hint(key: &DeliveryKey, due: Timestamp) -> Hint {
    Hint {
        event: key.event.clone(),
        delivery: key.id.clone(),
        due,
    }
}

/// An attempt that the destination answered with 500.
pub(crate) fn rejected(attempt: &Attempt, at: Timestamp) -> AttemptRecord {
    answered(attempt, at, 500, "no")
}

/// An attempt that nobody answered.
pub(crate) fn unanswered(attempt: &Attempt, at: Timestamp) -> AttemptRecord {
    let outcome = Outcome::Unanswered(Unanswered::TimeLimit);
    AttemptRecord::new(attempt.number, at, Duration::from_secs(3), &outcome)
}

/// An attempt that the destination answered with 200.
pub(crate) fn delivered(attempt: &Attempt, at: Timestamp) -> AttemptRecord {
    answered(attempt, at, 200, "ok")
}

fn answered(attempt: &Attempt, at: Timestamp, status: u16, piece: &str) -> AttemptRecord {
    let piece = Piece::clean(piece.as_bytes());
    let outcome = Outcome::Answered { status, piece };
    AttemptRecord::new(attempt.number, at, Duration::from_millis(7), &outcome)
}

/// A refusal as operators see it; `reason` tells one from another.
pub(crate) fn refusal(reason: &str) -> Refusal {
    Refusal {
        reason: reason.to_owned(),
        secrets_tried: 2,
        clock_distance_s: Some(-301),
        body_length: 1234,
        content_type: Piece::clean(b"application/json; charset=utf-8"),
        near_miss: Some("it holds for the secret used as text, undecoded".to_owned()),
    }
}
