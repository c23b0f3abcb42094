//! What a repeat costs, and a look at an event that came again and again.

use std::collections::HashMap;
use std::time::Duration;

use aws_sdk_dynamodb::types::{AttributeValue, PutRequest, WriteRequest};
use switchboard_core::event::Event;
use switchboard_core::ports::{Ledger, Views};
use switchboard_core::views::{EventSearch, PageAsk};
use switchboard_testkit::emulator::Emulator;

use crate::ground::Ground;
use crate::proxy::{Fate, Proxy};
use crate::sample::{KEEP, clients_at, delivered, event, go, plan};
use crate::support::START;

/// An event with one delivery, which is delivered.
async fn stored(ground: &Ground) -> Event {
    let backend = ground.open();
    let event = event("1001", 100);
    let planned = plan(&event, 1, START);
    let accepted = backend.accept(&event, &planned, KEEP).await;
    accepted.expect("stored");
    let attempt = go(&backend, &planned[0]).await;
    let next = switchboard_core::delivery::Next::Delivered;
    let record = delivered(&attempt);
    let recorded = backend.record(&attempt, &record, next, KEEP);
    recorded.await.expect("recorded");
    event
}

/// The event came so many times more.
async fn repeated(ground: &Ground, event: &Event, times: std::ops::Range<u32>) {
    let text = |text: String| AttributeValue::S(text);
    let life = ground.event_attribute(&event.id, "tok").await;
    let life = life.expect("a life");
    let write = |n: u32| {
        let item = HashMap::from([
            ("pk".to_owned(), text(format!("E#{}", event.id))),
            ("sk".to_owned(), text(format!("R#{n:022}"))),
            ("v".to_owned(), AttributeValue::N("1".to_owned())),
            ("lf".to_owned(), text(life.clone())),
            ("src".to_owned(), text("shop".to_owned())),
        ]);
        let put = PutRequest::builder().set_item(Some(item));
        let put = put.build().expect("an item");
        WriteRequest::builder().put_request(put).build()
    };
    let writes: Vec<WriteRequest> = times.map(write).collect();
    for some in writes.chunks(25) {
        let request = ground.clients.dynamodb.batch_write_item();
        let request = request.request_items(&ground.place.table, some.to_vec());
        request.send().await.expect("written");
    }
}

/// How many bytes are read for one more repeat of an event that is no longer young.
async fn bytes_of_a_repeat(ground: &Ground, event: &Event) -> usize {
    let proxy = Proxy::start(Emulator::shared().address(), |_| Fate::Passed);
    let clients = clients_at(&proxy.url(), ground.account());
    let backend = ground.open_with(&clients, ground.place.clone());
    let again = Event {
        received_at: START.plus(Duration::from_mins(5)),
        ..event.clone()
    };
    backend.accept(&again, &[], KEEP).await.expect("counted");
    let read = proxy.operations().iter().any(|made| made == "Query");
    assert!(read, "whether all its deliveries have records");
    proxy.answered()
}

#[tokio::test]
async fn a_repeat_costs_the_same_however_often_its_event_came() {
    let ground = Ground::new().await;
    let event = stored(&ground).await;
    let few = bytes_of_a_repeat(&ground, &event).await;
    repeated(&ground, &event, 0..500).await;
    let many = bytes_of_a_repeat(&ground, &event).await;
    assert!(many < few + 1000, "{few} bytes, then {many}");
}

#[tokio::test]
async fn a_look_at_an_event_counts_its_repeats_up_to_a_thousand() {
    let ground = Ground::new().await;
    let event = stored(&ground).await;
    let backend = ground.open();
    let ask = PageAsk {
        after: None,
        limit: 5,
    };
    let mut there = 0;
    for (count, told) in [(999, 999), (1000, 1000), (1700, 1000)] {
        repeated(&ground, &event, there..count).await;
        there = count;
        let view = backend.event(&event.id).await.expect("an answer");
        let view = view.expect("it is there");
        assert_eq!((view.row.repeats, view.deliveries.len()), (told, 1));
        let listed = backend.events(&EventSearch::default(), &ask).await;
        let listed = listed.expect("a list").page.items;
        let rows: Vec<u64> = listed.iter().map(|row| row.repeats).collect();
        assert_eq!(rows, [told]);
    }
}
