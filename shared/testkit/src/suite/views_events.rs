//! `Views::events` and `event`: what operators read of events and their deliveries.
//!
//! Taken to mean: a search finds a sender's id only whole and byte for byte, in any scope. A delivery that does not
//! wait has no due time. A state that no delivery is in may stand with 0 or not at all.

use std::collections::BTreeMap;

use switchboard_core::delivery::{DeathReason, Next, State};
use switchboard_core::event::Event;
use switchboard_core::identity::{EventId, Run};
use switchboard_core::ports::{Accepted, Selection, Views};
use switchboard_core::views::{EventRow, EventSearch};

use super::fixture::Fixture;
use super::sample::{
    KEEP, MANY, START, after, again_at, delivered, event, plan, rejected, sender_id, source,
    with_body,
};
use super::stage::{Stage, sure};

fn search(from: Option<&str>, id: Option<&str>) -> EventSearch {
    EventSearch {
        source: from.map(source),
        sender_id: id.map(str::to_owned),
        ..EventSearch::default()
    }
}

/// An event's deliveries by state, without states that none is in.
pub(crate) fn by_state(row: &EventRow) -> BTreeMap<&'static str, u64> {
    let mut states = row.deliveries.clone();
    states.retain(|_, count| *count > 0);
    states
}

pub async fn events_are_listed_newest_first<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let mut expected = Vec::new();
    for n in 0..25_u64 {
        let from = if n % 2 == 0 { "shop" } else { "code" };
        let event = event(from, &n.to_string(), after(n));
        assert_eq!(stage.accept(&event, &[]).await, Accepted::New);
        expected.insert(0, event.id.clone());
    }
    // A repeat does not bring an event to the front.
    let first = event("shop", "0", after(100));
    stage.accept(&first, &[]).await;
    let list = stage.search(&EventSearch::default()).await;
    let ids: Vec<_> = list.into_iter().map(|row| row.event).collect();
    assert_eq!(ids, expected);
}

pub async fn a_row_tells_what_its_event_is<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let event = with_body(&event("shop", "1001", after(3)), "é".repeat(100));
    let plan = plan(&event, Run(0), &["a", "b", "c", "d"], after(3));
    stage.accept(&event, &plan).await;
    stage.accept(&again_at(&event, after(4)), &plan).await;
    for (queued, next) in plan.iter().zip([
        Next::Waiting(after(9)),
        Next::Dead(DeathReason::AttemptsUsedUp),
    ]) {
        stage.fail(&queued.key, after(3), next).await;
    }
    stage.hold("c", after(3)).await;
    let rows = stage.search(&EventSearch::default()).await;
    let [row] = rows.as_slice() else {
        panic!("one event");
    };
    let states = BTreeMap::from([("waiting", 2), ("dead", 1), ("held", 1)]);
    assert_eq!(by_state(row), states);
    assert_eq!(row.event, event.id);
    assert_eq!(row.source, event.source);
    assert_eq!(row.sender_id, "1001");
    assert_eq!(row.kind, event.kind);
    assert_eq!((row.at, row.body_length, row.repeats), (after(3), 200, 1));
    assert_eq!(stage.stored(&event.id).await.row, *row, "the same in both");
}

pub async fn events_are_found_by_source_and_by_senders_id<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    for (from, id) in [
        ("shop", "1001"),
        ("shop", "1002"),
        ("code", "1001"),
        ("code", "10"),
    ] {
        stage.accept(&event(from, id, START), &[]).await;
    }
    let id = sender_id("1001").within("hook-1");
    let scoped = Event {
        id: EventId::of(&source("code"), &id),
        sender_id: id,
        ..event("code", "1001", START)
    };
    stage.accept(&scoped, &[]).await;
    for (from, id, expected) in [
        (None, None, 5),
        (Some("shop"), None, 2),
        (Some("code"), None, 3),
        (Some("forms"), None, 0),
        (None, Some("1001"), 3),
        (Some("code"), Some("1001"), 2),
        (Some("shop"), Some("1001"), 1),
        (Some("forms"), Some("1001"), 0),
        (None, Some("100"), 0),
        (None, Some("10"), 1),
        (None, Some("1001 "), 0),
        (None, Some(""), 0),
    ] {
        let found = stage.search(&search(from, id)).await;
        assert_eq!(found.len(), expected, "{from:?} {id:?}");
        assert!(
            found
                .iter()
                .all(|row| from.is_none_or(|f| row.source.as_str() == f))
        );
        assert!(
            found
                .iter()
                .all(|row| id.is_none_or(|id| row.sender_id == id))
        );
    }
}

pub async fn a_search_takes_every_character_as_itself<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let long = "i".repeat(1024);
    let ids = [
        "%", "_", "a_b", "axb", "a%b", "A%B", "'", "\"", "a\0b", "a", "*", "?", "é", "E\u{301}",
        "\u{2028}", "🦀", &long,
    ];
    for (n, id) in (0..).zip(ids) {
        stage.accept(&event("shop", id, after(n)), &[]).await;
    }
    for id in ids {
        for from in [None, Some("shop")] {
            let found = stage.search(&search(from, Some(id))).await;
            let found: Vec<_> = found.iter().map(|row| row.sender_id.as_str()).collect();
            assert_eq!(found, [id], "{from:?}");
        }
    }
}

