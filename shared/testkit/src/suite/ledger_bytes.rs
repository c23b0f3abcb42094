//! `Ledger::accept` and `begin`: what a sender sent comes back byte for byte, on every attempt.

use bytes::Bytes;
use rand::rngs::ChaCha8Rng;
use rand::{Rng, SeedableRng};
use switchboard_core::delivery::{DeathReason, Next};
use switchboard_core::event::Event;
use switchboard_core::forward::KeptHeaders;
use switchboard_core::identity::{EventId, Run};
use switchboard_core::names::{LONGEST_KIND, LONGEST_SENDER_ID};
use switchboard_core::ports::{Accepted, SameBody, Selection};

use super::fixture::Fixture;
use super::sample::{START, after, event, kind, plan, sender_id, with_body};
use super::stage::Stage;

/// Accepts each event and compares what its first attempt is given, before and after the backend was reopened.
async fn come_back<F: Fixture>(fixture: F, events: &[Event]) {
    let mut stage = Stage::open(fixture).await;
    for event in events {
        let plan = plan(event, Run(0), &["chat"], START);
        assert_eq!(stage.accept(event, &plan).await, Accepted::New);
    }
    for round in ["at once", "after reopening"] {
        for event in events {
            let plan = plan(event, Run(0), &["chat"], START);
            let attempt = stage.go(&plan.first().expect("planned").key, START).await;
            // The body on its own first: a large one that differs is no use in a message.
            assert!(attempt.event.body == event.body, "{round}: the body");
            assert!(*attempt.event == *event, "{round}: {:?}", event.headers);
            let repeat = Accepted::Repeat(SameBody::Yes);
            assert_eq!(stage.accept(event, &plan).await, repeat, "{round}");
            let row = stage.stored(&event.id).await.row;
            assert_eq!(row.body_length, event.body.len() as u64, "{round}");
            assert_eq!(row.kind, event.kind, "{round}");
            assert_eq!(row.sender_id, event.sender_id.as_str(), "{round}");
        }
        stage = stage.reopened().await;
    }
}

pub async fn bodies_come_back_byte_for_byte<F: Fixture>(fixture: F) {
    let every: Vec<u8> = (0..=255).cycle().take(4096).collect();
    let mut noise = vec![0; 1 << 20];
    ChaCha8Rng::seed_from_u64(7).fill_bytes(&mut noise);
    let bodies: [Bytes; 9] = [
        Bytes::new(),
        Bytes::from_static(b"\0"),
        Bytes::from_static(b"\xff\xfe\xfd"),
        Bytes::from_static(b"{\"id\":9007199254740993,\"b\":1,\"a\":12345678901234567890}"),
        Bytes::from_static("{\"city\":\"Zürich\",\"line\":\"\u{2028}\"}\r\n".as_bytes()),
        Bytes::from(every),
        Bytes::from(vec![0; 1 << 20]),
        Bytes::from(noise),
        Bytes::from("é".repeat(200_000)),
    ];
    let events: Vec<_> = (0..)
        .zip(bodies)
        .map(|(n, body)| with_body(&event("shop", &format!("body-{n}"), START), body))
        .collect();
    come_back(fixture, &events).await;
}

pub async fn kinds_come_back_byte_for_byte<F: Fixture>(fixture: F) {
    let kinds = [
        String::new(),
        " ".to_owned(),
        "orders/create".to_owned(),
        "a\0b".to_owned(),
        "\0".to_owned(),
        "line\u{2028}end\r\n".to_owned(),
        "\"'`%_\\".to_owned(),
        "Größe 🦀".to_owned(),
        "k".repeat(LONGEST_KIND),
    ];
    let events: Vec<_> = (0..)
        .zip(kinds)
        .map(|(n, text)| Event {
            kind: kind(&text),
            ..event("shop", &format!("kind-{n}"), START)
        })
        .collect();
    come_back(fixture, &events).await;
}

pub async fn senders_ids_and_their_scopes_come_back_byte_for_byte<F: Fixture>(fixture: F) {
    let long = "i".repeat(LONGEST_SENDER_ID);
    let ids = ["1001", "a\0b", "\u{2028}", " a/b#c ", "🦀", &long];
    let mut events = Vec::new();
    for id in ids {
        for scope in [None, Some(""), Some("hook 1"), Some("h\0\u{2028}é")] {
            let id = sender_id(id);
            let id = scope.map_or(id.clone(), |scope| id.within(scope));
            let sample = event("code", "1001", START);
            events.push(Event {
                id: EventId::of(&sample.source, &id),
                sender_id: id,
                ..sample
            });
        }
    }
    come_back(fixture, &events).await;
}

pub async fn headers_come_back_byte_for_byte_and_in_order<F: Fixture>(fixture: F) {
    let lists: [&[u8]; 5] = [
        b"",
        b"content-type: application/json; charset=utf-8\nx-shopify-topic: orders/create\n",
        b"x-name: \xe4\xf6\xfc\nx-more: \xff\xfe\nx-utf: \xc3\xa9\xf0\x9f\xa6\x80\n",
        b"b: 2\na: 1\nb: 1\na: 2\nb: 2\n",
        b"x-empty: \nx-colon: a: b: c\nx-tab: a\tb\nx-spaces: a  b\n",
    ];
    let mut events: Vec<_> = (0..)
        .zip(lists)
        .map(|(n, lines)| Event {
            headers: KeptHeaders::from_lines(lines),
            ..event("shop", &format!("headers-{n}"), START)
        })
        .collect();
    let long = format!("x-long: {}\n", "v".repeat(8000));
    events.push(Event {
        headers: KeptHeaders::from_lines(long.as_bytes()),
        ..event("shop", "headers-long", START)
    });
    come_back(fixture, &events).await;
}

pub async fn every_attempt_carries_what_the_first_did<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let event = with_body(&event("shop", "1001", START), vec![0xff; 300_000]);
    let planned = plan(&event, Run(0), &["chat"], START);
    stage.accept(&event, &planned).await;
    let key = &planned.first().expect("planned").key;
    let first = stage.fail(key, START, Next::Waiting(after(2))).await;
    let dead = Next::Dead(DeathReason::AttemptsUsedUp);
    let second = stage.fail(key, after(2), dead).await;
    stage.requeue(&Selection::AllDead, after(9), 1).await;
    let third = stage.go(key, after(9)).await;
    let again = plan(&event, Run(1), &["chat"], after(9));
    assert!(stage.replay(&event.id, Run(1), &again).await);
    let replayed = stage
        .go(&again.first().expect("planned").key, after(9))
        .await;
    for (which, attempt) in [
        ("first", first),
        ("second", second),
        ("redriven", third),
        ("replayed", replayed),
    ] {
        assert!(*attempt.event == event, "the {which} attempt");
    }
}
