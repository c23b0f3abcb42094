//! The list of events, what narrows it, and one event with its deliveries.

use std::collections::BTreeMap;

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row};
use switchboard_core::delivery::State;
use switchboard_core::identity::{EventId, Run};
use switchboard_core::names::SenderId;
use switchboard_core::time::Timestamp;
use switchboard_core::views::{
    DeliveryView, EventRow, EventSearch, EventView, Page, PageAsk, death_line,
};

use super::{below, page};
use crate::failure::Failure;
use crate::rows;
use crate::totals::STORED;

const EVENT: &str = "seq, id, source, sender_id, kind, received_at, length(body), repeats, other_bodies, expires_at";

pub(super) fn events(
    connection: &Connection,
    search: &EventSearch,
    ask: &PageAsk,
) -> Result<Page<EventRow>, Failure> {
    let Some(below) = below(ask) else {
        return Ok(page(Vec::new(), ask.limit));
    };
    let source = search
        .source
        .as_ref()
        .map(|source| Value::Text(source.as_str().to_owned()));
    let mut found = match (&search.sender_id, source) {
        (None, None) => select(connection, below, ask, "true", [])?,
        (None, Some(source)) => select(connection, below, ask, "source = ?3", [source])?,
        (Some(id), source) => {
            let ids = Value::Text(unscoped(connection, id)?);
            let by_id = "id IN (SELECT value FROM json_each(?3))";
            let mut found = select(connection, below, ask, by_id, [ids])?;
            // The plus keeps a search by id on the index of ids.
            let scoped = "scope IS NOT NULL AND sender_id = ?3 AND (?4 IS NULL OR +source = ?4)";
            let values = [Value::Text(id.clone()), source.unwrap_or(Value::Null)];
            found.extend(select(connection, below, ask, scoped, values)?);
            if let Some(source) = &search.source {
                found.retain(|(_, row)| row.source == *source);
            }
            found
        }
    };
    found.sort_unstable_by_key(|(seq, _)| std::cmp::Reverse(*seq));
    let items = found.into_iter().map(|(seq, row)| (seq.to_string(), row));
    Ok(page(items.collect(), ask.limit))
}

/// The newest events below a place that match `wanted`, one more than the page takes.
fn select<const N: usize>(
    connection: &Connection,
    below: i64,
    ask: &PageAsk,
    wanted: &str,
    values: [Value; N],
) -> Result<Vec<(i64, EventRow)>, Failure> {
    let limit = i64::from(ask.limit).saturating_add(1);
    let mut all = vec![Value::Integer(below), Value::Integer(limit)];
    all.extend(values);
    let sql =
        format!("SELECT {EVENT} FROM event WHERE seq < ?1 AND {wanted} ORDER BY seq DESC LIMIT ?2");
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query(rusqlite::params_from_iter(all))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push((row.get(0)?, event_row(connection, row)?));
    }
    Ok(found)
}

/// The ids, as JSON, of the events that have this sender's id without a scope: one for each source there ever was.
fn unscoped(connection: &Connection, sender_id: &str) -> Result<String, Failure> {
    let mut ids = Vec::new();
    if let Some(sender_id) = SenderId::new(sender_id) {
        let mut statement = connection.prepare_cached("SELECT label FROM total WHERE name = ?1")?;
        let mut sources = statement.query([STORED])?;
        while let Some(row) = sources.next()? {
            let source = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
            ids.push(EventId::of(&rows::source(source)?, &sender_id));
        }
    }
    serde_json::to_string(&ids).map_err(|_| Failure::Unreadable("event id"))
}

fn event_row(connection: &Connection, row: &Row<'_>) -> Result<EventRow, Failure> {
    let seq: i64 = row.get(0)?;
    let (id, source, kind): (String, String, String) = (row.get(1)?, row.get(2)?, row.get(4)?);
    let mut deliveries = BTreeMap::new();
    let mut statement = connection
        .prepare_cached("SELECT state, count(*) FROM delivery WHERE event = ?1 GROUP BY state")?;
    let mut states = statement.query([seq])?;
    while let Some(state) = states.next()? {
        deliveries.insert(rows::state(state.get(0)?)?.as_str(), state.get(1)?);
    }
    Ok(EventRow {
        event: rows::event_id(&id)?,
        source: rows::source(&source)?,
        sender_id: row.get(3)?,
        kind: rows::kind(&kind)?,
        at: Timestamp::from_millis(row.get(5)?),
        body_length: row.get(6)?,
        repeats: row.get(7)?,
        deliveries,
    })
}

pub(super) fn event(connection: &Connection, id: &EventId) -> Result<Option<EventView>, Failure> {
    let sql = format!("SELECT {EVENT} FROM event WHERE id = ?1");
    let mut statement = connection.prepare_cached(&sql)?;
    let read = |row: &Row<'_>| {
        Ok((
            row.get::<_, i64>(0)?,
            row.get(8)?,
            row.get(9)?,
            event_row(connection, row),
        ))
    };
    let Some((seq, other_bodies, expires_at, row)) =
        statement.query_row([id.as_str()], read).optional()?
    else {
        return Ok(None);
    };
    let mut statement = connection.prepare_cached(
        "SELECT id, run, destination, action, state, due, reason, attempts, log FROM delivery WHERE event = ?1
         ORDER BY run, destination, action",
    )?;
    let mut found = statement.query([seq])?;
    let mut deliveries = Vec::new();
    while let Some(row) = found.next()? {
        deliveries.push(delivery(row)?);
    }
    Ok(Some(EventView {
        row: row?,
        repeats_with_other_body: other_bodies,
        kept_until: Timestamp::from_millis(expires_at),
        deliveries,
    }))
}

fn delivery(row: &Row<'_>) -> Result<DeliveryView, Failure> {
    let (id, destination, action): (String, String, String) =
        (row.get(0)?, row.get(2)?, row.get(3)?);
    let state = rows::state(row.get(4)?)?;
    let log = rows::log(&row.get::<_, String>(8)?)?;
    let reason: Option<i64> = row.get(6)?;
    let reason = reason.map(rows::reason).transpose()?;
    let due = matches!(state, State::Waiting)
        .then(|| row.get(5).map(Timestamp::from_millis))
        .transpose()?;
    Ok(DeliveryView {
        delivery: rows::delivery_id(&id)?,
        run: Run(row.get(1)?),
        destination: rows::destination(&destination)?,
        action: rows::action(&action)?,
        state,
        due,
        reason: reason.map(|reason| death_line(reason, log.last())),
        attempts: row.get(7)?,
        log,
    })
}
