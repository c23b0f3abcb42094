//! A file of the first version is brought to this one: what was in it is found by everything that came later.
#![expect(clippy::expect_used, reason = "a test fails by panicking")]

use switchboard_core::names::{DestinationName, SourceName};
use switchboard_core::ports::Views;
use switchboard_core::time::Timestamp;
use switchboard_core::views::{DeadLetterSearch, EventSearch, PageAsk, SourceHealth};
use switchboard_embedded::Store;

/// What the first version left; `tests/data/README.md` of the workspace says what is in it.
const STORE: &[u8] = include_bytes!("../../../tests/data/schema-1.store");

fn first_page() -> PageAsk {
    PageAsk {
        after: None,
        limit: 100,
    }
}

fn opened() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("switchboard.sqlite");
    std::fs::write(file, STORE).expect("a store");
    let store = Store::open(folder.path()).expect("it opens");
    (folder, store)
}

#[tokio::test]
async fn its_events_are_found_by_every_search() {
    let (_folder, store) = opened();
    let found = async |search: EventSearch| {
        let found = store.events(&search, &first_page()).await.expect("found");
        assert_eq!(found.page.next, None);
        let id = |row: switchboard_core::views::EventRow| row.sender_id;
        found.page.items.into_iter().map(id).collect::<Vec<_>>()
    };
    let any = EventSearch::default;
    assert_eq!(found(any()).await, ["3", "c-1", "2", "1"]);
    let of_shop = EventSearch {
        source: SourceName::parse("shop").ok(),
        ..any()
    };
    assert_eq!(found(of_shop).await, ["3", "2", "1"]);
    let scoped = EventSearch {
        sender_id: Some("c-1".to_owned()),
        ..any()
    };
    assert_eq!(found(scoped).await, ["c-1"]);
    let to_crm = EventSearch {
        destination: DestinationName::parse("crm").ok(),
        ..any()
    };
    assert_eq!(found(to_crm).await, ["2", "1"]);
    // 2025-04-01T09:00:00Z, when the first was received.
    let first = Timestamp::from_seconds(1_743_498_000);
    let first_second = EventSearch {
        from: Some(first),
        until: Some(first.plus(std::time::Duration::from_millis(1))),
        ..any()
    };
    assert_eq!(found(first_second).await, ["1"]);
    let all = store.events(&any(), &first_page()).await.expect("found");
    for row in all.page.items {
        let stored = store.stored(&row.event).await.expect("read");
        let stored = stored.expect("it is there");
        assert_eq!(stored.body.len() as u64, row.body_length);
        assert_eq!(stored.sender_id.as_str(), row.sender_id);
    }
}

#[tokio::test]
async fn its_dead_letters_are_listed_by_destination_and_grouped() {
    let (_folder, store) = opened();
    for (name, count) in [("warehouse", 2), ("gone", 2), ("crm", 0)] {
        let search = DeadLetterSearch {
            destination: DestinationName::parse(name).ok(),
        };
        let letters = store.dead_letters(&search, &first_page()).await;
        assert_eq!(letters.expect("listed").items.len(), count, "{name}");
    }
    let groups = store.dead_letter_groups().await.expect("grouped");
    let sum: u64 = groups.items.iter().map(|group| group.count).sum();
    assert_eq!((sum, groups.looked.at), (4, 4));
}

#[tokio::test]
async fn when_something_last_came_is_known_from_what_is_stored() {
    let (_folder, store) = opened();
    let newest = |found: Vec<Timestamp>| found.into_iter().max();
    let of_shop = EventSearch {
        source: SourceName::parse("shop").ok(),
        ..EventSearch::default()
    };
    let events = store.events(&of_shop, &first_page()).await.expect("found");
    let refusals = store.refusals(&first_page()).await.expect("listed");
    let refused = refusals.items.first().expect("one refusal").clone();
    let recent = store.recent(Timestamp::from_seconds(1_800_000_000)).await;
    let recent = recent.expect("read");
    let of = |name: &SourceName| recent.sources.get(name).copied().unwrap_or_default();
    let shop = SourceName::parse("shop").expect("a name");
    let last_event = newest(events.page.items.iter().map(|row| row.at).collect());
    assert!(last_event.is_some());
    assert_eq!(of(&shop).last_event, last_event);
    assert_eq!(of(&refused.source).last_refusal, Some(refused.at));
    let nobody = SourceName::parse("nobody").expect("a name");
    assert_eq!(of(&nobody), SourceHealth::default());
    let flaky = DestinationName::parse("flaky").expect("a name");
    let flaky = recent.destinations.get(&flaky).expect("it has deliveries");
    assert!(flaky.oldest_due.is_some(), "two wait");
    assert!(recent.minutes.iter().all(|minute| minute.events == 0));
}
