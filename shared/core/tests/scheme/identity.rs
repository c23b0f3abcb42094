//! Whom an event is known by: which header or field is the id, when two are one event, and which ids are refused.

use http::HeaderMap;
use switchboard_core::identity::EventId;
use switchboard_core::names::{Kind, SourceName};
use switchboard_core::refusal::{Cause, Unreadable};
use switchboard_core::scheme::Identity;

use crate::signed::{check, headers, named, senders_key, signed, source};

fn identify(scheme: &str, headers: &HeaderMap, body: &[u8]) -> Result<Identity, Unreadable> {
    (named(scheme).identify)(headers, body)
}

/// What a repeat is known by.
fn key(scheme: &str, headers: &HeaderMap, body: &[u8]) -> EventId {
    let identity = identify(scheme, headers, body).expect("an identity");
    let source = SourceName::parse("source").expect("name");
    EventId::of(&source, &identity.sender_id)
}

/// Id and kind of a payment with this body, after its signature was found to hold.
fn payment(body: &[u8]) -> Result<(String, String), Unreadable> {
    let headers = signed("stripe", senders_key("stripe"), body);
    check(&source("stripe"), &headers, body).expect("the signature holds");
    identify("stripe", &headers, body).map(|identity| {
        let id = identity.sender_id.as_str().to_owned();
        (id, identity.kind.as_str().to_owned())
    })
}

fn github(delivery: &str, hook: Option<&str>) -> HeaderMap {
    let mut lines = vec![("X-GitHub-Delivery", delivery), ("X-GitHub-Event", "push")];
    lines.extend(hook.map(|hook| ("X-GitHub-Hook-ID", hook)));
    headers(&lines)
}

#[test]
fn a_shop_event_is_known_by_its_webhook_id_and_never_by_the_action_that_caused_it() {
    let sent = |topic, webhook| {
        headers(&[
            ("X-Shopify-Topic", topic),
            ("X-Shopify-Webhook-Id", webhook),
            ("X-Shopify-Event-Id", "one-action"),
        ])
    };
    let created = key("shopify", &sent("orders/create", "w1"), b"{}");
    let updated = key("shopify", &sent("orders/updated", "w2"), b"{}");
    assert_ne!(created, updated, "one action of a merchant, two events");
    let again = key("shopify", &sent("orders/create", "w1"), b"{}");
    assert_eq!(created, again, "a repeat");
}

#[test]
fn a_shop_event_without_a_webhook_id_is_known_by_event_id_and_topic() {
    let sent = |topic| {
        headers(&[
            ("X-Shopify-Topic", topic),
            ("X-Shopify-Event-Id", "one-action"),
        ])
    };
    let created = key("shopify", &sent("orders/create"), b"{}");
    assert_ne!(created, key("shopify", &sent("orders/updated"), b"{}"));
    assert_eq!(created, key("shopify", &sent("orders/create"), b"{}"));
    let neither = headers(&[("X-Shopify-Topic", "orders/create")]);
    assert_eq!(
        identify("shopify", &neither, b"{}"),
        Err(Unreadable::MissingHeader {
            header: "x-shopify-webhook-id"
        })
    );
}

#[test]
fn the_same_delivery_id_from_two_hooks_is_two_events() {
    let ids = [
        key("github", &github("d1", Some("1")), b"{}"),
        key("github", &github("d1", Some("2")), b"{}"),
        key("github", &github("d1", None), b"{}"),
        key("github", &github("d11", Some("")), b"{}"),
    ];
    for (n, id) in ids.iter().enumerate() {
        assert!(!ids[..n].contains(id), "{n}");
    }
    let again = key("github", &github("d1", Some("1")), b"{\"other\":\"body\"}");
    assert_eq!(again, ids[0], "a redelivery carries the same id");
}

