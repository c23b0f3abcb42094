//! What a hint costs: the first one of a delivery is attempted and recorded by one write.

use switchboard_core::delivery::Next;
use switchboard_core::ports::{Begun, Ledger, Recorded};
use switchboard_testkit::emulator::Emulator;

use crate::ground::Ground;
use crate::proxy::{Fate, Proxy};
use crate::sample::{KEEP, clients_at, delivered, event, hints, plan};
use crate::support::START;

#[tokio::test]
async fn the_first_hint_of_a_delivery_reads_nothing_and_every_other_reads_the_record() {
    let ground = Ground::new().await;
    let event = event("1001", 100);
    let plan = plan(&event, 2, START);
    let stored = ground.open().accept(&event, &plan, KEEP).await;
    stored.expect("stored");
    let hints = hints(&ground.clients, &ground.place.deliveries).await;
    let [first, second] = hints.as_slice() else {
        panic!("two hints, not {}", hints.len());
    };
    let proxy = Proxy::start(Emulator::shared().address(), |_| Fate::Passed);
    let clients = clients_at(&proxy.url(), ground.account());
    let backend = ground.open_with(&clients, ground.place.clone());

    let begun = backend.begin_message(first, 1, START).await.expect("begun");
    let Begun::Go(attempt) = begun else {
        panic!("it is due");
    };
    assert_eq!(*attempt.event, event);
    let record = delivered(&attempt);
    let recorded = backend
        .record(&attempt, &record, Next::Delivered, KEEP)
        .await;
    assert_eq!(recorded.expect("recorded"), Recorded::First);
    assert_eq!(proxy.operations(), ["UpdateItem"], "one write and no read");

    // Received again, it is read against the record, which says that it is delivered.
    let begun = backend.begin_message(first, 2, START).await.expect("begun");
    assert_eq!(begun, Begun::Drop);
    let begun = backend
        .begin_message(second, 2, START)
        .await
        .expect("begun");
    assert!(matches!(begun, Begun::Go(_)), "nothing happened to it");
    let reads = proxy.operations().split_off(1);
    assert_eq!(reads, ["GetItem"; 4], "of the event and of the record");
}

#[tokio::test]
async fn a_first_hint_before_its_time_is_later_and_one_for_another_due_time_is_dropped() {
    let ground = Ground::new().await;
    let backend = ground.open();
    let event = event("1001", 100);
    let due = START.plus(std::time::Duration::from_millis(900));
    let plan = plan(&event, 1, due);
    backend.accept(&event, &plan, KEEP).await.expect("stored");
    let hints = hints(&ground.clients, &ground.place.deliveries).await;
    let hint = hints.first().expect("a hint");
    let begun = backend.begin_message(hint, 1, START).await.expect("begun");
    assert_eq!(begun, Begun::Later(due));
    let other = switchboard_aws::message::Message {
        due: START,
        ..hint.clone()
    };
    let begun = backend.begin_message(&other, 2, due).await.expect("begun");
    assert_eq!(begun, Begun::Drop);
}
