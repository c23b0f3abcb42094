//! Recovery: what a crash left half-way is queued before the lanes start.

use std::collections::BTreeSet;

use rusqlite::Connection;
use switchboard_core::fail::{self, FailPoint};
use switchboard_core::names::DestinationName;
use switchboard_core::operate::PER_SECOND;
use switchboard_core::ports::{Ledger, Spread};
use switchboard_core::time::Clock;
use tokio::sync::watch;
use tokio::time::timeout;

use crate::lanes::{AFTER_FAILURE, STEP};
use crate::rows;
use crate::store::Store;
use crate::writer::Failure;

/// Queues what a crash left half-way, and finds destinations that only old deliveries name.
pub(crate) async fn recover(store: &Store, clock: &dyn Clock, stop: &mut watch::Receiver<bool>) {
    let mut start = clock.now();
    while !*stop.borrow() {
        // Each step starts where the one before ended, so that the starts run on evenly.
        let spread = Spread {
            start: start.max(clock.now()),
            per_second: PER_SECOND,
        };
        fail::reach(FailPoint::BeforeRecover);
        let recovered = store.recover(spread, STEP).await;
        fail::reach(FailPoint::AfterRecover);
        let open = store
            .read("finding open deliveries", open_destinations)
            .await;
        match (recovered, open) {
            (Ok(moved), Ok(open)) => {
                store.wakes.look(open);
                if moved.left == 0 {
                    return;
                }
                start = spread.due(moved.done);
            }
            (Err(error), _) | (_, Err(error)) => {
                tracing::error!(error = %error.line(), "recovery failed; trying again");
                drop(timeout(AFTER_FAILURE, stop.changed()).await);
            }
        }
    }
}

/// The destinations that have waiting or held deliveries.
fn open_destinations(connection: &Connection) -> Result<BTreeSet<DestinationName>, Failure> {
    let sql = "SELECT DISTINCT destination FROM delivery WHERE state = 0 UNION SELECT DISTINCT destination FROM delivery WHERE state = 1";
    let mut statement = connection.prepare_cached(sql)?;
    let names: Vec<String> = statement
        .query_map([], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    names.iter().map(|name| rows::destination(name)).collect()
}

#[cfg(test)]
mod tests {
    use switchboard_core::time::Timestamp;
    use switchboard_testkit::clock::HandClock;

    use super::*;

    #[tokio::test]
    async fn the_starts_of_what_is_recovered_run_on_over_the_steps() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(folder.path()).expect("a store");
        store
            .step("filling", |step| {
                Ok(step.execute_batch(
                    "INSERT INTO event VALUES (1, 'e', 'shop', '1', NULL, '', 0, 0, 0, x'', x'', x'', 0, 0);
                     WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 1200)
                     INSERT INTO delivery (id, event, run, destination, action, state, due, changed_at)
                     SELECT printf('d%d', i), 1, i, printf('chat-%d', i % 2), 'deliver', 1, 0, 0 FROM n;",
                )?)
            })
            .await
            .expect("filled");
        let start = Timestamp::from_seconds(1_800_000_000);
        let (_stop, mut stopped) = watch::channel(false);
        recover(&store, &HandClock::at(start), &mut stopped).await;
        let found = store
            .read("counting", |connection| {
                let sql = "SELECT (due - 1800000000000) / 1000, count(*) FROM delivery WHERE state = 0 GROUP BY 1";
                let mut statement = connection.prepare(sql)?;
                let found = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
                Ok(found.collect::<Result<Vec<(i64, u32)>, _>>()?)
            })
            .await
            .expect("counted");
        let expected: Vec<_> = (0..24).map(|second| (second, PER_SECOND)).collect();
        assert_eq!(found, expected, "fifty in each second");
    }
}
