//! Bodies of every size: whole when an attempt begins, and gone with their event.

use std::time::Duration;

use switchboard_core::delivery::Next;
use switchboard_core::ports::{Accepted, Ledger, SameBody, Views};

use crate::ground::Ground;
use crate::sample::{KEEP, delivered, event, go, hints, plan};
use crate::support::START;

#[tokio::test]
async fn a_body_of_four_mebibytes_is_whole_when_its_attempt_begins() {
    let ground = Ground::new().await;
    let backend = ground.open();
    for length in [0, 16_000, 349_000, 350_001, 4 << 20] {
        let event = event(&length.to_string(), length);
        let plan = plan(&event, 1, START);
        let accepted = backend.accept(&event, &plan, KEEP).await;
        assert_eq!(accepted.expect("stored"), Accepted::New, "{length}");
        let attempt = go(&ground.open(), plan.first().expect("planned")).await;
        assert!(attempt.event.body == event.body, "{length} bytes");
        let stored = backend.stored(&event.id).await.expect("read");
        assert!(stored == Some(event.clone()), "{length} bytes");
        let again = backend.accept(&event, &plan, KEEP).await;
        let repeat = Accepted::Repeat(SameBody::Yes);
        assert_eq!(again.expect("counted"), repeat, "{length}");
    }
}

#[tokio::test]
async fn a_repeat_of_a_big_event_writes_no_part_and_expiry_leaves_none() {
    let ground = Ground::new().await;
    let backend = ground.open();
    let event = event("1001", 1_000_000);
    let planned = plan(&event, 1, START);
    backend
        .accept(&event, &planned, KEEP)
        .await
        .expect("stored");
    assert_eq!(ground.sorts(&event.id, "B#").await.len(), 3);
    for _ in 0..2 {
        let again = backend.accept(&event, &planned, KEEP).await;
        again.expect("counted");
    }
    assert_eq!(ground.sorts(&event.id, "B#").await.len(), 3);
    let attempt = go(&backend, planned.first().expect("planned")).await;
    let record = delivered(&attempt);
    let recorded = backend
        .record(&attempt, &record, Next::Delivered, KEEP)
        .await;
    recorded.expect("recorded");
    let past = KEEP.until(START).plus(Duration::from_secs(1));
    let moved = backend.expire(past, 10).await.expect("expired");
    assert_eq!(moved.done, 1);
    assert_eq!(ground.sorts(&event.id, "").await, [""; 0]);
}

#[tokio::test]
async fn a_hint_over_the_budget_carries_no_event_and_is_attempted_all_the_same() {
    let ground = Ground::new().await;
    let backend = ground.open();
    for (length, carried) in [(8_000, true), (16_384, false)] {
        let event = event(&length.to_string(), length);
        let plan = plan(&event, 1, START);
        backend.accept(&event, &plan, KEEP).await.expect("stored");
        let hints = hints(&ground.clients, &ground.place.deliveries).await;
        let [hint] = hints.as_slice() else {
            panic!("one hint, not {}", hints.len());
        };
        assert_eq!(hint.event.is_some(), carried, "{length} bytes");
        let begun = backend.begin_message(hint, 1, START).await.expect("begun");
        let switchboard_core::ports::Begun::Go(attempt) = begun else {
            panic!("it is due");
        };
        assert!(*attempt.event == event, "{length} bytes");
    }
}
