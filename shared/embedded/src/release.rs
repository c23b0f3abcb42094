//! Releasing: what is held goes back to waiting, at most as fast as the releases of its destination asked for. Where the
//! last step ended is stored with it, so it holds whoever makes the steps: an operator's call, or the recovery.

use switchboard_core::delivery::State;
use switchboard_core::names::DestinationName;
use switchboard_core::operate::PER_SECOND;
use switchboard_core::ports::{Moved, Spread};
use switchboard_core::release::Release;
use switchboard_core::time::Timestamp;

use crate::moves::{HELD, find, name, number};
use crate::rows;
use crate::settings;
use crate::wakes::Look;
use crate::writer::{Failure, Step};

/// Keeps how fast a destination is released from now on.
pub(crate) fn ask(
    step: &mut Step<'_>,
    destination: &DestinationName,
    spread: Spread,
) -> Result<(), Failure> {
    let release = match settings::release(step, destination)? {
        Some(before) => before.again(spread),
        None => Release::new(spread),
    };
    settings::keep_release(step, destination, release)
}

/// Puts held deliveries of a destination back to waiting, if it is not held as this commits.
pub(crate) fn release(
    step: &mut Step<'_>,
    destination: &DestinationName,
    now: Timestamp,
    limit: u32,
) -> Result<Moved, Failure> {
    if step.is_held(destination)? {
        return Ok(Moved::default());
    }
    let (found, left) = find(step, &HELD, &[name(destination)], limit)?;
    let done = number(&found);
    let mut release = settings::release(step, destination)?.unwrap_or_else(|| {
        Release::new(Spread {
            start: now,
            per_second: PER_SECOND,
        })
    });
    for (delivery, due) in found.iter().zip(release.put_back(now, done)) {
        // It goes on with its own round, never before its own due time.
        step.prepare_cached(
            "UPDATE delivery SET state = 0, due = max(due, ?5), changed_at = ?6
             WHERE event = ?1 AND run = ?2 AND destination = ?3 AND action = ?4",
        )?
        .execute((
            delivery.place.event,
            delivery.place.run,
            &delivery.place.destination,
            &delivery.place.action,
            due.millis(),
            now.millis(),
        ))?;
        step.totals.pass(State::Held, State::Waiting, destination);
    }
    if done > 0 {
        settings::keep_release(step, destination, release)?;
        step.news.look(destination, Look::Now);
    }
    Ok(Moved { done, left })
}

/// Releases what is held of destinations that are not: what a crash between the two halves of a release leaves.
pub(crate) fn recover(step: &mut Step<'_>, now: Timestamp, limit: u32) -> Result<Moved, Failure> {
    let names: Vec<String> = step
        .prepare_cached("SELECT DISTINCT destination FROM delivery WHERE state = 1 AND destination NOT IN (SELECT destination FROM held)")?
        .query_map([], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    let mut all = Moved::default();
    for text in names {
        let limit = limit.saturating_sub(all.done);
        let moved = release(step, &rows::destination(&text)?, now, limit)?;
        all = Moved {
            done: all.done.saturating_add(moved.done),
            left: all.left.saturating_add(moved.left),
        };
    }
    Ok(all)
}
