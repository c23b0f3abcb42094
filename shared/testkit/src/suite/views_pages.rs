//! The pages of `Views`: a list read page by page is whole, whatever comes in between two of them.
//!
//! Taken to mean: a page may be shorter than was asked for; the list ends where there is no next page. A list that is
//! read while new items come in holds each item that was there at the start once, and of the new ones any, each once
//! at most. A cursor that no page gave leaves the backend whole; one that cannot be read is answered with an empty page.

use std::collections::BTreeSet;
use std::future::Future;

use switchboard_core::delivery::State;
use switchboard_core::identity::Run;
use switchboard_core::ports::{Accepted, Answer, Note, Views};
use switchboard_core::refusal::Cause;
use switchboard_core::time::Timestamp;
use switchboard_core::views::{Cursor, DeadLetterSearch, EventRow, EventSearch, Page, PageAsk};

use super::fixture::Fixture;
use super::sample::{START, after, destination, event, plan, refusal, source};
use super::stage::{Stage, sure, walk};

/// How many items are there at the start.
const FIRST: u64 = 23;
/// How many come in between two pages.
const MORE: u64 = 3;

/// Adds items, and reads them page by page while more of them are added.
async fn stays_whole<T, A, P>(
    limit: u32,
    page: impl Fn(PageAsk) -> P + Send,
    add: impl Fn(u64) -> A + Send,
    name: impl Fn(&T) -> String + Send,
) where
    T: Send,
    A: Future<Output = String> + Send,
    P: Future<Output = Answer<Page<T>>> + Send,
{
    let mut there = BTreeSet::new();
    for n in 0..FIRST {
        there.insert(add(n).await);
    }
    let mut added = FIRST;
    let mut read = Vec::new();
    let mut after = None;
    for pages in 0.. {
        assert!(pages < 1000, "the list never comes to its last page");
        let part = sure(page(PageAsk { after, limit }).await);
        assert!(part.items.len() <= limit as usize);
        read.extend(part.items.iter().map(&name));
        after = part.next;
        if after.is_none() {
            break;
        }
        for _ in 0..MORE {
            add(added).await;
            added += 1;
        }
    }
    let once: BTreeSet<_> = read.iter().cloned().collect();
    assert_eq!(once.len(), read.len(), "no item twice: {read:?}");
    let skipped: Vec<_> = there.difference(&once).collect();
    assert!(skipped.is_empty(), "none skipped: {skipped:?}");
}

/// Items come three at a moment, so that pages end between items of one moment.
fn moment(n: u64) -> Timestamp {
    after(n / 3)
}

/// A page of events that a search finds.
async fn found<B: Views>(
    backend: &B,
    search: &EventSearch,
    ask: PageAsk,
) -> Answer<Page<EventRow>> {
    Ok(backend.events(search, &ask).await?.page)
}

async fn events_stay_whole<F: Fixture>(fixture: F, search: EventSearch) {
    let stage = Stage::open(fixture).await;
    let (stage, search) = (&stage, &search);
    let add = |n: u64| async move {
        // Others between them, which a search passes over.
        stage
            .accept(&event("code", &n.to_string(), moment(n)), &[])
            .await;
        let event = event("shop", &n.to_string(), moment(n));
        let plan = plan(&event, Run(0), &["chat"], START);
        assert_eq!(stage.accept(&event, &plan).await, Accepted::New);
        stage.settled().await;
        event.id.to_string()
    };
    let page = |ask| found(stage.backend(), search, ask);
    stays_whole(4, page, add, |row| row.event.to_string()).await;
}

pub async fn pages_of_events_stay_whole_while_new_ones_come_in<F: Fixture>(fixture: F) {
    events_stay_whole(fixture, EventSearch::default()).await;
}

pub async fn pages_of_a_search_stay_whole_while_new_ones_come_in<F: Fixture>(fixture: F) {
    let search = EventSearch {
        source: Some(source("shop")),
        ..EventSearch::default()
    };
    events_stay_whole(fixture, search).await;
}

pub async fn pages_of_what_no_index_finds_stay_whole_while_new_ones_come_in<F: Fixture>(
    fixture: F,
) {
    let search = EventSearch {
        state: Some(State::Waiting),
        destination: Some(destination("chat")),
        ..EventSearch::default()
    };
    events_stay_whole(fixture, search).await;
}

pub async fn pages_of_a_span_of_time_stay_whole_while_new_ones_come_in<F: Fixture>(fixture: F) {
    let search = EventSearch {
        source: Some(source("shop")),
        from: Some(moment(0)),
        until: Some(moment(10_000)),
        ..EventSearch::default()
    };
    events_stay_whole(fixture, search).await;
}

pub async fn pages_of_dead_letters_stay_whole_while_new_ones_come_in<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let stage = &stage;
    let add = |n: u64| async move {
        let to = if n.is_multiple_of(2) { "chat" } else { "crm" };
        dies(stage, n, to).await
    };
    let all = &DeadLetterSearch::default();
    let page = |ask| async move { stage.backend().dead_letters(all, &ask).await };
    stays_whole(4, page, add, |letter| letter.delivery.to_string()).await;
}

pub async fn pages_of_one_destinations_dead_letters_stay_whole_while_new_ones_come_in<
    F: Fixture,
