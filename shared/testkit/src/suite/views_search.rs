//! `Views::events` narrowed: by kind, state, destination and time, and how far a page looks that no index answers.
//!
//! Taken to mean: a page of what an index finds may look at more than it lists, and at no more than the bound. A page may
//! list nothing and still have a next one. `back_to` is told exactly where there is a next page.

use switchboard_core::delivery::{DeathReason, Next, State};
use switchboard_core::event::Event;
use switchboard_core::identity::{EventId, Run};
use switchboard_core::ports::{Accepted, Views};
use switchboard_core::time::Timestamp;
use switchboard_core::views::{EventSearch, LOOKED_AT, PageAsk};

use super::fixture::Fixture;
use super::sample::{KEEP, START, after, destination, event, kind, plan, source};
use super::stage::{Followed, Stage, sure};

fn any() -> EventSearch {
    EventSearch::default()
}

/// The ids of the senders of what is found, newest first.
async fn ids<F: Fixture>(stage: &Stage<F>, search: &EventSearch) -> Vec<String> {
    let found = stage.search(search).await;
    found.into_iter().map(|row| row.sender_id).collect()
}

fn of_kind(event: Event, name: &str) -> Event {
    Event {
        kind: kind(name),
        ..event
    }
}

pub async fn events_are_found_by_kind_byte_for_byte<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let kinds = ["push", "Push", "push ", "", "%", "a\0b", "é", "E\u{301}"];
    for (n, name) in (0_u64..).zip(kinds) {
        let event = event("shop", &n.to_string(), after(n));
        stage.accept(&of_kind(event, name), &[]).await;
    }
    for (n, name) in (0_u64..).zip(kinds) {
        let search = EventSearch {
            kind: Some(kind(name)),
            ..any()
        };
        assert_eq!(ids(&stage, &search).await, [n.to_string()], "{name:?}");
    }
}

/// An event with a delivery to each of `to`.
async fn planned<F: Fixture>(stage: &Stage<F>, id: &str, to: &[&str]) -> Vec<Followed> {
    let event = event("shop", id, START);
    let plan = plan(&event, Run(0), to, START);
    assert_eq!(stage.accept(&event, &plan).await, Accepted::New);
    let follow = |queued: switchboard_core::ports::Queued| Followed {
        event: event.clone(),
        key: queued.key,
        due: queued.due,
    };
    plan.into_iter().map(follow).collect()
}

pub async fn events_are_found_by_state_and_destination<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let one = planned(&stage, "1", &["chat", "crm"]).await;
    let [chat, crm] = one.as_slice() else {
        panic!("two planned");
    };
    stage.deliver(chat, START).await;
    stage
        .fail(&crm.key, START, Next::Dead(DeathReason::AttemptsUsedUp))
        .await;
    let two = planned(&stage, "2", &["crm"]).await;
    stage.deliver(two.first().expect("planned"), START).await;
    planned(&stage, "3", &["chat"]).await;
    planned(&stage, "4", &["warehouse"]).await;
    stage.hold("warehouse", START).await;
    planned(&stage, "5", &[]).await;
    for (state, to, expected) in [
        (None, None, ["1", "2", "3", "4", "5"].as_slice()),
        (Some(State::Delivered), None, &["1", "2"]),
        (Some(State::Dead), None, &["1"]),
        (Some(State::Waiting), None, &["3"]),
        (Some(State::Held), None, &["4"]),
        (None, Some("chat"), &["1", "3"]),
        (None, Some("crm"), &["1", "2"]),
        (None, Some("forms"), &[]),
        // One delivery has to be both.
        (Some(State::Delivered), Some("crm"), &["2"]),
        (Some(State::Dead), Some("chat"), &[]),
        (Some(State::Dead), Some("crm"), &["1"]),
    ] {
        let search = EventSearch {
            state,
            destination: to.map(destination),
            ..any()
        };
        let mut found = ids(&stage, &search).await;
        found.sort_unstable();
        assert_eq!(found, expected, "{state:?} {to:?}");
    }
}

pub async fn what_a_replay_planned_is_found_too<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let one = planned(&stage, "1", &["chat"]).await;
    let one = one.first().expect("planned");
    stage.deliver(one, START).await;
    let search = EventSearch {
        state: Some(State::Waiting),
        destination: Some(destination("crm")),
        ..any()
    };
    assert_eq!(stage.search(&search).await, []);
    let run = plan(&one.event, Run(1), &["crm"], after(9));
    assert!(stage.replay(&one.event.id, Run(1), &run).await);
    assert_eq!(ids(&stage, &search).await, ["1"]);
}

