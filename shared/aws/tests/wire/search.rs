//! Searches on the wire: what a page reads, and what its indexes leave out.

use std::collections::BTreeSet;
use std::time::Duration;

use futures_util::{StreamExt, stream};
use switchboard_aws::Aws;
use switchboard_core::delivery::State;
use switchboard_core::event::Event;
use switchboard_core::identity::EventId;
use switchboard_core::names::Kind;
use switchboard_core::ports::{Ledger, Views};
use switchboard_core::time::Timestamp;
use switchboard_core::views::{Cursor, EventRow, EventSearch, PageAsk, Searched};
use switchboard_testkit::emulator::Emulator;

use crate::ground::Ground;
use crate::proxy::{Fate, Proxy, Request};
use crate::sample::{KEEP, clients_at, event, plan};
use crate::support::START;

/// Most events of a page whose deliveries are read.
const READS: u32 = 250;

fn after(seconds: u64) -> Timestamp {
    START.plus(Duration::from_secs(seconds))
}

/// Stores events, a second after each other, each with a delivery that waits.
async fn stored(backend: &Aws, count: u64) {
    let store = |n: u64| async move {
        let event = Event {
            received_at: after(n),
            ..event(&n.to_string(), 10)
        };
        let accepted = backend
            .accept(&event, &plan(&event, 1, after(n)), KEEP)
            .await;
        accepted.expect("stored");
    };
    stream::iter((0..count).map(store))
        .buffer_unordered(16)
        .count()
        .await;
}

/// A page of what an observed backend finds, and what it asked for.
async fn page(
    ground: &Ground,
    search: &EventSearch,
    after: Option<Cursor>,
) -> (Searched<EventRow>, Vec<Request>) {
    let proxy = Proxy::start(Emulator::shared().address(), |_| Fate::Passed);
    let clients = clients_at(&proxy.url(), ground.account());
    let backend = ground.open_with(&clients, ground.place.clone());
    let ask = PageAsk { after, limit: 5 };
    let found = backend.events(search, &ask).await.expect("a page");
    (found, proxy.requests())
}

/// How many requests ask for the deliveries of an event, and how many read an index.
fn reads(requests: &[Request]) -> (usize, usize) {
    let queries = || {
        requests
            .iter()
            .filter(|request| request.operation == "Query")
    };
    let of_index = queries()
        .filter(|request| request.body.contains("\"IndexName\":"))
        .count();
    let of_events = queries()
        .filter(|request| request.body.contains("BETWEEN") && request.body.contains("E#evt_"));
    (of_events.count(), of_index)
}

#[tokio::test]
async fn a_page_that_has_to_look_at_deliveries_reads_those_of_so_many_events() {
    let ground = Ground::new().await;
    stored(&ground.open(), u64::from(READS) + 40).await;
    let dead = EventSearch {
        state: Some(State::Dead),
        ..EventSearch::default()
    };
    let (first, requests) = page(&ground, &dead, None).await;
    assert_eq!((first.page.items.len(), first.looked.at), (0, READS));
    assert_eq!(first.looked.back_to, Some(after(40)));
    let (of_events, of_index) = reads(&requests);
    assert_eq!(of_events, 250, "one for each event");
    assert!(of_index <= 12, "four parts in a few pieces: {of_index}");
    let (second, requests) = page(&ground, &dead, first.page.next).await;
    assert_eq!((second.looked.at, second.page.next), (40, None));
    assert_eq!(reads(&requests).0, 40);
    // What every event has is found at once, and no more is looked at than a page takes, but for what is read together.
    let waiting = EventSearch {
        state: Some(State::Waiting),
        ..EventSearch::default()
    };
    let (found, requests) = page(&ground, &waiting, None).await;
    assert_eq!((found.page.items.len(), found.looked.at), (5, 5));
    let (of_events, _) = reads(&requests);
    assert!(of_events <= 16 + 5, "and their repeats: {of_events}");
}

