//! Storing an event with its deliveries, and further runs of it.

use std::sync::Arc;

use rusqlite::{OptionalExtension, ToSql};
use switchboard_core::delivery::State;
use switchboard_core::event::Event;
use switchboard_core::identity::{EventId, Run};
use switchboard_core::ports::{Accepted, Keep, Queued, SameBody};
use switchboard_core::time::Timestamp;

use crate::expire;
use crate::failure::Failure;
use crate::rows::state_number;
use crate::totals::{OTHER_BODIES, REPEATS, STORED, UNROUTED};
use crate::wakes::{Fresh, Look};
use crate::writer::Step;

/// Most deliveries that one statement stores.
const ROWS_AT_ONCE: usize = 16;

/// What is looked at of an event that is stored already.
struct Stored {
    seq: i64,
    digest: Vec<u8>,
    expires_at: Timestamp,
}

fn stored(step: &Step<'_>, id: &EventId) -> Result<Option<Stored>, Failure> {
    let mut statement =
        step.prepare_cached("SELECT seq, body_digest, expires_at FROM event WHERE id = ?1")?;
    let read = |row: &rusqlite::Row<'_>| {
        Ok(Stored {
            seq: row.get(0)?,
            digest: row.get(1)?,
            expires_at: Timestamp::from_millis(row.get(2)?),
        })
    };
    Ok(statement.query_row([id.as_str()], read).optional()?)
}

/// Stores an event and queues its plan, or counts a repeat.
pub(crate) fn accept(
    step: &mut Step<'_>,
    event: &Arc<Event>,
    digest: &[u8; 32],
    plan: &[Queued],
    keep: Keep,
) -> Result<Accepted, Failure> {
    let now = event.received_at;
    let mut expires_at = keep.until(now);
    for queued in plan {
        // What comes for a held destination lives as long as what is shelved.
        if queued.due <= now && step.is_held(&queued.key.destination)? {
            expires_at = keep.until_when_dead(now);
        }
    }
    let seq = step.next_seq();
    if !insert(step, seq, event, digest, expires_at)? {
        let Some(stored) = stored(step, &event.id)? else {
            return Err(Failure::Unreadable("event"));
        };
        if now < stored.expires_at || expire::has_open(step, stored.seq)? {
            return repeat(step, event, &stored, digest);
        }
        expire::remove(step, stored.seq)?;
        insert(step, seq, event, digest, expires_at)?;
    }
    step.totals.source(STORED, &event.source, 1);
    step.happened.event(&event.source, now);
    // A copy to your endpoint is no route's doing.
    if plan
        .iter()
        .all(|queued| queued.key.destination.is_your_endpoint())
    {
        step.totals.source(UNROUTED, &event.source, 1);
    }
    queue(step, seq, plan, now, Some(event))?;
    Ok(Accepted::New)
}

/// Inserts an event; `false` when its id is stored already.
fn insert(
    step: &Step<'_>,
    seq: i64,
    event: &Event,
    digest: &[u8; 32],
    expires_at: Timestamp,
) -> Result<bool, Failure> {
    let mut statement = step.prepare_cached(
        "INSERT INTO event (seq, id, source, sender_id, scope, kind, received_at, expires_at, expiry_looks_at, headers, body, body_digest)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8, ?9, ?10, ?11) ON CONFLICT (id) DO NOTHING",
    )?;
    let added = statement.execute((
        seq,
        event.id.as_str(),
        event.source.as_str(),
        event.sender_id.as_str(),
        event.sender_id.scope(),
        event.kind.as_str(),
        event.received_at.millis(),
        expires_at.millis(),
        event.headers.to_lines(),
        &event.body[..],
        &digest[..],
    ))?;
    Ok(added == 1)
}

fn repeat(
    step: &mut Step<'_>,
    event: &Event,
    stored: &Stored,
    digest: &[u8; 32],
) -> Result<Accepted, Failure> {
    let same = if stored.digest == digest {
        SameBody::Yes
    } else {
        SameBody::No
    };
    let other = match same {
        SameBody::Yes => 0,
        SameBody::No => 1,
    };
    step.prepare_cached(
        "UPDATE event SET repeats = repeats + 1, other_bodies = other_bodies + ?2 WHERE seq = ?1",
    )?
    .execute((stored.seq, other))?;
    step.totals.source(REPEATS, &event.source, 1);
    step.totals.source(OTHER_BODIES, &event.source, other);
    Ok(Accepted::Repeat(same))
}

/// Stores the deliveries of a plan, which names each once. Those of a fresh event that are due go to their lanes without
/// being read again, or, where the destination is held, are held from the start: they would be shelved next.
fn queue(
    step: &mut Step<'_>,
    seq: i64,
    plan: &[Queued],
    now: Timestamp,
    fresh: Option<&Arc<Event>>,
) -> Result<(), Failure> {
    for queued in plan.chunks(ROWS_AT_ONCE) {
        let mut states = Vec::with_capacity(queued.len());
        for queued in queued {
            let is_due = fresh.is_some() && queued.due <= now;
            states.push(if is_due && step.is_held(&queued.key.destination)? {
                State::Held
            } else {
                State::Waiting
            });
        }
        insert_deliveries(step, seq, now, queued, &states)?;
        for (queued, state) in queued.iter().zip(states) {
            let key = &queued.key;
            step.totals.enter(state, &key.destination);
            match fresh.filter(|_| queued.due <= now) {
                Some(event) if state == State::Waiting => step.news.fresh(Fresh {
                    seq,
                    event: Arc::clone(event),
                    key: key.clone(),
                }),
                Some(_) => {}
                None => step.news.look(&key.destination, Look::At(queued.due)),
            }
        }
    }
    Ok(())
}

/// Inserts rows by one statement: it finds its place in the table and opens the indexes once for all of them. Should one
/// fail, the transaction is undone, so nothing is written down for undoing the others (`OR FAIL`).
fn insert_deliveries(
    step: &Step<'_>,
    seq: i64,
    now: Timestamp,
    plan: &[Queued],
    states: &[State],
) -> Result<(), Failure> {
    let rows = vec!["(?1, ?2, ?, ?, ?, ?, ?, ?)"; plan.len()].join(", ");
    let mut statement = step.prepare_cached(&format!(
        "INSERT OR FAIL INTO delivery (event, changed_at, run, destination, action, id, state, due) VALUES {rows}"
    ))?;
    let mut bound = 0_usize;
    let mut bind = |value: &dyn ToSql| {
        bound = bound.saturating_add(1);
        statement.raw_bind_parameter(bound, value)
    };
    bind(&seq)?;
    bind(&now.millis())?;
    for (Queued { key, due }, state) in plan.iter().zip(states) {
        bind(&key.run.0)?;
        bind(&key.destination.as_str())?;
        bind(&key.action.as_str())?;
        bind(&key.id.as_str())?;
        bind(&state_number(*state))?;
        bind(&due.millis())?;
    }
    statement.raw_execute()?;
    Ok(())
}

/// Stores a further run of an event, unless it is stored; `false` when there is no such event.
pub(crate) fn replay(
    step: &mut Step<'_>,
    id: &EventId,
    run: Run,
    plan: &[Queued],
) -> Result<bool, Failure> {
    let Some(stored) = stored(step, id)? else {
        return Ok(false);
    };
    let known: bool = step
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM delivery WHERE event = ?1 AND run = ?2)")?
        .query_row((stored.seq, run.0), |row| row.get(0))?;
    if !known {
        let now = plan
            .iter()
            .map(|queued| queued.due)
            .min()
            .unwrap_or_default();
        queue(step, stored.seq, plan, now, None)?;
    }
    Ok(true)
}
