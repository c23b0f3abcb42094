//! What an attempt does to its delivery.

use rusqlite::OptionalExtension;
use switchboard_core::attempt::Attempt;
use switchboard_core::delivery::{AttemptRecord, KEPT_ATTEMPTS, Next, State};
use switchboard_core::ports::{Begun, Hint, Keep, Recorded};
use switchboard_core::time::Timestamp;

use crate::expire;
use crate::rows::{self, log_text, reason_number, state_number};
use crate::writer::{Failure, Step};

/// What is looked at of a delivery.
struct Standing {
    state: State,
    attempts: u32,
    base: u32,
    due: Timestamp,
    reason: Option<i64>,
    log: Vec<AttemptRecord>,
}

fn standing(connection: &rusqlite::Connection, id: &str) -> Result<Option<Standing>, Failure> {
    let mut statement = connection.prepare_cached(
        "SELECT state, attempts, base, due, reason, log FROM delivery WHERE id = ?1",
    )?;
    let read = |row: &rusqlite::Row<'_>| {
        Ok((
            row.get(0)?,
            row.get(1)?,
            row.get(2)?,
            row.get(3)?,
            row.get(4)?,
            row.get::<_, String>(5)?,
        ))
    };
    let Some((state, attempts, base, due, reason, log)) =
        statement.query_row([id], read).optional()?
    else {
        return Ok(None);
    };
    Ok(Some(Standing {
        state: rows::state(state)?,
        attempts,
        base,
        due: Timestamp::from_millis(due),
        reason,
        log: rows::log(&log)?,
    }))
}

/// May this delivery be attempted now?
pub(crate) fn begin(
    connection: &rusqlite::Connection,
    hint: &Hint,
    now: Timestamp,
) -> Result<Begun, Failure> {
    match standing(connection, hint.delivery.as_str())? {
        Some(Standing {
            state: State::Waiting,
            due,
            ..
        }) if due == hint.due => {
            if due > now {
                return Ok(Begun::Later(due));
            }
            let attempt = rows::attempt_of(connection, hint.delivery.as_str())?;
            Ok(attempt.map_or(Begun::Drop, |attempt| Begun::Go(Box::new(attempt))))
        }
        Some(_) | None => Ok(Begun::Drop),
    }
}

/// Keeps an attempt and what follows from it.
pub(crate) fn record(
    step: &mut Step<'_>,
    attempt: &Attempt,
    record: &AttemptRecord,
    next: Next,
    keep: Keep,
) -> Result<Recorded, Failure> {
    let id = attempt.key.id.as_str();
    let Some(before) = standing(step, id)? else {
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
        "UPDATE delivery SET state = ?2, due = ?3, attempts = ?4, reason = ?5, changed_at = ?6, log = ?7, base = ?8 WHERE id = ?1",
    )?
    .execute((
        id,
        state_number(state),
        due.millis(),
        before.attempts.max(record.number),
        reason,
        record.at.plus(std::time::Duration::from_millis(record.duration_ms)).millis(),
        log_text(&log)?,
        if round_before && fresh { record.number } else { before.base },
    ))?;
    step.totals
        .pass(before.state, state, &attempt.key.destination);
    match state {
        State::Dead => expire::keep_longer(step, id, keep)?,
        State::Waiting => {
            step.wake.insert(attempt.key.destination.clone());
        }
        State::Held | State::Delivered => {}
    }
    Ok(Recorded::First)
}
