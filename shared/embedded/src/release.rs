//! Releasing: what is held goes back to waiting, at most as fast as the releases of its destination asked for. Where the
//! last step ended is stored with it, so it holds whoever makes the steps: an operator's call, or the recovery.

use std::collections::BTreeSet;

use rusqlite::Connection;
use switchboard_core::delivery::State;
use switchboard_core::names::DestinationName;
use switchboard_core::operate::PER_SECOND;
use switchboard_core::ports::{Moved, Spread};
use switchboard_core::release::Release;
use switchboard_core::time::Timestamp;

use crate::failure::Failure;
use crate::moves::{HELD, find, name, number};
use crate::rows;
use crate::settings;
use crate::wakes::Look;
use crate::writer::Step;

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
        let (_, left) = find(step, &HELD, &[name(destination)], 0)?;
        return Ok(Moved { done: 0, left });
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
            delivery.spot.event,
            delivery.spot.run,
            destination.as_str(),
            delivery.spot.action.as_str(),
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

/// By its name among the totals, however many deliveries there are.
const DESTINATIONS: &str = "SELECT label FROM total WHERE name = ?1 AND value > 0";

/// The destinations that have deliveries in any of `states`. The totals tell: they are counted with what they count.
pub(crate) fn destinations<const N: usize>(
    connection: &Connection,
    states: [State; N],
) -> Result<BTreeSet<DestinationName>, Failure> {
    let mut statement = connection.prepare_cached(DESTINATIONS)?;
    let mut destinations = BTreeSet::new();
    for state in states {
        let mut found = statement.query([state.as_str()])?;
        while let Some(row) = found.next()? {
            let name = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
            destinations.insert(rows::destination(name)?);
        }
    }
    Ok(destinations)
}

/// Releases what is held of destinations that are not: what a crash between the two halves of a release leaves.
/// What another step of the same transaction held is in the totals only for the next recovery.
pub(crate) fn recover(step: &mut Step<'_>, now: Timestamp, limit: u32) -> Result<Moved, Failure> {
    let mut all = Moved::default();
    for destination in destinations(step, [State::Held])? {
        if step.is_held(&destination)? {
            continue;
        }
        let limit = limit.saturating_sub(all.done);
        let moved = release(step, &destination, now, limit)?;
        all = Moved {
            done: all.done.saturating_add(moved.done),
            left: all.left.saturating_add(moved.left),
        };
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plans::plan;
    use crate::store::Store;

    #[tokio::test]
    async fn destinations_are_found_without_going_through_their_deliveries() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(folder.path()).expect("a store");
        let plan = plan(&store, DESTINATIONS).await;
        assert_eq!(plan, ["SEARCH total USING PRIMARY KEY (name=?)"]);
    }

    #[tokio::test]
    async fn a_destination_without_open_deliveries_is_not_looked_through() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(folder.path()).expect("a store");
        store
            .step("counting", |step| {
                Ok(step.execute_batch(
                    "INSERT INTO total (name, label, detail, value) VALUES
                     ('waiting', 'a', '', 1), ('held', 'a', '', 2), ('held', 'b', '', 1), ('held', 'c', '', 0),
                     ('waiting', 'd', '', 0), ('dead', 'e', '', 1), ('delivered', 'f', '', 1);",
                )?)
            })
            .await
            .expect("counted");
        for (states, expected) in [
            ([State::Waiting, State::Held], &["a", "b"][..]),
            ([State::Waiting, State::Waiting], &["a"]),
        ] {
            let found = store
                .read("finding", move |connection| {
                    destinations(connection, states)
                })
                .await
                .expect("found");
            let found: Vec<_> = found.iter().map(DestinationName::as_str).collect();
            assert_eq!(found, expected);
        }
    }
}
