//! Whether the senders' book, the destinations' book, the store with its lists, and the totals agree.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Value, json};
use switchboard_core::identity::{DeliveryId, EventId, Run};
use switchboard_core::names::{ActionName, DestinationName};
use switchboard_tests::switchboard::Switchboard;

use crate::promise::text;

/// The senders' book: how often each event was answered `accepted` and `repeat`, by source and sender's id.
pub(super) type SendersBook = BTreeMap<(String, String), (String, u64, u64)>;

/// Reads it.
pub(super) fn read(book: &Path) -> SendersBook {
    let mut events = SendersBook::new();
    for line in std::fs::read_to_string(book).expect("a book").lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let [source, id, event, status] = words[..] else {
            panic!("no line of the book: {line}")
        };
        let entry = events
            .entry((source.to_owned(), id.to_owned()))
            .or_insert_with(|| (event.to_owned(), 0, 0));
        assert_eq!(entry.0, event, "{id} has one event");
        match status {
            "accepted" => entry.1 += 1,
            "repeat" => entry.2 += 1,
            other => panic!("{other} is no status"),
        }
    }
    events
}

/// The keys of an event's deliveries, by its routes.
fn keys(row: &Value) -> Vec<String> {
    let event = EventId::parse(text(row, "event")).expect("an event's id");
    let key = |(destination, action): (&str, &str)| {
        let destination = DestinationName::parse(destination).expect("a name");
        let action = ActionName::parse(action).expect("a name");
        DeliveryId::of(&event, &destination, &action, Run(0)).to_string()
    };
    let mut places = vec![("accounting", "make-invoice")];
    if text(row, "source") == "shop" {
        places.push(("warehouse", "reserve-items"));
    }
    places.into_iter().map(key).collect()
}

/// The three books, the totals and the list of failed ones say the same.
pub(super) async fn agree(switchboard: &Switchboard, senders: &SendersBook, sink: &Value) {
    let events = switchboard.list("/api/events").await;
    let stored: BTreeMap<(String, String), &str> = events
        .iter()
        .map(|row| {
            let name = (
                text(row, "source").to_owned(),
                text(row, "sender_id").to_owned(),
            );
            (name, text(row, "event"))
        })
        .collect();
    assert_eq!(stored.len(), events.len(), "each event is stored once");
    let mut repeats = 0;
    for (name, (event, accepted, again)) in senders {
        assert_eq!(
            stored.get(name),
            Some(&event.as_str()),
            "{name:?} was answered 200"
        );
        assert!(*accepted <= 1, "{name:?} was new {accepted} times");
        repeats += again;
    }
    let planned: BTreeSet<String> = events.iter().flat_map(keys).collect();
    let dead = switchboard.list("/api/dead-letters").await;
    let dead: BTreeSet<String> = dead
        .iter()
        .map(|letter| text(letter, "delivery").to_owned())
        .collect();
    assert!(
        dead.is_subset(&planned),
        "the list of failed ones holds planned deliveries only"
    );
    let entries = sink["entries"].as_object().expect("entries");
    for key in planned.difference(&dead) {
        assert_eq!(
            entries.get(key).map(|entry| &entry["answered"]),
            Some(&true.into()),
            "{key} is neither delivered nor failed"
        );
    }
    for key in entries.keys() {
        assert!(
            planned.contains(key),
            "{key} was applied and is of no event"
        );
    }
    assert_eq!(sink["twice"], json!([]), "nothing is applied twice");
    let (requests, failed) = (&sink["requests"], &sink["failed"]);
    let share = failed.as_u64().expect("a number") * 100 / requests.as_u64().expect("a number");
    assert!((25..35).contains(&share), "{failed} of {requests} failed");
    let totals = switchboard.get("/api/overview").await["totals"].take();
    let total = |name: &str| totals[name].as_u64().expect("a total");
    assert_eq!(total("stored"), events.len() as u64, "{totals}");
    assert!(
        total("repeats") >= repeats,
        "{repeats} in the senders' book, {totals}"
    );
    assert_eq!(
        total("received"),
        total("stored") + total("repeats"),
        "{totals}"
    );
    assert_eq!(total("dead"), dead.len() as u64, "{totals}");
    assert_eq!(
        total("delivered"),
        (planned.len() - dead.len()) as u64,
        "{totals}"
    );
    assert_eq!((total("waiting"), total("held")), (0, 0), "{totals}");
}
