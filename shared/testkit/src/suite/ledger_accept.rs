//! `Ledger::accept`: an event is stored once, with its plan, whoever sends it again and however often.
//!
//! Taken to mean: `Ok` with `Repeat` says the same for a repeat of one's own call whose answer was lost. A repeat
//! that differs in kind or headers only is a repeat with the same body. A repeat's plan is passed over.

use std::collections::BTreeSet;

use bytes::Bytes;
use switchboard_core::delivery::{DeathReason, Next, State};
use switchboard_core::event::Event;
use switchboard_core::identity::{EventId, Run};
use switchboard_core::names::SenderId;
use switchboard_core::names::YOUR_ENDPOINT;
use switchboard_core::ports::{Accepted, Begun, Ledger, Queued, SameBody};
use switchboard_core::time::Timestamp;
use switchboard_core::views::{EventSearch, EventView, Totals};

use super::fixture::Fixture;
use super::sample::{
    KEEP, START, after, again_at, event, hint, kind, plan, queued, sender_id, source, with_body,
};
use super::stage::{Stage, sure};

const YES: Accepted = Accepted::Repeat(SameBody::Yes);
const NO: Accepted = Accepted::Repeat(SameBody::No);

fn routed(id: &str) -> (Event, Vec<Queued>) {
    let event = event("shop", id, START);
    let plan = plan(&event, Run(0), &["accounting", "chat"], START);
    (event, plan)
}

pub async fn an_event_is_new_once_and_a_repeat_from_then_on<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let (event, plan) = routed("1001");
    assert_eq!(stage.accept(&event, &plan).await, Accepted::New);
    for n in 1..5 {
        let again = again_at(&event, after(n));
        assert_eq!(stage.accept(&again, &plan).await, YES, "repeat {n}");
        let totals = stage.totals().await;
        let numbers = (totals.received, totals.stored, totals.repeats);
        assert_eq!(numbers, (n + 1, 1, n), "received = stored + repeats");
        assert_eq!(totals.waiting, 2, "a repeat adds no delivery");
    }
    let view = stage.stored(&event.id).await;
    assert_eq!((view.row.repeats, view.repeats_with_other_body), (4, 0));
    assert_eq!(
        view.row.at, START,
        "the event is dated by its first receipt"
    );
}

pub async fn a_repeat_with_another_body_is_told_and_the_first_stays<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let (event, plan) = routed("1001");
    assert_eq!(stage.accept(&event, &plan).await, Accepted::New);
    let other = with_body(&event, "{\"id\":\"other\"}");
    assert_eq!(stage.accept(&other, &plan).await, NO);
    let empty = with_body(&event, Bytes::new());
    assert_eq!(stage.accept(&empty, &plan).await, NO);
    let renamed = Event {
        kind: kind("orders/updated"),
        ..event.clone()
    };
    assert_eq!(stage.accept(&renamed, &plan).await, YES, "the body counts");

    let attempt = stage.go(&plan.first().expect("planned").key, START).await;
    assert_eq!(*attempt.event, event, "the first stays");
    let view = stage.stored(&event.id).await;
    assert_eq!((view.row.repeats, view.repeats_with_other_body), (3, 2));
    let totals = stage.totals().await;
    assert_eq!((totals.repeats, totals.repeats_with_other_body), (3, 2));
    let shop = stage.overview().await.sources.remove(&source("shop"));
    let shop = shop.expect("the source's totals");
    assert_eq!((shop.repeats, shop.repeats_with_other_body), (3, 2));
}

