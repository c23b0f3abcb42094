//! What operators read: totals, lists and one event whole, as the API gives them.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::delivery::{AttemptRecord, DeathReason, State};
use crate::identity::{DeliveryId, EventId, Run};
use crate::names::{ActionName, DestinationName, Kind, SourceName};
use crate::refusal::Refusal;
use crate::time::Timestamp;

mod recent;
mod search;

pub use recent::{
    AnswerTimes, Bound, Health, LastFailure, MINUTES, Minute, QueueDepth, Recent, SourceHealth,
    minute_of,
};
pub use search::{
    DeadLetterGroup, DeadLetterGroups, DeadLetterSearch, EventSearch, LOOKED_AT, Looked, Searched,
};

/// The numbers that add up: `received` = `stored` + `repeats`; deliveries planned = `delivered` + `waiting` + `held` +
/// `dead`. Expiry takes nothing off them: what of `dead` can still be redriven is `dead` - `expired`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize)]
pub struct Totals {
    /// Events accepted, repeats included.
    pub received: u64,
    /// Events stored.
    pub stored: u64,
    /// Events that were stored already.
    pub repeats: u64,
    /// Repeats that carried another body than the first.
    pub repeats_with_other_body: u64,
    /// Requests whose signature did not hold.
    pub refused: u64,
    /// Requests answered 400, 404, 413 or 503.
    pub declined: u64,
    /// Stored events that no route named.
    pub unrouted: u64,
    /// Deliveries done.
    pub delivered: u64,
    /// Deliveries for which an attempt is still to come.
    pub waiting: u64,
    /// Deliveries that wait for an operator's release.
    pub held: u64,
    /// Dead letters.
    pub dead: u64,
    /// Those of them that nobody redrove while they were kept.
    pub expired: u64,
}

/// The part of the totals that belongs to one source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize)]
pub struct SourceTotals {
    /// Events stored.
    pub stored: u64,
    /// Events that were stored already.
    pub repeats: u64,
    /// Repeats that carried another body than the first.
    pub repeats_with_other_body: u64,
    /// Requests whose signature did not hold.
    pub refused: u64,
    /// Stored events that no route named.
    pub unrouted: u64,
}

/// The part of the totals that belongs to one destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize)]
pub struct DestinationTotals {
    /// Deliveries done.
    pub delivered: u64,
    /// Deliveries for which an attempt is still to come.
    pub waiting: u64,
    /// Deliveries that wait for an operator's release.
    pub held: u64,
    /// Dead letters.
    pub dead: u64,
    /// Those of them that nobody redrove while they were kept.
    pub expired: u64,
}

/// How often a cause was declined for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DeclinedCount {
    /// Where it was posted; none for an unknown source.
    pub source: Option<SourceName>,
    /// The status answered.
    pub status: u16,
    /// Why.
    pub cause: String,
    /// How often.
    pub count: u64,
}

/// The totals, whole and in parts.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize)]
pub struct Overview {
    /// All of it.
    pub totals: Totals,
    /// By source.
    pub sources: BTreeMap<SourceName, SourceTotals>,
    /// By destination.
    pub destinations: BTreeMap<DestinationName, DestinationTotals>,
    /// What was declined, by source and cause.
    pub declined: Vec<DeclinedCount>,
}

/// Which part of a list is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageAsk {
    /// Where the page before ended; `None` for the first. Behind a cursor that cannot be read there is nothing: a
    /// client that walks a list with a broken one comes to an end.
    pub after: Option<Cursor>,
    /// Most items of a page.
    pub limit: u32,
}

/// Where a page ended: stays valid while new items come in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor(String);

impl Cursor {
    /// Longest cursor, in bytes.
    const LONGEST: usize = 100;

    /// Takes a cursor as a client gives it back.
    pub fn new(text: &str) -> Option<Self> {
        (1..=Self::LONGEST)
            .contains(&text.len())
            .then(|| Self(text.to_owned()))
    }

    /// The cursor as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Serialize for Cursor {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

/// A part of a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Page<T> {
    /// What it holds.
    pub items: Vec<T>,
    /// Where the next part begins, when there is one.
    pub next: Option<Cursor>,
}

