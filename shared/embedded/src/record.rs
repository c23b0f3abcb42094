//! What an attempt does to its delivery.

use rusqlite::Connection;
use switchboard_core::attempt::Attempt;
use switchboard_core::delivery::{AttemptRecord, DeliveryKey, Next, State};
use switchboard_core::ports::{Begun, Hint, Keep, Recorded};
use switchboard_core::stood::Stood;
use switchboard_core::time::Timestamp;

use crate::expire;
use crate::failure::Failure;
use crate::rows::{self, ATTEMPT, log_text, reason_number, state_number};
use crate::wakes::Look;
use crate::writer::Step;

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
    let reason: Option<i64> = row.get(4)?;
    Ok(Some(Stood {
        state: rows::state(row.get(0)?)?,
        attempts: row.get(1)?,
        base: row.get(2)?,
        due: Timestamp::from_millis(row.get(3)?),
        reason: reason.map(rows::reason).transpose()?,
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
            record.ended().millis(),
            log_text(std::slice::from_ref(record))?,
            state_number(State::Waiting),
        ))?;
    if changed == 1 {
        step.totals
            .pass(State::Waiting, State::Delivered, &key.destination);
        step.happened.attempt(&key.destination, record);
    }
    Ok(changed == 1)
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
    let Some(after) = before.after(attempt, record, next) else {
        return Ok(Recorded::Stale);
    };
    step.prepare_cached(
        "UPDATE delivery SET state = ?5, due = ?6, attempts = ?7, reason = ?8, changed_at = ?9, log = ?10, base = ?11
         WHERE event = ?1 AND run = ?2 AND destination = ?3 AND action = ?4",
    )?
    .execute((
        event,
        key.run.0,
        key.destination.as_str(),
        key.action.as_str(),
        state_number(after.state),
        after.due.millis(),
        after.attempts,
        after.reason.map(reason_number),
        record.ended().millis(),
        log_text(&after.log)?,
        after.base,
    ))?;
    step.totals
        .pass(before.state, after.state, &key.destination);
    step.happened.attempt(&key.destination, record);
    match after.state {
        State::Dead => expire::keep_longer(step, event, keep)?,
        State::Waiting => {
            step.news.look(&key.destination, Look::At(after.due));
        }
        State::Held | State::Delivered => {}
    }
    Ok(Recorded::First)
}