>(
    fixture: F,
) {
    let stage = Stage::open(fixture).await;
    let stage = &stage;
    let add = |n: u64| async move {
        // Others between them, which the list passes over.
        dies(stage, 10_000 + n, "crm").await;
        dies(stage, n, "chat").await
    };
    let of_chat = &DeadLetterSearch {
        destination: Some(destination("chat")),
    };
    let page = |ask| async move { stage.backend().dead_letters(of_chat, &ask).await };
    stays_whole(4, page, add, |letter| letter.delivery.to_string()).await;
}

/// Adds a dead letter and gives its name.
async fn dies<F: Fixture>(stage: &Stage<F>, n: u64, to: &str) -> String {
    let followed = stage
        .one("shop", &n.to_string(), to, moment(n % 10_000))
        .await;
    stage.die(&followed, moment(n % 10_000)).await;
    stage.settled().await;
    followed.key.id.to_string()
}

pub async fn pages_of_refusals_stay_whole_while_new_ones_come_in<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let stage = &stage;
    let add = |n: u64| async move {
        let reason = n.to_string();
        let note = Note::Refused {
            source: source("shop"),
            listed: Some(refusal(&reason)),
        };
        stage.note(moment(n), note).await;
        stage.settled().await;
        reason
    };
    let page = |ask| async move { stage.backend().refusals(&ask).await };
    stays_whole(4, page, add, |row| row.refusal.reason.clone()).await;
}

pub async fn pages_of_declined_stay_whole_while_new_ones_come_in<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let stage = &stage;
    let add = |n: u64| async move {
        let path = n.to_string();
        let note = Note::Declined {
            source: None,
            cause: Cause::UnknownSource,
            listed: Some(path.clone()),
        };
        stage.note(moment(n), note).await;
        stage.settled().await;
        path
    };
    let page = |ask| async move { stage.backend().declined(&ask).await };
    stays_whole(4, page, add, |row| row.path.clone()).await;
}

pub async fn a_list_is_the_same_in_pages_of_any_size<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    for n in 0..20 {
        stage
            .accept(&event("shop", &n.to_string(), moment(n)), &[])
            .await;
    }
    stage.settled().await;
    let (backend, search) = (stage.backend(), &EventSearch::default());
    let page = |ask| found(backend, search, ask);
    let whole = walk(100, page).await;
    assert_eq!(whole.len(), 20);
    for limit in [1, 2, 3, 7, 19, 20, 21] {
        assert_eq!(walk(limit, page).await, whole, "in pages of {limit}");
    }
}

pub async fn a_list_of_nothing_is_one_page<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    stage.settled().await;
    let backend = stage.backend();
    let ask = PageAsk {
        after: None,
        limit: 10,
    };
    let search = EventSearch::default();
    let events = sure(found(backend, &search, ask.clone()).await);
    assert_eq!((events.items.len(), events.next), (0, None));
    let dead = sure(
        backend
            .dead_letters(&DeadLetterSearch::default(), &ask)
            .await,
    );
    assert_eq!((dead.items.len(), dead.next), (0, None));
    let refusals = sure(backend.refusals(&ask).await);
    assert_eq!((refusals.items.len(), refusals.next), (0, None));
    let declined = sure(backend.declined(&ask).await);
    assert_eq!((declined.items.len(), declined.next), (0, None));
}

pub async fn a_cursor_of_no_page_does_no_harm<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let followed = stage.one("shop", "1001", "chat", START).await;
    stage.die(&followed, START).await;
    stage.settled().await;
    let texts = [
        "0",
        "-1",
        "x",
        "1:2:3",
        "1764400000250",
        "9223372036854775808",
        "' OR 1=1 --",
        "é\0",
        "-9223372036854775808.-9223372036854775808",
        &"9".repeat(100),
    ];
    let backend = stage.backend();
    for text in texts {
        let ask = PageAsk {
            after: Some(Cursor::new(text).expect("short enough")),
            limit: 10,
        };
        drop(backend.events(&EventSearch::default(), &ask).await);
        drop(
            backend
                .dead_letters(&DeadLetterSearch::default(), &ask)
                .await,
        );
        drop(backend.refusals(&ask).await);
        drop(backend.declined(&ask).await);
    }
    assert_eq!(stage.dead_letters().await.len(), 1);
    stage.one("shop", "1002", "chat", START).await;
}

pub async fn behind_a_cursor_that_cannot_be_read_there_is_nothing<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let followed = stage.one("shop", "1001", "chat", START).await;
    stage.die(&followed, START).await;
    let note = Note::Refused {
        source: source("shop"),
        listed: Some(refusal("wrong")),
    };
    stage.note(START, note).await;
    let note = Note::Declined {
        source: None,
        cause: Cause::UnknownSource,
        listed: Some("nowhere".to_owned()),
    };
    stage.note(START, note).await;
    stage.settled().await;
    let backend = stage.backend();
    for text in ["x", "' OR 1=1 --", "é\0", "-x"] {
        let ask = PageAsk {
            after: Some(Cursor::new(text).expect("short enough")),
            limit: 10,
        };
        let events = sure(found(backend, &EventSearch::default(), ask.clone()).await);
        assert_eq!((events.items.len(), events.next), (0, None), "{text:?}");
        let letters = sure(
            backend
                .dead_letters(&DeadLetterSearch::default(), &ask)
                .await,
        );
        assert_eq!((letters.items.len(), letters.next), (0, None), "{text:?}");
        let refusals = sure(backend.refusals(&ask).await);
        assert_eq!((refusals.items.len(), refusals.next), (0, None), "{text:?}");
        let declined = sure(backend.declined(&ask).await);
        assert_eq!((declined.items.len(), declined.next), (0, None), "{text:?}");
    }
}
