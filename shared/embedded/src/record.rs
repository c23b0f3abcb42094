//! What an attempt does to its delivery.

use std::time::Duration;

use rusqlite::Connection;
use switchboard_core::attempt::Attempt;
use switchboard_core::delivery::{AttemptRecord, DeliveryKey, KEPT_ATTEMPTS, Next, State};
use switchboard_core::ports::{Begun, Hint, Keep, Recorded};
use switchboard_core::time::Timestamp;

use crate::expire;
use crate::failure::Failure;
use crate::rows::{self, ATTEMPT, log_text, reason_number, state_number};
use crate::wakes::Look;
use crate::writer::Step;

/// How a delivery stood before.
struct Stood {
    state: State,
    attempts: u32,
    base: u32,
    due: Timestamp,
    reason: Option<i64>,
    log: Vec<AttemptRecord>,
}

fn stood(connection: &Connection, event: i64, key: &DeliveryKey) -> Result<Option<Stood>, Failure> {
    let mut statement = connection.prepare_cached(
        "SELECT state, attempts, base, due, reason, log FROM delivery
         WHERE event = ?1 AND run = ?2 AND destination = ?3 AND action = ?4",
    )?;
    let place = (
        event,
        key.run.0,
        key.destination.as_str(),
        key.action.as_str(),
    );
    let mut found = statement.query(place)?;
    let Some(row) = found.next()? else {
        return Ok(None);
    };
    let log = row.get_ref(5)?.as_str().map_err(rusqlite::Error::from)?;
    Ok(Some(Stood {
        state: rows::state(row.get(0)?)?,
        attempts: row.get(1)?,
        base: row.get(2)?,
        due: Timestamp::from_millis(row.get(3)?),
        reason: row.get(4)?,
        log: rows::log(log)?,
    }))
}

/// May this delivery be attempted now?
pub(crate) fn begin(
    connection: &Connection,
    hint: &Hint,
    now: Timestamp,
) -> Result<Begun, Failure> {
    let sql = format!(
        "SELECT {ATTEMPT}, d.state, d.due FROM delivery d JOIN event e ON e.seq = d.event
         WHERE e.id = ?1 AND d.id = ?2"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut found = statement.query((hint.event.as_str(), hint.delivery.as_str()))?;
    let Some(row) = found.next()? else {
        return Ok(Begun::Drop);
    };
    let state = rows::state(row.get("state")?)?;
    let due = Timestamp::from_millis(row.get("due")?);
    if state != State::Waiting || due != hint.due {
        return Ok(Begun::Drop);
    }
    if due > now {
        return Ok(Begun::Later(due));
    }
    Ok(Begun::Go(Box::new(rows::attempt(row)?)))
}

/// Keeps the success of a first attempt, as most are; `false` when something else has happened to the delivery.
fn delivered_at_once(
    step: &mut Step<'_>,
    event: i64,
    key: &DeliveryKey,
    record: &AttemptRecord,
) -> Result<bool, Failure> {
    let changed = step
        .prepare_cached(
            "UPDATE delivery SET state = ?5, attempts = 1, changed_at = ?6, log = ?7
             WHERE event = ?1 AND run = ?2 AND destination = ?3 AND action = ?4
               AND state = ?8 AND attempts = 0",
        )?
        .execute((
            event,
            key.run.0,
            key.destination.as_str(),
            key.action.as_str(),
            state_number(State::Delivered),
            ended(record).millis(),
            log_text(std::slice::from_ref(record))?,
            state_number(State::Waiting),
        ))?;
    if changed == 1 {
        step.totals
            .pass(State::Waiting, State::Delivered, &key.destination);
    }
    Ok(changed == 1)
}

/// When an attempt ended.
fn ended(record: &AttemptRecord) -> Timestamp {
    record.at.plus(Duration::from_millis(record.duration_ms))
}

/// Keeps an attempt and what follows from it. `event` is the place of its event in the order of receipt, where it is
/// known.
pub(crate) fn record(
    step: &mut Step<'_>,
    event: Option<i64>,
    attempt: &Attempt,
    record: &AttemptRecord,
    next: Next,
    keep: Keep,
) -> Result<Recorded, Failure> {
    let key = &attempt.key;
    let event = match event {
        Some(event) => Some(event),
        None => rows::seq_of(step, &attempt.event.id)?,
    };
    let Some(event) = event else {
        return Ok(Recorded::Stale);
    };
    if next == Next::Delivered && record.number == 1 && delivered_at_once(step, event, key, record)?
    {
        return Ok(Recorded::First);
    }
    let Some(before) = stood(step, event, key)? else {
        return Ok(Recorded::Stale);
    };
    let fresh = record.number == before.attempts.saturating_add(1);
    // Redriven while its attempt was under way: this attempt is the last of the round before, and the new round is whole.
    let round_before = record.number.saturating_sub(attempt.in_round) != before.base;
    let (state, due, reason) = match (next, before.state) {
        (_, State::Delivered) => return Ok(Recorded::Stale),
        (Next::Delivered, _) => (State::Delivered, before.due, None),
        (Next::Waiting(_) | Next::Dead(_), _) if !fresh => return Ok(Recorded::Stale),
        // Buried while its attempt was under way: the attempt is kept, the dead letter stays one.
        (Next::Waiting(_) | Next::Dead(_), State::Dead) => (State::Dead, before.due, before.reason),
        // A delivery that was held while its attempt was under way stays held for the next one.
        (Next::Waiting(due), State::Held) => (State::Held, due, None),
        (Next::Waiting(due), State::Waiting) => (State::Waiting, due, None),
        (Next::Dead(_), State::Waiting | State::Held) if round_before => {
            (before.state, before.due, None)
        }
        (Next::Dead(reason), State::Waiting | State::Held) => {
            (State::Dead, before.due, Some(reason_number(reason)))
        }
    };
    let mut log = before.log;
    log.push(record.clone());
    let surplus = log.len().saturating_sub(KEPT_ATTEMPTS);
    log.drain(..surplus);
    step.prepare_cached(
        "UPDATE delivery SET state = ?5, due = ?6, attempts = ?7, reason = ?8, changed_at = ?9, log = ?10, base = ?11
         WHERE event = ?1 AND run = ?2 AND destination = ?3 AND action = ?4",
    )?
    .execute((
        event,
        key.run.0,
        key.destination.as_str(),
        key.action.as_str(),
        state_number(state),
        due.millis(),
        before.attempts.max(record.number),
        reason,
        ended(record).millis(),
        log_text(&log)?,
        if round_before && fresh { record.number } else { before.base },
    ))?;
    step.totals.pass(before.state, state, &key.destination);
    match state {
        State::Dead => expire::keep_longer(step, event, keep)?,
        State::Waiting => {
            step.news.look(&key.destination, Look::At(due));
        }
        State::Held | State::Delivered => {}
    }
    Ok(Recorded::First)
}