pub async fn a_search_for_much_too_much_finds_nothing<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    stage.accept(&event("shop", "1001", START), &[]).await;
    let long = "x".repeat(100_000);
    assert_eq!(stage.search(&search(None, Some(&long))).await, []);
}

pub async fn an_unknown_event_has_no_view<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    stage.one("shop", "1001", "chat", START).await;
    let unknown = event("shop", "1002", START);
    assert_eq!(stage.event(&unknown.id).await, None);
}

pub async fn an_event_is_seen_whole_with_its_deliveries<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let event = event("shop", "1001", START);
    let accepted = plan(&event, Run(0), &["a", "b", "c", "d"], START);
    stage.accept(&event, &accepted).await;
    stage.accept(&with_body(&event, "other"), &accepted).await;
    let [a, b, c, d] = accepted.as_slice() else {
        panic!("four planned");
    };
    let first = stage.fail(&a.key, START, Next::Waiting(after(2))).await;
    stage.fail(&a.key, after(2), Next::Waiting(after(6))).await;
    let dead = Next::Dead(DeathReason::AttemptsUsedUp);
    stage.fail(&b.key, START, dead).await;
    stage.hold("c", START).await;
    let done = stage.go(&d.key, START).await;
    let success = delivered(&done, after(1));
    stage.record(&done, &success, Next::Delivered).await;
    let run = plan(&event, Run(1), &["d"], after(9));
    assert!(stage.replay(&event.id, Run(1), &run).await);
    let replayed = run.first().expect("planned");

    let view = stage.stored(&event.id).await;
    assert_eq!((view.row.repeats, view.repeats_with_other_body), (1, 1));
    assert_eq!(view.kept_until, KEEP.until_when_dead(START));
    let states = BTreeMap::from([("waiting", 2), ("dead", 1), ("held", 1), ("delivered", 1)]);
    assert_eq!(by_state(&view.row), states);
    assert_eq!(view.deliveries.len(), 5);
    for (key, state, due, attempts) in [
        (&a.key, State::Waiting, Some(after(6)), 2),
        (&b.key, State::Dead, None, 1),
        (&c.key, State::Held, None, 0),
        (&d.key, State::Delivered, None, 1),
        (&replayed.key, State::Waiting, Some(after(9)), 0),
    ] {
        let found = stage.stands(&event.id, key).await;
        assert_eq!(
            (found.state, found.due),
            (state, due),
            "{}",
            key.destination
        );
        assert_eq!(found.attempts, attempts);
        assert_eq!(found.reason.is_some(), state == State::Dead);
        assert_eq!(
            (&found.destination, &found.action, found.run),
            (&key.destination, &key.action, key.run)
        );
        assert_eq!(found.log.len(), attempts as usize);
    }
    let log = stage.stands(&event.id, &a.key).await.log;
    assert_eq!(log.first(), Some(&rejected(&first, START)));
    assert_eq!(stage.stands(&event.id, &d.key).await.log, [success]);
}

pub async fn an_event_comes_back_as_it_was_stored<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let bytes: Vec<u8> = (0..=255).collect();
    let scoped = sender_id("1001").within("hook-1");
    let small = Event {
        id: EventId::of(&source("code"), &scoped),
        sender_id: scoped,
        ..with_body(&event("code", "1001", after(3)), bytes)
    };
    let large = with_body(&event("shop", "1001", after(4)), vec![7; 900_000]);
    let empty = with_body(&event("shop", "1002", after(5)), "");
    for event in [&small, &large, &empty] {
        let plan = plan(event, Run(0), &["chat"], START);
        stage.accept(event, &plan).await;
        // What comes again changes nothing of it.
        stage.accept(&with_body(event, "other"), &plan).await;
    }
    let stage = stage.reopened().await;
    for event in [&small, &large, &empty] {
        let found = sure(stage.backend().stored(&event.id).await);
        assert!(found.as_ref() == Some(event), "{}", event.id);
    }
    let unknown = sure(stage.backend().stored(&event("shop", "9", START).id).await);
    assert_eq!(unknown, None);
}

pub async fn dead_letters_are_listed_newest_first<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let mut expected = Vec::new();
    for n in 0..12_u64 {
        let to = if n % 2 == 0 { "chat" } else { "crm" };
        // The later it came, the earlier it dies.
        let due = after(100 - n);
        expected.push(stage.one("shop", &n.to_string(), to, due).await);
    }
    let mut died = Vec::new();
    for followed in expected.iter().rev() {
        stage.die(followed, followed.due).await;
        died.insert(0, followed.key.id.clone());
    }
    let list = stage.dead_letters().await;
    assert!(list.is_sorted_by(|a, b| a.at >= b.at), "newest first");
    let ids: Vec<_> = list.into_iter().map(|letter| letter.delivery).collect();
    assert_eq!(ids, died);
    // One that dies again is the newest.
    let again = expected.last().expect("twelve");
    let list = Selection::Dead(vec![again.key.id.clone()]);
    stage.requeue(&list, after(500), MANY).await;
    stage.die(again, after(500)).await;
    let newest = stage.dead_letters().await.into_iter().next();
    assert_eq!(
        newest.map(|letter| letter.delivery),
        Some(again.key.id.clone())
    );
}
