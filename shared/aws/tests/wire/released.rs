//! Releases that come while a worker holds what it received.

use std::time::Duration;

use switchboard_aws::Aws;
use switchboard_core::endpoint::Change;
use switchboard_core::ports::{Ledger, SettingsStore, Spread};

use crate::ground::Ground;
use crate::sample::{KEEP, event, hints, plan, to};
use crate::support::START;

const FIVE_SECONDS: Duration = Duration::from_secs(5);

async fn release(backend: &Aws) {
    let spread = Spread {
        start: START,
        per_second: 5,
    };
    let change = Change::Release(to("to-0"), spread);
    backend.change(change).await.expect("released");
}

#[tokio::test]
async fn what_a_worker_is_told_of_a_hold_is_read_anew_however_young_the_last_reading_is() {
    let ground = Ground::new().await;
    let worker = ground.open_paced(&ground.clients, ground.place.clone(), FIVE_SECONDS);
    let operator = ground.open();
    let change = Change::Hold(to("to-0"));
    operator.change(change).await.expect("held");
    let held = worker.settings().await.expect("read").held.clone();
    assert!(held.contains(&to("to-0")));
    release(&operator).await;
    let held = worker.settings().await.expect("read").held.clone();
    assert!(held.contains(&to("to-0")), "as it was read");
    let held = worker.newest_settings().await.expect("read").held.clone();
    assert!(held.is_empty(), "{held:?}");
    let held = worker.settings().await.expect("read").held.clone();
    assert!(held.is_empty(), "and all go by that from here on");
}

#[tokio::test]
async fn what_is_held_behind_a_release_is_put_back_at_once() {
    let ground = Ground::new().await;
    let backend = ground.open();
    let event = event("1001", 100);
    let plan = plan(&event, 1, START);
    backend.accept(&event, &plan, KEEP).await.expect("stored");
    let received = hints(&ground.clients, &ground.place.deliveries).await;
    let hint = received.first().expect("a hint");
    let key = &plan[0].key;

    // The release looked for what is held before this was.
    let change = Change::Hold(to("to-0"));
    backend.change(change).await.expect("held");
    release(&backend).await;
    let released = backend.release(&to("to-0"), START, 10).await;
    assert_eq!(released.expect("nothing").done, 0);
    let held = backend.hold_received(hint, START, KEEP).await;
    held.expect("held and put back");
    let state = ground.attribute(key, "st").await;
    assert_eq!(state.as_deref(), Some("0"), "it waits");
    let again = hints(&ground.clients, &ground.place.deliveries).await;
    assert_eq!(again.len(), 1, "its hint: {again:?}");
    let due = ground.attribute(key, "due").await.expect("a due time");
    assert_eq!(again[0].due.millis().to_string(), due);

    // What is really held stays so.
    let change = Change::Hold(to("to-0"));
    backend.change(change).await.expect("held");
    let held = backend.hold_received(&again[0], again[0].due, KEEP).await;
    held.expect("held");
    let state = ground.attribute(key, "st").await;
    assert_eq!(state.as_deref(), Some("1"), "it is held");
    let none = hints(&ground.clients, &ground.place.deliveries).await;
    assert!(none.is_empty(), "{none:?}");
}