impl<T> Page<T> {
    /// The first `limit` of the items, each of which has the text of the cursor that stands for it.
    pub fn first_of(items: Vec<(String, T)>, limit: usize) -> Self {
        let is_more = items.len() > limit;
        let mut last = None;
        let mut kept = Vec::new();
        for (cursor, item) in items.into_iter().take(limit) {
            last = Some(cursor);
            kept.push(item);
        }
        Self {
            items: kept,
            next: last
                .filter(|_| is_more)
                .and_then(|cursor| Cursor::new(&cursor)),
        }
    }
}

/// An event in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EventRow {
    /// Its id.
    pub event: EventId,
    /// Who sent it.
    pub source: SourceName,
    /// The sender's id.
    pub sender_id: String,
    /// The sender's name for what happened.
    pub kind: Kind,
    /// When it was first received.
    pub at: Timestamp,
    /// The body's length in bytes.
    pub body_length: u64,
    /// How often it came again.
    pub repeats: u64,
    /// Its deliveries by state.
    pub deliveries: BTreeMap<&'static str, u64>,
}

/// One delivery of an event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DeliveryView {
    /// Its id and idempotency key.
    pub delivery: DeliveryId,
    /// Which plan it belongs to.
    pub run: Run,
    /// Who gets it.
    pub destination: DestinationName,
    /// What for.
    pub action: ActionName,
    /// Where it stands.
    pub state: State,
    /// When the next attempt is due, while it waits.
    pub due: Option<Timestamp>,
    /// Why it is a dead letter, if it is.
    pub reason: Option<String>,
    /// How many attempts were made.
    pub attempts: u32,
    /// The last of them.
    pub log: Vec<AttemptRecord>,
}

/// Most deliveries of one event that are shown, but for those of its newest run, which are all: of an event that was replayed
/// many times the newest.
pub const DELIVERIES_SHOWN: usize = 100;

/// One event, whole but for its body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EventView {
    /// As in a list.
    #[serde(flatten)]
    pub row: EventRow,
    /// How many of the repeats carried another body.
    pub repeats_with_other_body: u64,
    /// Until when it is kept.
    pub kept_until: Timestamp,
    /// Its deliveries, the newest [`DELIVERIES_SHOWN`] or all of the newest run; its row counts all of them.
    #[serde(rename = "delivery_list")]
    pub deliveries: Vec<DeliveryView>,
}

/// A delivery whose attempts are used up, or that has no destination.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DeadLetter {
    /// Its id.
    pub delivery: DeliveryId,
    /// Its event.
    pub event: EventId,
    /// Who sent that.
    pub source: SourceName,
    /// The sender's name for what happened.
    pub kind: Kind,
    /// Who should have got it.
    pub destination: DestinationName,
    /// What for.
    pub action: ActionName,
    /// How many attempts were made.
    pub attempts: u32,
    /// Why it is dead, with the last attempt's outcome.
    pub reason: String,
    /// When it died.
    pub at: Timestamp,
    /// Until when it can be sent again.
    pub kept_until: Timestamp,
}

/// Why a delivery is dead, with what its last attempt came to.
pub fn death_line(reason: DeathReason, last: Option<&AttemptRecord>) -> String {
    match (reason, last) {
        (
            DeathReason::AttemptsUsedUp,
            Some(AttemptRecord {
                status: Some(status),
                ..
            }),
        ) => format!("{reason}: last answer {status}"),
        (DeathReason::AttemptsUsedUp, Some(record)) => format!("{reason}: {}", record.detail),
        (
            DeathReason::AttemptsUsedUp
            | DeathReason::NoDestination
            | DeathReason::EndpointCleared
            | DeathReason::ReturnedTooOften,
            _,
        ) => reason.to_string(),
    }
}

/// A refusal in the list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RefusalRow {
    /// When.
    pub at: Timestamp,
    /// Where it was posted.
    pub source: SourceName,
    /// Why, in full.
    #[serde(flatten)]
    pub refusal: Refusal,
}

/// A declined request in the list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Declined {
    /// When.
    pub at: Timestamp,
    /// Where it was posted, when there is such a source.
    pub source: Option<SourceName>,
    /// What it was posted to, cleaned and cut.
    pub path: String,
    /// The status answered.
    pub status: u16,
    /// Why.
    pub cause: String,
}