pub async fn events_are_found_by_time<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let millis = |n: i64| Timestamp::from_millis(START.millis() + n);
    for (n, from) in (0..6).zip(["shop", "code"].into_iter().cycle()) {
        stage
            .accept(&event(from, &n.to_string(), millis(n)), &[])
            .await;
    }
    // A span of time is told by when events were received, in whatever order they were stored.
    stage.accept(&event("shop", "late", millis(2)), &[]).await;
    for (from, until, of, expected) in [
        (
            None,
            None,
            None,
            ["0", "1", "2", "3", "4", "5", "late"].as_slice(),
        ),
        (Some(2), None, None, &["2", "3", "4", "5", "late"]),
        (None, Some(2), None, &["0", "1"]),
        (Some(2), Some(3), None, &["2", "late"]),
        (Some(2), Some(2), None, &[]),
        (Some(3), Some(2), None, &[]),
        (Some(6), None, None, &[]),
        (Some(1), Some(4), Some("shop"), &["2", "late"]),
        (Some(1), Some(4), Some("code"), &["1", "3"]),
    ] {
        let search = EventSearch {
            source: of.map(source),
            from: from.map(millis),
            until: until.map(millis),
            ..any()
        };
        let mut found = ids(&stage, &search).await;
        found.sort_unstable();
        assert_eq!(found, expected, "{from:?} to {until:?} of {of:?}");
    }
    let whole_time = EventSearch {
        from: Some(Timestamp::from_millis(i64::MIN)),
        until: Some(Timestamp::from_millis(i64::MAX)),
        ..any()
    };
    assert_eq!(stage.search(&whole_time).await.len(), 7);
}

pub async fn all_of_a_search_has_to_apply<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let one = planned(&stage, "1", &["chat"]).await;
    let one = one.first().expect("planned");
    stage.deliver(one, START).await;
    let whole = EventSearch {
        source: Some(source("shop")),
        kind: Some(one.event.kind.clone()),
        sender_id: Some("1".to_owned()),
        state: Some(State::Delivered),
        destination: Some(destination("chat")),
        from: Some(START),
        until: Some(after(1)),
    };
    assert_eq!(ids(&stage, &whole).await, ["1"]);
    let set = |change: fn(&mut EventSearch)| {
        let mut search = whole.clone();
        change(&mut search);
        search
    };
    for other in [
        set(|search| search.source = Some(source("code"))),
        set(|search| search.kind = Some(kind("push"))),
        set(|search| search.sender_id = Some("2".to_owned())),
        set(|search| search.state = Some(State::Dead)),
        set(|search| search.destination = Some(destination("crm"))),
        set(|search| search.from = Some(after(1))),
        set(|search| search.until = Some(START)),
    ] {
        assert_eq!(stage.search(&other).await, [], "{other:?}");
    }
}

pub async fn a_page_says_how_far_it_looked<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    for n in 0..10_u64 {
        let event = event("shop", &n.to_string(), after(n));
        stage.accept(&event, &[]).await;
    }
    stage.settled().await;
    let first = PageAsk {
        after: None,
        limit: 4,
    };
    let part = sure(stage.backend().events(&any(), &first).await);
    assert_eq!(part.page.items.len(), 4);
    assert_eq!(part.looked.back_to, Some(after(6)), "the last of the page");
    let rest = PageAsk {
        after: part.page.next,
        limit: 100,
    };
    let part = sure(stage.backend().events(&any(), &rest).await);
    assert_eq!((part.page.items.len(), part.page.next), (6, None));
    assert_eq!(part.looked.back_to, None, "that is all");
}

pub async fn a_search_that_no_index_answers_looks_at_so_many_for_a_page<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let wanted = of_kind(event("shop", "wanted", START), "rare");
    stage.accept(&wanted, &[]).await;
    let more = u64::from(LOOKED_AT) + 20;
    let mut stored: u64 = 0;
    while stored < more {
        let base = stored;
        stage
            .at_once(60, move |backend, n| async move {
                use switchboard_core::ports::Ledger;
                let n = base + u64::from(n);
                let event = event("shop", &n.to_string(), after(1 + n));
                sure(backend.accept(&event, &[], KEEP).await)
            })
            .await;
        stored += 60;
    }
    stage.settled().await;
    let search = EventSearch {
        kind: Some(kind("rare")),
        ..any()
    };
    let mut ask = PageAsk {
        after: None,
        limit: 10,
    };
    let mut found: Vec<EventId> = Vec::new();
    let (mut pages, mut looked) = (0, 0);
    loop {
        let part = sure(stage.backend().events(&search, &ask).await);
        pages += 1;
        assert!(pages < 10, "it comes to an end");
        assert!(part.looked.at <= LOOKED_AT, "{}", part.looked.at);
        assert_eq!(part.looked.back_to.is_some(), part.page.next.is_some());
        looked += u64::from(part.looked.at);
        found.extend(part.page.items.into_iter().map(|row| row.event));
        if pages == 1 {
            assert!(found.is_empty(), "it is further back than a page looks");
        }
        ask.after = part.page.next;
        if ask.after.is_none() {
            break;
        }
    }
    assert_eq!(found, [wanted.id]);
    assert_eq!(looked, stored + 1, "each was looked at once");
}
