//! Recovery: what a crash left half-way is queued before the lanes start.

use switchboard_core::delivery::State;
use switchboard_core::fail::{self, FailPoint};
use switchboard_core::ports::Ledger;
use switchboard_core::time::Clock;
use tokio::sync::watch;
use tokio::time::timeout;

use crate::lanes::{AFTER_FAILURE, STEP};
use crate::release;
use crate::store::Store;

/// Queues what a crash left half-way, and finds destinations that only old deliveries name.
pub(crate) async fn recover(store: &Store, clock: &dyn Clock, stop: &mut watch::Receiver<bool>) {
    while !*stop.borrow() {
        fail::reach(FailPoint::BeforeRecover);
        let recovered = store.recover(clock.now(), STEP).await;
        fail::reach(FailPoint::AfterRecover);
        let open = store
            .read("finding open deliveries", |connection| {
                release::destinations(connection, [State::Waiting, State::Held])
            })
            .await;
        match (recovered, open) {
            (Ok(moved), Ok(open)) => {
                store.wakes.look(open);
                if moved.left == 0 {
                    return;
                }
            }
            (Err(error), _) | (_, Err(error)) => {
                tracing::error!(error = %error.line(), "recovery failed; trying again");
                drop(timeout(AFTER_FAILURE, stop.changed()).await);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use switchboard_core::endpoint::Change;
    use switchboard_core::names::DestinationName;
    use switchboard_core::operate::PER_SECOND;
    use switchboard_core::ports::{SettingsStore, Spread};
    use switchboard_core::time::Timestamp;
    use switchboard_testkit::clock::HandClock;

    use super::*;

    #[tokio::test]
    async fn what_is_recovered_goes_as_fast_as_its_release_asked_for_over_all_steps() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(folder.path()).expect("a store");
        store
            .step("filling", |step| {
                Ok(step.execute_batch(
                    "INSERT INTO event VALUES (1, 'e', 'shop', '1', NULL, '', 0, 0, 0, x'', x'', x'', 0, 0);
                     WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 1200)
                     INSERT INTO delivery (id, event, run, destination, action, state, due, changed_at)
                     SELECT printf('d%d', i), 1, i, printf('chat-%d', i % 2), 'deliver', 1, 0, 0 FROM n;
                     INSERT INTO total (name, label, detail, value)
                     VALUES ('held', 'chat-0', '', 600), ('held', 'chat-1', '', 600);",
                )?)
            })
            .await
            .expect("filled");
        let start = Timestamp::from_seconds(1_800_000_000);
        let one = DestinationName::parse("chat-1").expect("a name");
        let spread = Spread {
            start,
            per_second: 10,
        };
        let released = store.change(Change::Release(one, spread)).await;
        released.expect("released");
        let (_stop, mut stopped) = watch::channel(false);
        recover(&store, &HandClock::at(start), &mut stopped).await;
        let found = store
            .read("counting", |connection| {
                let sql = "SELECT destination, count(*) FROM delivery WHERE state = 0
                           GROUP BY destination, (due - 1800000000000) / 1000 ORDER BY destination, due";
                let mut statement = connection.prepare(sql)?;
                let found = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
                Ok(found.collect::<Result<Vec<(String, u32)>, _>>()?)
            })
            .await
            .expect("counted");
        let usual = vec![("chat-0".to_owned(), PER_SECOND); 12];
        let asked = vec![("chat-1".to_owned(), 10); 60];
        assert_eq!(found, [usual, asked].concat(), "starts in each second");
    }
}
