//! What must hold after every crash: the senders' book, the destinations' book, the store and its totals say the same.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::Value;
use switchboard_tests::switchboard::Switchboard;
use switchboard_tests::wait;

use crate::book::Book;

/// How long everything may take to come to rest: a redrive of 510 is spread over ten seconds.
const REST: Duration = Duration::from_mins(1);

/// Waits until no attempt is to come, then compares everything. `answered` are the events that were answered 200.
pub(crate) async fn holds(switchboard: &Switchboard, answered: &[String], book: &Book) {
    wait::within(REST, "nothing waits", async || {
        (switchboard.total("waiting").await == 0).then_some(())
    })
    .await;
    let events = events(switchboard).await;
    let dead = switchboard.list("/api/dead-letters").await;
    let dead: BTreeSet<&str> = dead.iter().map(|letter| text(letter, "delivery")).collect();
    let known: BTreeSet<&str> = events.iter().map(|event| text(event, "event")).collect();
    for event in answered {
        assert!(
            known.contains(event.as_str()),
            "{event} was answered 200 and is lost"
        );
    }
    let entries = book.entries().clone();
    let mut states: BTreeMap<&str, u64> = BTreeMap::new();
    let mut ids = BTreeSet::new();
    for event in &events {
        for delivery in event["delivery_list"].as_array().expect("deliveries") {
            let (id, state) = (text(delivery, "delivery"), text(delivery, "state"));
            *states.entry(state).or_default() += 1;
            ids.insert(id);
            match state {
                "delivered" => {
                    let entry = entries.get(id);
                    assert!(
                        entry.is_some_and(|entry| entry.answered),
                        "{id} is delivered, and its destination knows nothing of it"
                    );
                }
                "dead" => assert!(dead.contains(id), "{id} is dead and not listed"),
                "held" => {}
                other => panic!("{id} is {other} when nothing waits"),
            }
        }
    }
    let mut places = BTreeMap::new();
    for (key, entry) in &entries {
        assert!(
            ids.contains(key.as_str()),
            "a destination applied {key}, which the store does not know"
        );
        let other = places.insert((&entry.event, &entry.path), key);
        assert_eq!(
            other, None,
            "{} was applied twice at {}, under two keys",
            entry.event, entry.path
        );
    }
    let totals = switchboard.get("/api/overview").await["totals"].take();
    assert_eq!(totals["stored"], events.len(), "{totals}");
    for state in ["delivered", "dead", "held", "waiting"] {
        let found = states.get(state).copied().unwrap_or_default();
        assert_eq!(totals[state], found, "{state} in {totals}");
    }
    assert_eq!(
        totals["dead"],
        dead.len(),
        "the list of failed ones, {totals}"
    );
}

/// Every event that the store holds, with its deliveries.
pub(crate) async fn events(switchboard: &Switchboard) -> Vec<Value> {
    let mut events = Vec::new();
    for row in switchboard.list("/api/events").await {
        let path = format!("/api/events/{}", text(&row, "event"));
        events.push(switchboard.get(&path).await);
    }
    events
}

/// Waits until a part of the overview is what it should be.
pub(crate) async fn wait_overview(switchboard: &Switchboard, part: &str, value: Value) {
    wait::until(&format!("{part} is {value}"), async || {
        let overview = switchboard.get("/api/overview").await;
        (overview.pointer(part) == Some(&value)).then_some(())
    })
    .await;
}

/// A field's text.
pub(crate) fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().expect("a text")
}