#[tokio::test]
async fn a_page_that_looks_at_kinds_reads_the_list_only() {
    let ground = Ground::new().await;
    stored(&ground.open(), 300).await;
    let search = EventSearch {
        kind: Kind::new("another"),
        ..EventSearch::default()
    };
    let (found, requests) = page(&ground, &search, None).await;
    assert_eq!((found.looked.at, found.page.next), (300, None));
    let (of_events, of_index) = reads(&requests);
    assert_eq!(of_events, 0);
    assert!(
        of_index <= 8,
        "four parts in two pieces at most: {of_index}"
    );
}

#[tokio::test]
async fn a_span_of_time_reads_only_what_is_in_it() {
    let ground = Ground::new().await;
    stored(&ground.open(), 60).await;
    let search = EventSearch {
        kind: Kind::new("another"),
        from: Some(after(20)),
        until: Some(after(30)),
        ..EventSearch::default()
    };
    let (found, _) = page(&ground, &search, None).await;
    assert_eq!(found.looked.at, 10);
    let below = Cursor::new(&format!(
        "{:013}#{}",
        after(25).millis(),
        event("25", 10).id
    ));
    let (found, _) = page(&ground, &search, below).await;
    assert_eq!(found.looked.at, 5, "20 to 24");
    let above = Cursor::new(&format!(
        "{:013}#{}",
        after(40).millis(),
        event("40", 10).id
    ));
    let (found, _) = page(&ground, &search, above).await;
    assert_eq!(found.looked.at, 10, "a page never goes back up");
    let five = EventSearch {
        from: Some(after(20)),
        until: Some(after(25)),
        ..EventSearch::default()
    };
    let (found, _) = page(&ground, &five, None).await;
    let whole = (found.page.items.len(), found.page.next);
    assert_eq!(whole, (5, None), "a full page, and the last");
    let before = Cursor::new(&format!(
        "{:013}#{}",
        after(10).millis(),
        event("10", 10).id
    ));
    let (found, requests) = page(&ground, &search, before).await;
    assert_eq!((found.looked.at, found.page.next), (0, None));
    assert_eq!(
        requests.len(),
        0,
        "nothing is there, and nothing is asked for"
    );
}

#[tokio::test]
async fn events_with_a_scope_are_found_by_senders_id_and_all_else_that_applies() {
    let ground = Ground::new().await;
    let backend = ground.open();
    for n in 0..12 {
        let unscoped = event("1001", 10);
        let sender_id = unscoped.sender_id.clone().within(&format!("hook-{n}"));
        let scoped = Event {
            id: EventId::of(&unscoped.source, &sender_id),
            sender_id,
            received_at: after(n),
            ..unscoped
        };
        let plan = plan(&scoped, u32::from(n % 2 == 0), after(n));
        backend.accept(&scoped, &plan, KEEP).await.expect("stored");
    }
    let unscoped = Event {
        received_at: after(6),
        ..event("1001", 10)
    };
    backend.accept(&unscoped, &[], KEEP).await.expect("stored");
    let mut search = EventSearch {
        sender_id: Some("1001".to_owned()),
        from: Some(after(3)),
        until: Some(after(10)),
        ..EventSearch::default()
    };
    let walk = async |search: &EventSearch| {
        let mut found = Vec::new();
        let mut next = None;
        for _ in 0..10 {
            let (part, _) = page(&ground, search, next).await;
            found.extend(part.page.items.into_iter().map(|row| row.at));
            next = part.page.next;
            if next.is_none() {
                return found;
            }
        }
        panic!("the list never comes to its last page");
    };
    let found = walk(&search).await;
    let seconds = [9, 8, 7, 6, 6, 5, 4, 3];
    assert_eq!(found, seconds.map(after), "the unscoped one among them");
    search.state = Some(State::Waiting);
    let found: BTreeSet<_> = walk(&search).await.into_iter().collect();
    assert_eq!(found, BTreeSet::from([4, 6, 8].map(after)));
    search.sender_id = Some("1002".to_owned());
    assert_eq!(walk(&search).await, []);
}
