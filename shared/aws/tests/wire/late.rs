//! What comes too late: a setting that changes while a step goes by it, and what an earlier life of an event left.

use std::sync::mpsc;
use std::time::Duration;

use switchboard_core::address::{Address, Networks};
use switchboard_core::delivery::{DeathReason, DeliveryKey, Next};
use switchboard_core::endpoint::{Change, KEY_BYTES, fresh_secret};
use switchboard_core::event::Event;
use switchboard_core::identity::Run;
use switchboard_core::names::{ActionName, DestinationName};
use switchboard_core::ports::{
    Accepted, Begun, Ledger, Moved, Queued, Recorded, Selection, SettingsStore, Spread,
};
use switchboard_testkit::emulator::Emulator;

use crate::ground::Ground;
use crate::proxy::{Fate, Proxy};
use crate::sample::{KEEP, clients_at, delivered, event, go, hint, hints, plan, unanswered};
use crate::support::START;

/// How long a test waits for what has to come.
const IN_TIME: Duration = Duration::from_secs(30);

#[tokio::test]
async fn copies_that_are_buried_while_your_endpoint_is_set_are_put_back() {
    let ground = Ground::new().await;
    let whole = ground.open();
    let event = event("1001", 10);
    let to = DestinationName::your_endpoint();
    let key = DeliveryKey::of(&event.id, to.clone(), ActionName::copy(), Run(0));
    let planned = [Queued { key, due: START }];
    whole.accept(&event, &planned, KEEP).await.expect("stored");
    hints(&ground.clients, &ground.place.deliveries).await;

    // The burial waits at its first write of a delivery until the address is set.
    let (reached, at_write) = mpsc::channel();
    let (go_on, may_go_on) = mpsc::channel::<()>();
    let mut first = true;
    let proxy = Proxy::start(Emulator::shared().address(), move |request| {
        if first && request.operation == "UpdateItem" && request.body.contains("D#dlv_") {
            first = false;
            reached.send(()).expect("waited for");
            may_go_on.recv_timeout(IN_TIME).expect("set in time");
        }
        Fate::Passed
    });
    let clients = clients_at(&proxy.url(), ground.account());
    let backend = ground.open_with(&clients, ground.place.clone());
    let cleared = DeathReason::EndpointCleared;
    let burying = tokio::spawn(async move { backend.bury(&to, cleared, START, KEEP, 10).await });
    let waited = tokio::task::spawn_blocking(move || at_write.recv_timeout(IN_TIME));
    waited.await.expect("waited").expect("it writes");
    let set = Change::SetEndpoint {
        address: Address::parse("https://example.com/in", Networks::Public).expect("an address"),
        fresh: fresh_secret(&[1; KEY_BYTES]).expect("a secret"),
    };
    whole.change(set).await.expect("set");
    go_on.send(()).expect("waited for");

    let moved = burying.await.expect("no panic").expect("an answer");
    assert_eq!(moved, Moved::default(), "none is buried");
    let begun = whole.begin(&hint(&planned[0]), START).await.expect("begun");
    assert!(matches!(begun, Begun::Go(_)), "it has somewhere to go");
    let hints = hints(&ground.clients, &ground.place.deliveries).await;
    assert_eq!(hints.len(), 1, "and its hint is sent");
}

#[tokio::test]
async fn a_dead_letter_of_an_earlier_life_is_removed_and_not_redriven() {
    let ground = Ground::new().await;
    let backend = ground.open();
    let event = event("1001", 10);
    let planned = plan(&event, 2, START);
    backend
        .accept(&event, &planned, KEEP)
        .await
        .expect("stored");
    for queued in &planned {
        let attempt = go(&backend, queued).await;
        let next = Next::Dead(DeathReason::AttemptsUsedUp);
        let record = unanswered(&attempt);
        let recorded = backend.record(&attempt, &record, next, KEEP).await;
        recorded.expect("recorded");
    }
    ground.give_another_life(&event.id).await;
    let spread = Spread {
        start: START,
        per_second: 10,
    };
    let moved = backend.requeue(&Selection::AllDead, spread, 10).await;
    assert_eq!(moved.expect("an answer").done, 0);
    assert_eq!(ground.sorts(&event.id, "D#").await, [""; 0]);
    let begun = backend
        .begin(&hint(&planned[0]), START)
        .await
        .expect("begun");
    assert!(
        matches!(begun, Begun::Go(_)),
        "of this life nothing happened to it"
    );
}

#[tokio::test]
async fn a_record_of_an_earlier_life_counts_as_absent_and_is_written_over() {
    let ground = Ground::new().await;
    let backend = ground.open();
    let event = event("1001", 10);
    let planned = plan(&event, 1, START);
    backend
        .accept(&event, &planned, KEEP)
        .await
        .expect("stored");
    for life in 1..=2 {
        let attempt = go(&backend, &planned[0]).await;
        assert_eq!(attempt.number, 1, "life {life}");
        let record = delivered(&attempt);
        let recorded = backend
            .record(&attempt, &record, Next::Delivered, KEEP)
            .await;
        assert_eq!(recorded.expect("recorded"), Recorded::First, "life {life}");
        ground.give_another_life(&event.id).await;
    }
    let log = ground
        .attribute(&planned[0].key, "log")
        .await
        .expect("kept");
    assert_eq!(
        log.matches("duration_ms").count(),
        1,
        "of the second life alone"
    );
    let life = ground.attribute(&planned[0].key, "lf").await;
    assert_eq!(life.as_deref(), Some("another"));
}

#[tokio::test]
async fn an_event_that_takes_the_place_of_one_past_its_life_leaves_nothing_of_it() {
    let ground = Ground::new().await;
    let backend = ground.open();
    let first = event("1001", 10);
    let planned = plan(&first, 2, START);
    backend
        .accept(&first, &planned, KEEP)
        .await
        .expect("stored");
    backend
        .accept(&first, &planned, KEEP)
        .await
        .expect("counted");
    for queued in &planned {
        let attempt = go(&backend, queued).await;
        let record = delivered(&attempt);
        let recorded = backend
            .record(&attempt, &record, Next::Delivered, KEEP)
            .await;
        recorded.expect("recorded");
    }
    assert_eq!(ground.sorts(&first.id, "").await.len(), 4, "with a repeat");
    let again = Event {
        received_at: KEEP.until(START).plus(Duration::from_secs(1)),
        ..first
    };
    let accepted = backend.accept(&again, &[], KEEP).await;
    assert_eq!(accepted.expect("stored"), Accepted::New);
    assert_eq!(ground.sorts(&again.id, "").await, ["A"]);
}
