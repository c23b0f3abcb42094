//! The sender's headers on their way through the store to a destination.

use std::sync::Arc;

use bytes::Bytes;
use http::HeaderMap;
use switchboard_core::attempt::Attempt;
use switchboard_core::delivery::DeliveryKey;
use switchboard_core::event::Event;
use switchboard_core::forward::{KeptHeaders, Signed, encoded, outgoing};
use switchboard_core::identity::{EventId, Run};
use switchboard_core::names::{ActionName, DestinationName, Kind, SenderId, SourceName};
use switchboard_core::time::Timestamp;

use crate::request;

/// What never goes on: it would speak for the sender's connection, credentials or route.
const NEVER: [&str; 18] = [
    "authorization",
    "connection",
    "content-length",
    "cookie",
    "expect",
    "forwarded",
    "host",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "via",
    "x-amzn-trace-id",
    "x-forwarded-for",
];

/// What is kept comes back out of the store as it went in; what goes out is ours, the sender's and nothing else, and
/// nothing that a sender wrote adds a header or moves one.
pub fn kept(input: &[u8]) {
    let stored = KeptHeaders::from_lines(input);
    assert_eq!(
        KeptHeaders::from_lines(&stored.to_lines()),
        stored,
        "what the store holds"
    );
    let told = request::read(input, 1);
    let kept = KeptHeaders::of(&told.headers);
    assert_eq!(
        KeptHeaders::from_lines(&kept.to_lines()),
        kept,
        "what is kept"
    );
    let connection: Vec<String> = told
        .headers
        .get_all("connection")
        .iter()
        .flat_map(|value| value.as_bytes().split(|byte| *byte == b','))
        .map(|name| request::text(name.trim_ascii()).to_ascii_lowercase())
        .collect();
    for (name, value) in kept.iter() {
        assert!(
            !connection.iter().any(|named| named == name.as_str()),
            "{name} is named in Connection"
        );
        assert!(!NEVER.contains(&name.as_str()), "{name} is kept");
        let came = told.headers.get_all(name);
        assert!(came.iter().any(|other| other == value), "{name} changed");
    }
    let text = request::text(told.first[0]);
    let plain = encoded(&text);
    assert!(
        plain.as_bytes().iter().all(u8::is_ascii_graphic) && plain.is_empty() == text.is_empty(),
        "{text:?} is written as {plain:?}"
    );
    let back: Vec<u8> = percent_encoding::percent_decode(plain.as_bytes()).collect();
    assert_eq!(back, text.as_bytes(), "{plain:?} is not {text:?}");
    for kept in [stored_as_kept(&stored), kept] {
        for signed in [Signed::Yes, Signed::No] {
            sent(&text, kept.clone(), signed);
        }
    }
}

/// What a store holds was kept by the same rule, so only that goes out again.
fn stored_as_kept(stored: &KeptHeaders) -> KeptHeaders {
    let headers: HeaderMap = stored
        .iter()
        .take(200)
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    KeptHeaders::of(&headers)
}

fn sent(kind: &str, kept: KeptHeaders, signed: Signed) {
    let key = DeliveryKey::of(&event_id(), destination(), ActionName::deliver(), Run(0));
    let id = key.id.clone();
    let attempt = Attempt {
        key,
        event: Arc::new(Event {
            id: event_id(),
            source: source(),
            sender_id: sender_id(),
            kind: Kind::new(kind).unwrap_or_default(),
            received_at: Timestamp::from_seconds(0),
            headers: kept,
            body: Bytes::new(),
        }),
        number: 1,
        in_round: 1,
    };
    let mut own = HeaderMap::new();
    own.insert("authorization", "Bearer ours".parse().expect("a value"));
    own.insert("x-ours", "ours".parse().expect("a value"));
    let headers = outgoing(&attempt, &own, signed);
    let one = |name: &str| {
        let mut all = headers.get_all(name).iter();
        (all.next().cloned(), all.next().is_none())
    };
    for (name, value) in [
        ("idempotency-key", id.as_str()),
        ("switchboard-event", event_id().as_str()),
        ("switchboard-attempt", "1"),
        ("authorization", "Bearer ours"),
        ("x-ours", "ours"),
    ] {
        let (found, alone) = one(name);
        assert!(
            alone && found.is_some_and(|found| found == value),
            "{name} is ours"
        );
    }
    for name in NEVER.into_iter().filter(|name| *name != "authorization") {
        assert!(!headers.contains_key(name), "{name} is sent");
    }
    if signed == Signed::Yes {
        let theirs = |name: &str| name.starts_with("webhook-") || name.starts_with("svix-");
        assert!(!headers.keys().any(|name| theirs(name.as_str())));
    }
}

fn source() -> SourceName {
    SourceName::parse("one").expect("a name")
}

fn destination() -> DestinationName {
    DestinationName::parse("two").expect("a name")
}

fn sender_id() -> SenderId {
    SenderId::new("1").expect("an id")
}

fn event_id() -> EventId {
    EventId::of(&source(), &sender_id())
}
