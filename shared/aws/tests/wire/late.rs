//! What comes too late: a setting that changes while a step goes by it, and what an earlier life of an event left.

use std::sync::mpsc;
use std::time::Duration;

use switchboard_aws::message::Message;
use switchboard_core::address::{Address, Networks};
use switchboard_core::attempt::Attempt;
use switchboard_core::delivery::{DeathReason, DeliveryKey, Next};
use switchboard_core::endpoint::{Change, KEY_BYTES, fresh_secret};
use switchboard_core::event::Event;
use switchboard_core::identity::Run;
use switchboard_core::names::{ActionName, DestinationName};
use switchboard_core::ports::{
    Accepted, Begun, Keep, Ledger, Moved, Queued, Recorded, Selection, SettingsStore, Spread,
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
async fn a_held_delivery_of_an_earlier_life_is_removed_and_not_released() {
    let ground = Ground::new().await;
    let backend = ground.open();
    let event = event("1001", 10);
    let planned = plan(&event, 1, START);
    backend
        .accept(&event, &planned, KEEP)
        .await
        .expect("stored");
    let to = &planned[0].key.destination;
    backend
        .change(Change::Hold(to.clone()))
        .await
        .expect("held");
    let held = backend.shelve(to, START, KEEP, 10).await;
    assert_eq!(held.expect("shelved").done, 1);
    hints(&ground.clients, &ground.place.deliveries).await;
    ground.give_another_life(&event.id).await;
    let spread = Spread {
        start: START,
        per_second: 10,
    };
    backend
        .change(Change::Release(to.clone(), spread))
        .await
        .expect("released");
    let moved = backend.release(to, START, 10).await;
    assert_eq!(moved.expect("an answer").done, 0);
    assert_eq!(ground.sorts(&event.id, "D#").await, [""; 0]);
    let hints = hints(&ground.clients, &ground.place.deliveries).await;
    assert_eq!(hints.len(), 0, "it has none");
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

/// An event that is kept for a week, delivered, and stored and delivered once more when the week was over; and its very first
/// hint, which is still on its way.
async fn stored_twice(ground: &Ground) -> (Message, Attempt, Queued) {
    let keep = Keep { days: 7 };
    let backend = ground.open();
    let first = event("1001", 10);
    let planned = plan(&first, 1, START);
    let accepted = backend.accept(&first, &planned, keep).await;
    accepted.expect("stored");
    let hint = hints(&ground.clients, &ground.place.deliveries)
        .await
        .remove(0);
    let begun = ground.open().begin_message(&hint, 1, START).await;
    let Begun::Go(under_way) = begun.expect("begun") else {
        panic!("it is due");
    };
    let over = keep.until(START).plus(Duration::from_secs(1));
    let again = Event {
        received_at: over,
        ..first
    };
    let anew = plan(&again, 1, over);
    for (queued, stored_anew) in [(&planned[0], false), (&anew[0], true)] {
        if stored_anew {
            let accepted = backend.accept(&again, &anew, keep).await;
            assert_eq!(accepted.expect("stored"), Accepted::New);
        }
        let attempt = go(&backend, queued).await;
        let record = delivered(&attempt);
        let recorded = backend.record(&attempt, &record, Next::Delivered, keep);
        assert_eq!(recorded.await.expect("recorded"), Recorded::First);
    }
    (hint, *under_way, anew[0].clone())
}

#[tokio::test]
async fn a_first_hint_that_is_older_than_its_events_life_is_dropped() {
    let ground = Ground::new().await;
    let (hint, _, anew) = stored_twice(&ground).await;
    let begun = ground.open().begin_message(&hint, 1, anew.due).await;
    assert_eq!(begun.expect("begun"), Begun::Drop);
    // A hint of the life before is none of this one, whatever its due time.
    let same_due = Message {
        due: anew.due,
        ..hint
    };
    ground.give_another_life(&same_due.key.event).await;
    let begun = ground.open().begin_message(&same_due, 2, anew.due).await;
    assert_eq!(begun.expect("begun"), Begun::Drop);
}

#[tokio::test]
async fn an_attempt_of_an_earlier_life_is_stale_and_leaves_the_later_record() {
    let ground = Ground::new().await;
    let (hint, under_way, anew) = stored_twice(&ground).await;
    let before = ground.attribute(&anew.key, "tok").await;
    // The process that began it stood still meanwhile.
    let frozen = ground.open();
    let begun = frozen.begin_message(&hint, 1, START).await;
    assert!(matches!(begun.expect("begun"), Begun::Go(_)));
    for next in [Next::Delivered, Next::Waiting(START)] {
        let record = match next {
            Next::Delivered => delivered(&under_way),
            Next::Waiting(_) | Next::Dead(_) => unanswered(&under_way),
        };
        let recorded = frozen.record(&under_way, &record, next, KEEP).await;
        assert_eq!(recorded.expect("an answer"), Recorded::Stale, "{next:?}");
    }
    assert_eq!(ground.attribute(&anew.key, "tok").await, before);
}