pub async fn fifty_at_once_are_one_new_event_and_forty_nine_repeats<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let (event, plan) = routed("1001");
    let call = (event.clone(), plan.clone());
    let answers = stage
        .at_once(50, move |backend, _| {
            let (event, plan) = call.clone();
            async move { sure(backend.accept(&event, &plan, KEEP).await) }
        })
        .await;
    let new = answers.iter().filter(|a| **a == Accepted::New).count();
    let repeats = answers.iter().filter(|a| **a == YES).count();
    assert_eq!((new, repeats), (1, 49));
    let totals = stage.totals().await;
    assert_eq!((totals.received, totals.stored), (50, 1));
    assert_eq!(totals.waiting, 2, "one delivery for each destination");
    assert_eq!(stage.stored(&event.id).await.deliveries.len(), 2);
}

pub async fn fifty_different_events_at_once_are_all_new<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let answers = stage
        .at_once(50, |backend, n| async move {
            let (event, plan) = routed(&n.to_string());
            sure(backend.accept(&event, &plan, KEEP).await)
        })
        .await;
    assert!(answers.iter().all(|answer| *answer == Accepted::New));
    let totals = stage.totals().await;
    assert_eq!((totals.stored, totals.waiting), (50, 100));
    assert_eq!(stage.search(&EventSearch::default()).await.len(), 50);
}

pub async fn every_delivery_of_the_plan_waits_for_its_own_due_time<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let event = event("shop", "1001", START);
    let planned = |to, action, millis| {
        let due = Timestamp::from_millis(START.millis() + millis);
        queued(&event, to, action, Run(0), due)
    };
    let plan = [
        planned("accounting", "make-invoice", 0),
        planned("accounting", "file", 1),
        planned("chat", "post-line", 1_999),
        planned("your-endpoint", "copy", 86_400_000),
    ];
    assert_eq!(stage.accept(&event, &plan).await, Accepted::New);
    let view = stage.stored(&event.id).await;
    assert_eq!(view.deliveries.len(), plan.len());
    for Queued { key, due } in &plan {
        let found = stage.stands(&event.id, key).await;
        assert_eq!(
            (found.destination, found.action, found.run),
            (key.destination.clone(), key.action.clone(), key.run)
        );
        assert_eq!((found.state, found.due), (State::Waiting, Some(*due)));
        assert_eq!((found.attempts, found.log), (0, vec![]));
        let attempt = stage.go(key, *due).await;
        assert_eq!((&attempt.key, attempt.number), (key, 1));
    }
}

pub async fn a_long_plan_is_stored_whole<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let event = event("shop", "1001", START);
    let names: Vec<String> = (0..50).map(|n| format!("to-{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let plan = plan(&event, Run(0), &names, START);
    assert_eq!(stage.accept(&event, &plan).await, Accepted::New);
    assert_eq!(stage.totals().await.waiting, 50);
    for queued in &plan {
        let view = stage.stands(&event.id, &queued.key).await;
        assert_eq!(view.state, State::Waiting, "{}", queued.key.destination);
        stage.go(&queued.key, START).await;
    }
}

pub async fn an_event_that_no_route_names_is_stored_and_counted_unrouted<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let event = event("shop", "1001", START);
    assert_eq!(stage.accept(&event, &[]).await, Accepted::New);
    assert_eq!(stage.accept(&event, &[]).await, YES);
    assert_eq!(stage.stored(&event.id).await.deliveries, []);
    let expected = Totals {
        received: 2,
        stored: 1,
        repeats: 1,
        unrouted: 1,
        ..Totals::default()
    };
    let overview = stage.overview().await;
    assert_eq!(overview.totals, expected);
    let shop = overview.sources.get(&source("shop")).expect("its totals");
    assert_eq!((shop.stored, shop.unrouted), (1, 1));
}

pub async fn a_copy_to_your_endpoint_is_no_route<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    stage.one("shop", "1", YOUR_ENDPOINT, START).await;
    stage.one("shop", "2", "chat", START).await;
    let routed_and_copied = event("shop", "3", START);
    let both = plan(&routed_and_copied, Run(0), &["chat", YOUR_ENDPOINT], START);
    stage.accept(&routed_and_copied, &both).await;
    assert_eq!(stage.totals().await.unrouted, 1, "only the first");
}

