//! Rows as the core's types: what is stored was checked before, so a row that does not fit means a broken store.

use std::sync::Arc;

use bytes::Bytes;
use rusqlite::{CachedStatement, Connection, OptionalExtension, Row};
use switchboard_core::attempt::Attempt;
use switchboard_core::delivery::{AttemptRecord, DeathReason, DeliveryKey, State, Verdict};
use switchboard_core::event::Event;
use switchboard_core::forward::KeptHeaders;
use switchboard_core::identity::{DeliveryId, EventId, Run};
use switchboard_core::names::{ActionName, DestinationName, Kind, SenderId, SourceName};
use switchboard_core::time::Timestamp;

use crate::failure::Failure;

pub(crate) fn state_number(state: State) -> i64 {
    match state {
        State::Waiting => 0,
        State::Held => 1,
        State::Delivered => 2,
        State::Dead => 3,
    }
}

pub(crate) fn state(number: i64) -> Result<State, Failure> {
    State::ALL
        .into_iter()
        .find(|state| state_number(*state) == number)
        .ok_or(Failure::Unreadable("state"))
}

pub(crate) fn reason_number(reason: DeathReason) -> i64 {
    match reason {
        DeathReason::AttemptsUsedUp => 0,
        DeathReason::NoDestination => 1,
        DeathReason::EndpointCleared => 2,
        DeathReason::ReturnedTooOften => 3,
    }
}

pub(crate) fn reason(number: i64) -> Result<DeathReason, Failure> {
    DeathReason::ALL
        .into_iter()
        .find(|reason| reason_number(*reason) == number)
        .ok_or(Failure::Unreadable("reason"))
}

pub(crate) fn destination(text: &str) -> Result<DestinationName, Failure> {
    DestinationName::parse(text).map_err(|_| Failure::Unreadable("destination"))
}

pub(crate) fn action(text: &str) -> Result<ActionName, Failure> {
    ActionName::parse(text).map_err(|_| Failure::Unreadable("action"))
}

pub(crate) fn source(text: &str) -> Result<SourceName, Failure> {
    SourceName::parse(text).map_err(|_| Failure::Unreadable("source"))
}

pub(crate) fn event_id(text: &str) -> Result<EventId, Failure> {
    EventId::parse(text).ok_or(Failure::Unreadable("event id"))
}

pub(crate) fn delivery_id(text: &str) -> Result<DeliveryId, Failure> {
    DeliveryId::parse(text).ok_or(Failure::Unreadable("delivery id"))
}

pub(crate) fn kind(text: &str) -> Result<Kind, Failure> {
    Kind::new(text).ok_or(Failure::Unreadable("kind"))
}

/// An attempt as it is stored: the record's own fields, times as numbers.
#[derive(serde::Serialize, serde::Deserialize)]
struct StoredAttempt {
    number: u32,
    at: i64,
    duration_ms: u64,
    outcome: Verdict,
    status: Option<u16>,
    detail: String,
}

pub(crate) fn log_text(log: &[AttemptRecord]) -> Result<String, Failure> {
    let stored: Vec<StoredAttempt> = log
        .iter()
        .map(|record| StoredAttempt {
            number: record.number,
            at: record.at.millis(),
            duration_ms: record.duration_ms,
            outcome: record.outcome,
            status: record.status,
            detail: record.detail.clone(),
        })
        .collect();
    serde_json::to_string(&stored).map_err(|_| Failure::Unreadable("attempts"))
}

pub(crate) fn log(text: &str) -> Result<Vec<AttemptRecord>, Failure> {
    let stored: Vec<StoredAttempt> =
        serde_json::from_str(text).map_err(|_| Failure::Unreadable("attempts"))?;
    let record = |stored: StoredAttempt| AttemptRecord {
        number: stored.number,
        at: Timestamp::from_millis(stored.at),
        duration_ms: stored.duration_ms,
        outcome: stored.outcome,
        status: stored.status,
        detail: stored.detail,
    };
    Ok(stored.into_iter().map(record).collect())
}

/// Where a delivery lies, beside its destination: with that the key of its row.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Spot {
    /// Its event's place in the order of receipt.
    pub(crate) event: i64,
    pub(crate) run: u32,
    pub(crate) action: ActionName,
}