#[test]
fn a_repeated_identity_header_is_unreadable_and_never_one_joined_id() {
    for (scheme, header) in [
        ("github", "x-github-delivery"),
        ("github", "x-github-hook-id"),
        ("shopify", "x-shopify-webhook-id"),
        ("shopify", "x-shopify-topic"),
        ("standard-webhooks", "webhook-id"),
    ] {
        let mut twice = headers(&[
            ("x-github-delivery", "a"),
            ("x-github-hook-id", "1"),
            ("x-shopify-webhook-id", "a"),
            ("x-shopify-topic", "t"),
            ("webhook-id", "a"),
        ]);
        assert!(identify(scheme, &twice, b"{}").is_ok(), "{header} once");
        twice.append(header, "b".parse().expect("value"));
        assert_eq!(
            identify(scheme, &twice, b"{}"),
            Err(Unreadable::RepeatedHeader { header })
        );
    }
}

#[test]
fn an_unsigned_identity_header_that_a_gateway_joined_is_known_as_repeated() {
    for joined in ["a,b", "a, b", "a,a"] {
        for (scheme, header, lines) in [
            (
                "github",
                "x-github-delivery",
                vec![("x-github-delivery", joined)],
            ),
            (
                "github",
                "x-github-hook-id",
                vec![("x-github-delivery", "a"), ("x-github-hook-id", joined)],
            ),
            (
                "shopify",
                "x-shopify-webhook-id",
                vec![("x-shopify-webhook-id", joined)],
            ),
            (
                "shopify",
                "x-shopify-event-id",
                vec![("x-shopify-event-id", joined)],
            ),
        ] {
            assert_eq!(
                identify(scheme, &headers(&lines), b"{}"),
                Err(Unreadable::RepeatedHeader { header }),
                "{joined:?}"
            );
        }
    }
}

#[test]
fn ids_up_to_1024_bytes_are_accepted_and_longer_ones_are_a_400() {
    let form = |id: &str| {
        identify("standard-webhooks", &headers(&[("webhook-id", id)]), b"{}")
            .map(|identity| identity.sender_id.as_str().to_owned())
    };
    for length in [1, 255, 1024] {
        let id = "i".repeat(length);
        assert_eq!(form(&id), Ok(id.clone()));
        let body = format!("{{\"id\":\"{id}\"}}");
        assert_eq!(payment(body.as_bytes()), Ok((id, String::new())));
    }
    for length in [1025, 2048, 10_000] {
        let id = "i".repeat(length);
        assert_eq!(form(&id), Err(Unreadable::IdLength));
        let body = format!("{{\"id\":\"{id}\"}}");
        assert_eq!(payment(body.as_bytes()), Err(Unreadable::IdLength));
    }
    assert_eq!(payment(b"{\"id\":\"\"}"), Err(Unreadable::IdLength));
    assert_eq!(Cause::Unreadable(Unreadable::IdLength).status(), 400);
}

#[test]
fn ids_of_any_characters_are_kept_as_they_are_and_never_meet() {
    let ids = [
        "a b", "a  b", "a/b", "a#b", "a%2Fb", "a🦊b", "a\u{0}b", "a\nb", "a.b", "a:b", "a\u{1f}b",
        "ab",
    ];
    let mut keys = Vec::new();
    for id in ids {
        let body = serde_json::json!({ "id": id }).to_string();
        assert_eq!(
            payment(body.as_bytes()),
            Ok((id.to_owned(), String::new())),
            "{id:?}"
        );
        keys.push(key("stripe", &HeaderMap::new(), body.as_bytes()));
    }
    for (n, id) in keys.iter().enumerate() {
        assert!(!keys[..n].contains(id), "{:?}", ids[n]);
    }
}

#[test]
fn a_kind_is_kept_byte_for_byte_and_over_255_bytes_it_is_a_400() {
    for kind in ["Orders/Create", "ORDERS/CREATE", "größe", "x\r\nX-Evil: 1"] {
        let body = serde_json::json!({ "id": "evt_1", "type": kind }).to_string();
        let due = ("evt_1".to_owned(), kind.to_owned());
        assert_eq!(payment(body.as_bytes()), Ok(due));
    }
    let body = serde_json::json!({ "id": "evt_1", "type": "k".repeat(256) }).to_string();
    assert_eq!(payment(body.as_bytes()), Err(Unreadable::KindTooLong));
}

