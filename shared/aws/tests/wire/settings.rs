//! The settings on the wire: how often they are read, and what serves when they cannot be.

use std::time::Duration;

use switchboard_core::endpoint::{Change, Settings};
use switchboard_core::names::DestinationName;
use switchboard_core::ports::{Ledger, SettingsStore, Spread};
use switchboard_testkit::emulator::Emulator;

use crate::down::switched;
use crate::ground::Ground;
use crate::lost::{losing, times};
use crate::proxy::{Fate, Proxy};
use crate::sample::{KEEP, clients_at, event};
use crate::support::START;

const FIVE_SECONDS: Duration = Duration::from_secs(5);

fn chat() -> DestinationName {
    DestinationName::parse("chat").expect("a name")
}

#[tokio::test]
async fn settings_serve_for_their_time_and_in_need_for_a_minute() {
    let ground = Ground::new().await;
    let (proxy, switch) = switched("");
    let clients = clients_at(&proxy.url(), ground.account());
    let backend = ground.open_paced(&clients, ground.place.clone(), FIVE_SECONDS);
    let other = ground.open();
    let held = async || backend.settings().await.map(|s| s.held.contains(&chat()));

    assert_eq!(held().await.ok(), Some(false));
    other.change(Change::Hold(chat())).await.expect("held");
    ground.clock.advance(Duration::from_millis(4999));
    assert_eq!(held().await.ok(), Some(false), "as it was read");
    assert_eq!(times(&proxy, "GetItem"), 1);
    ground.clock.advance(Duration::from_millis(1));
    assert_eq!(held().await.ok(), Some(true), "read again");
    assert_eq!(times(&proxy, "GetItem"), 2);

    switch.down();
    for (passes, serves) in [(5_000, true), (54_999, true), (1, false), (1, false)] {
        ground.clock.advance(Duration::from_millis(passes));
        let read = held().await.ok();
        assert_eq!(read, serves.then_some(true), "{passes}");
        assert!(backend.change(Change::ClearEndpoint).await.is_err());
    }
    switch.up();
    assert_eq!(held().await.ok(), Some(true));
}

#[tokio::test]
async fn a_change_is_seen_at_once_by_the_process_that_made_it() {
    let ground = Ground::new().await;
    let backend = ground.open_paced(&ground.clients, ground.place.clone(), FIVE_SECONDS);
    for _ in 0..2 {
        let spread = Spread {
            start: START,
            per_second: 5,
        };
        for change in [Change::Hold(chat()), Change::Release(chat(), spread)] {
            let after = backend.change(change).await.expect("changed");
            let read = backend.settings().await.expect("read");
            assert_eq!(read, after);
        }
    }
}

#[tokio::test]
async fn a_change_whose_answer_was_lost_stands_once() {
    let ground = Ground::new().await;
    let proxy = losing(|request| request.operation == "UpdateItem");
    let clients = clients_at(&proxy.url(), ground.account());
    let backend = ground.open_with(&clients, ground.place.clone());
    let after = backend.change(Change::Hold(chat())).await.expect("held");
    let expected = Settings::default().after(Change::Hold(chat()));
    assert_eq!(*after, expected);
    assert_eq!(times(&proxy, "UpdateItem"), 2, "it was made again");
    assert_eq!(*ground.open().settings().await.expect("read"), expected);
}

#[tokio::test]
async fn a_source_is_known_before_its_first_event_and_is_told_once() {
    let ground = Ground::new().await;
    let proxy = Proxy::start(Emulator::shared().address(), |_| Fate::Passed);
    let clients = clients_at(&proxy.url(), ground.account());
    let backend = ground.open_with(&clients, ground.place.clone());
    for id in ["1", "2", "3"] {
        let accepted = backend.accept(&event(id, 10), &[], KEEP).await;
        accepted.expect("stored");
    }
    let writes = proxy.operations().into_iter();
    let writes: Vec<_> = writes.filter(|name| name != "GetItem").collect();
    assert_eq!(writes, ["UpdateItem", "PutItem", "PutItem", "PutItem"]);
}