impl Spot {
    /// The first three columns of a row: `event, run, action`.
    pub(crate) fn read(row: &Row<'_>) -> Result<Self, Failure> {
        let text = row.get_ref(2)?.as_str().map_err(rusqlite::Error::from)?;
        Ok(Self {
            event: row.get(0)?,
            run: row.get(1)?,
            action: action(text)?,
        })
    }
}

/// The place of an event in the order of receipt.
pub(crate) fn seq_of(connection: &Connection, event: &EventId) -> Result<Option<i64>, Failure> {
    let mut statement = connection.prepare_cached("SELECT seq FROM event WHERE id = ?1")?;
    Ok(statement
        .query_row([event.as_str()], |row| row.get(0))
        .optional()?)
}

/// Columns of [`event`], from `event e`.
pub(crate) const EVENT: &str =
    "e.id, e.source, e.sender_id, e.scope, e.kind, e.received_at, e.headers, e.body";

/// An event; `first` is the place of its columns in the row.
pub(crate) fn event(row: &Row<'_>, first: usize) -> Result<Event, Failure> {
    let place = |column: usize| first.saturating_add(column);
    let text = |column: usize| {
        row.get_ref(place(column))
            .and_then(|value| Ok(value.as_str()?))
            .map_err(Failure::from)
    };
    let sender_id = SenderId::new(text(2)?).ok_or(Failure::Unreadable("sender's id"))?;
    let scope: Option<String> = row.get(place(3))?;
    let headers = row.get_ref(place(6))?;
    Ok(Event {
        id: event_id(text(0)?)?,
        source: source(text(1)?)?,
        sender_id: match scope {
            Some(scope) => sender_id.within(&scope),
            None => sender_id,
        },
        kind: kind(text(4)?)?,
        received_at: Timestamp::from_millis(row.get(place(5))?),
        headers: KeptHeaders::from_lines(headers.as_blob().map_err(rusqlite::Error::from)?),
        body: Bytes::from(row.get::<_, Vec<u8>>(place(7))?),
    })
}

/// Columns of [`attempt`], from `delivery d JOIN event e ON e.seq = d.event`: of the delivery, then [`EVENT`].
pub(crate) const ATTEMPT: &str = "d.id, d.destination, d.action, d.run, d.attempts, d.base,
    e.id, e.source, e.sender_id, e.scope, e.kind, e.received_at, e.headers, e.body";

/// The next attempt of a delivery.
pub(crate) fn attempt(row: &Row<'_>) -> Result<Attempt, Failure> {
    let text = |column: usize| {
        row.get_ref(column)
            .and_then(|value| Ok(value.as_str()?))
            .map_err(Failure::from)
    };
    let (attempts, base): (u32, u32) = (row.get(4)?, row.get(5)?);
    let event = event(row, 6)?;
    let key = DeliveryKey {
        id: delivery_id(text(0)?)?,
        event: event.id.clone(),
        destination: destination(text(1)?)?,
        action: action(text(2)?)?,
        run: Run(row.get(3)?),
    };
    let number = attempts.saturating_add(1);
    Ok(Attempt {
        key,
        event: Arc::new(event),
        number,
        in_round: number.saturating_sub(base),
    })
}

/// Reads attempts one after the other by one statement.
pub(crate) struct Attempts<'c>(CachedStatement<'c>);

impl<'c> Attempts<'c> {
    pub(crate) fn of(connection: &'c Connection) -> Result<Self, Failure> {
        Ok(Self(connection.prepare_cached(&format!(
            "SELECT {ATTEMPT} FROM delivery d JOIN event e ON e.seq = d.event
             WHERE d.event = ?1 AND d.run = ?2 AND d.destination = ?3 AND d.action = ?4"
        ))?))
    }

    /// The next attempt of the delivery to `destination` that lies there; `None` when there is none.
    pub(crate) fn at(
        &mut self,
        destination: &DestinationName,
        spot: &Spot,
    ) -> Result<Option<Attempt>, Failure> {
        let mut found = self.0.query((
            spot.event,
            spot.run,
            destination.as_str(),
            spot.action.as_str(),
        ))?;
        found.next()?.map(attempt).transpose()
    }
}
