//! Kinds and ids of every spelling: matched exactly, handed on as they came, and never a header of their own.

use std::collections::BTreeMap;

use http::{HeaderValue, StatusCode};
use serde_json::json;
use switchboard_tests::setting::{running, sender};

#[tokio::test]
async fn a_kind_is_matched_exactly_and_shown_and_forwarded_in_its_own_spelling() {
    let (sink, switchboard) = running().await;
    let shop = sender(&switchboard, "shop");
    // Spaces around a header's value are no part of it (RFC 9110, 5.5), so that the last one is the routed kind.
    let spellings = [
        ("Orders/Create", 1),
        ("ORDERS/CREATE", 1),
        ("Push", 1),
        ("orders/create ", 2),
    ];
    for (spelling, _) in spellings {
        assert_eq!(
            shop.send(spelling, spelling, "{}").await.status,
            StatusCode::OK,
            "{spelling:?}"
        );
    }
    let received = sink.wait_for(5).await;
    let mut by_topic = BTreeMap::<&str, usize>::new();
    for one in &received {
        let topic = one.header("x-shopify-topic");
        assert_eq!(one.header("switchboard-kind"), topic);
        *by_topic.entry(topic).or_default() += 1;
    }
    let due = spellings.map(|(spelling, deliveries)| (spelling.trim(), deliveries));
    assert_eq!(by_topic, BTreeMap::from(due));
    let events = switchboard.get("/api/events").await;
    let mut shown: Vec<&str> = events["items"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|event| event["kind"].as_str().expect("a kind"))
        .collect();
    shown.sort_unstable();
    assert_eq!(
        shown,
        ["ORDERS/CREATE", "Orders/Create", "Push", "orders/create"]
    );
}

#[tokio::test]
async fn what_a_payment_calls_itself_cannot_add_a_header_and_is_delivered_at_once() {
    let (sink, switchboard) = running().await;
    let payments = sender(&switchboard, "payments");
    for (id, kind) in [
        ("evt_1", "x\r\nX-Evil: 1"),
        ("evt_2", "a\0b"),
        ("evt\r\nX-Evil: 1", "plain"),
        ("evt_3\r\n\r\nGET / HTTP/1.1", "größe 😀"),
    ] {
        let body = json!({ "id": id, "type": kind }).to_string();
        assert_eq!(
            payments.send("", "", body).await.status,
            StatusCode::OK,
            "{kind:?}"
        );
    }
    let long = json!({ "id": "evt_4", "type": "k".repeat(100_000) }).to_string();
    assert_eq!(
        payments.send("", "", long).await.status,
        StatusCode::BAD_REQUEST
    );
    switchboard.wait_total("delivered", 4).await;
    let received = sink.received();
    assert_eq!(received.len(), 4, "each at its first attempt");
    for one in &received {
        assert!(!one.headers.contains_key("x-evil"), "{one:#?}");
    }
    let mut kinds: Vec<&str> = received
        .iter()
        .map(|one| one.header("switchboard-kind"))
        .collect();
    kinds.sort_unstable();
    assert_eq!(
        kinds,
        [
            "a%00b",
            "gr%C3%B6%C3%9Fe%20%F0%9F%98%80",
            "plain",
            "x%0D%0AX-Evil:%201"
        ]
    );
}

#[tokio::test]
async fn a_header_outside_ascii_is_answered_400_or_handed_on_and_breaks_nothing() {
    let (sink, switchboard) = running().await;
    let mut accepted = 0;
    for (source, name) in [
        ("shop", "x-shopify-topic"),
        ("shop", "x-shopify-webhook-id"),
        ("code", "x-github-event"),
        ("code", "x-github-delivery"),
        ("shop", "x-anything-else"),
    ] {
        for value in ["größe".as_bytes(), &[b'a', 0xe4], &[0xff, 0xfe]] {
            let own = sender(&switchboard, source);
            let mut headers = own.headers(&format!("{name}-{accepted}"), "kind", b"{}");
            headers.insert(name, HeaderValue::from_bytes(value).expect("a value"));
            let answer = own.post(headers, "{}").await;
            let is_text = std::str::from_utf8(value).is_ok();
            let status = if is_text || name == "x-anything-else" {
                200
            } else {
                400
            };
            assert_eq!(
                answer.status.as_u16(),
                status,
                "{source}: {name}: {value:?}"
            );
            accepted += usize::from(status == 200);
        }
    }
    switchboard.wait_total("delivered", accepted as u64).await;
    let received = sink.received();
    assert_eq!(received.len(), accepted, "each at its first attempt");
    let untouched = received
        .iter()
        .filter_map(|one| one.headers.get("x-anything-else"));
    assert_eq!(
        untouched.filter(|value| value.to_str().is_err()).count(),
        3,
        "as bytes"
    );
    assert!(
        received
            .iter()
            .any(|one| one.header("switchboard-kind") == "gr%C3%B6%C3%9Fe")
    );
}