pub async fn a_repeat_does_not_change_the_plan<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let (event, first) = routed("1001");
    assert_eq!(stage.accept(&event, &first).await, Accepted::New);
    let todays = plan(&event, Run(0), &["accounting", "warehouse"], after(9));
    assert_eq!(stage.accept(&event, &todays).await, YES);
    assert_eq!(stage.accept(&event, &[]).await, YES);
    let view = stage.stored(&event.id).await;
    let ids: BTreeSet<_> = view.deliveries.into_iter().map(|d| d.delivery).collect();
    let expected: BTreeSet<_> = first.iter().map(|q| q.key.id.clone()).collect();
    assert_eq!(ids, expected, "the plan is frozen");
    for queued in &first {
        stage.go(&queued.key, START).await;
    }
    assert_eq!(stage.totals().await.unrouted, 0);
}

pub async fn a_repeat_moves_no_delivery<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let event = event("shop", "1001", START);
    let plan = plan(&event, Run(0), &["a", "b", "c"], START);
    assert_eq!(stage.accept(&event, &plan).await, Accepted::New);
    let [a, b, c] = plan.as_slice() else {
        panic!("three planned");
    };
    stage.fail(&a.key, START, Next::Waiting(after(2))).await;
    let dead = Next::Dead(DeathReason::AttemptsUsedUp);
    stage.fail(&b.key, START, dead).await;
    stage.hold("c", START).await;
    let before = stage.stored(&event.id).await;
    assert_eq!(stage.accept(&event, &plan).await, YES);
    let now = stage.stored(&event.id).await;
    for key in [&a.key, &b.key, &c.key] {
        let of = |view: &EventView| {
            let mut all = view.deliveries.iter();
            all.find(|d| d.delivery == key.id).cloned()
        };
        assert_eq!(of(&now), of(&before), "{}", key.destination);
    }
}

pub async fn the_same_id_of_another_source_or_scope_is_another_event<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let of = |from: &str, id: SenderId| Event {
        id: EventId::of(&source(from), &id),
        source: source(from),
        sender_id: id,
        ..event("shop", "1001", START)
    };
    let id = sender_id("1001");
    let events = [
        of("shop", id.clone()),
        of("code", id.clone()),
        of("code", id.clone().within("hook-1")),
        of("code", id.clone().within("hook-2")),
        of("code", id.within("")),
    ];
    for event in &events {
        let plan = plan(event, Run(0), &["chat"], START);
        assert_eq!(stage.accept(event, &plan).await, Accepted::New);
    }
    for event in &events {
        assert_eq!(stage.accept(event, &[]).await, YES);
    }
    assert_eq!(stage.totals().await.waiting, 5);
}

pub async fn different_ids_with_the_same_body_are_different_events<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    for (n, body) in ["same", "same", "", ""].into_iter().enumerate() {
        let event = with_body(&event("forms", &n.to_string(), START), body);
        assert_eq!(stage.accept(&event, &[]).await, Accepted::New, "{n}");
    }
    assert_eq!(stage.totals().await.stored, 4);
}

pub async fn ids_that_differ_only_in_separators_never_meet<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let long = "i".repeat(1024);
    let ids = [
        "a", "a ", " a", "A", "a/b", "a#b", "a:b", "a|b", "a\0b", "a\0", "ab", "a%", "a_", "a'b",
        "é", "e\u{301}", "🦀", &long,
    ];
    for id in ids {
        let event = event("shop", id, START);
        let plan = plan(&event, Run(0), &["chat"], START);
        assert_eq!(stage.accept(&event, &plan).await, Accepted::New, "{id:?}");
        let key = &plan.first().expect("planned").key;
        let Begun::Go(attempt) = stage.begin(&hint(key, START), START).await else {
            panic!("{id:?} is due");
        };
        assert_eq!(attempt.event.sender_id.as_str(), id);
        assert_eq!(stage.stored(&event.id).await.row.sender_id, id);
    }
}