#[test]
fn a_byte_order_mark_is_skipped_for_reading_only() {
    let marked = b"\xef\xbb\xbf{\"id\":\"evt_1\",\"type\":\"k\"}";
    let due = ("evt_1".to_owned(), "k".to_owned());
    assert_eq!(payment(marked), Ok(due));
    let form = headers(&[("webhook-id", "msg_1")]);
    let identity = identify("standard-webhooks", &form, marked).expect("an identity");
    assert_eq!(Some(identity.kind), Kind::new("k"));
}

#[test]
fn what_stands_beside_the_id_does_not_matter_however_deep_or_long_it_is() {
    let nested = |levels: usize| {
        let (open, close) = ("[".repeat(levels), "]".repeat(levels));
        format!("{{\"data\":{open}{close},\"id\":\"evt_1\",\"type\":\"k\"}}")
    };
    let due = Ok(("evt_1".to_owned(), "k".to_owned()));
    assert_eq!(payment(nested(200).as_bytes()), due);
    assert_eq!(payment(nested(100_000).as_bytes()), due);
    let long = format!(
        "{{\"id\":\"evt_1\",\"type\":\"k\",\"data\":\"{}\"}}",
        "x".repeat(1024 * 1024)
    );
    assert_eq!(payment(long.as_bytes()), due);
    let half_a_pair = br#"{"id":"evt_1","type":"k","data":"\ud83e"}"#;
    assert_eq!(payment(half_a_pair), due);
    let exact = br#"{"amount":9007199254740993,"id":"evt_1","type":"k"}"#;
    assert_eq!(payment(exact), due);
}

#[test]
fn a_body_that_names_no_one_id_is_unreadable() {
    let deep = "[".repeat(100_000);
    for body in [
        "",
        "{",
        "null",
        "hello",
        r#"{"id":"evt_1","id":"evt_2"}"#,
        r#"{"id":"evt_1","id":"evt_1"}"#,
        r#"{"id":"evt_1","type":"a","type":"b"}"#,
        r#"{"id":7}"#,
        r#"{"id":"\ud83e"}"#,
        r#"{"id":"evt_1"}{"id":"evt_2"}"#,
        &deep,
        &format!("{{\"id\":{deep}"),
        &format!("{{\"id\":{}", "{\"id\":".repeat(100_000)),
    ] {
        let start: String = body.chars().take(40).collect();
        assert_eq!(
            payment(body.as_bytes()),
            Err(Unreadable::BodyNotReadable),
            "{start}"
        );
    }
    for body in ["{}", r#"{"id":null}"#, r#"{"object":{"id":"evt_1"}}"#] {
        assert_eq!(payment(body.as_bytes()), Err(Unreadable::BodyWithoutId));
    }
    let text = Cause::Unreadable(Unreadable::BodyNotReadable).to_string();
    assert_eq!(text, "the body is not readable");
}

#[test]
fn a_form_event_whose_body_has_no_readable_type_is_kept_without_a_kind() {
    let form = headers(&[("webhook-id", "msg_1")]);
    let deep = "[".repeat(100_000);
    for body in [
        "",
        "{}",
        "hello",
        r#"{"type":7}"#,
        r#"{"type":"a","type":"b"}"#,
        &deep,
    ] {
        let identity = identify("standard-webhooks", &form, body.as_bytes()).expect("an identity");
        assert_eq!(identity.sender_id.as_str(), "msg_1");
        assert_eq!(identity.kind, Kind::default());
    }
}

#[test]
fn only_the_white_space_of_http_is_cut_off_an_id() {
    let plain = key("github", &github("ws1", None), b"{}");
    assert_eq!(key("github", &github(" ws1\t", None), b"{}"), plain);
    for other in ["ws1\u{a0}", "\u{3000}ws1"] {
        assert_ne!(
            key("github", &github(other, None), b"{}"),
            plain,
            "{other:?}"
        );
    }
}

#[test]
fn a_hook_has_a_longest_length_as_an_id_has() {
    let sent = |length| identify("github", &github("1", Some(&"h".repeat(length))), b"{}");
    assert!(sent(1024).is_ok());
    assert_eq!(sent(1025), Err(Unreadable::IdLength));
}
