//! Bodies of every size and form: each goes on whole to every destination, or is answered so that nothing was stored.

use http::{HeaderValue, StatusCode};
use serde_json::Value;
use switchboard_tests::setting::{configuration, running, sender, start};
use switchboard_tests::sink::Sink;
use switchboard_tests::switchboard::Switchboard;

/// A number with more digits than a float holds.
const LONG: &str = "90071992547409931234567890";

/// A Switchboard that takes bodies of this many bytes at most.
async fn taking(bytes: usize) -> (Sink, Switchboard) {
    let sink = Sink::start().await;
    let text = format!("max_body = {bytes}\n{}", configuration(&sink));
    let switchboard = Switchboard::start(start(&text)).await;
    (sink, switchboard)
}

#[tokio::test]
async fn a_large_body_is_delivered_whole_everywhere_or_refused_before_it_is_stored() {
    const LIMIT: usize = 1_048_576;
    let (sink, switchboard) = taking(LIMIT).await;
    let shop = sender(&switchboard, "shop");
    let mut sent = Vec::new();
    for length in [190_000, 255_000, 262_143, 300_000, 700_000, LIMIT] {
        let text = format!("{{\"n\":\"{}\"}}", "x".repeat(length - 8)).into_bytes();
        // No text at all: every byte there is, in an order of its own for each length.
        let binary: Vec<u8> = (0..length)
            .map(|n| (n.wrapping_mul(31) ^ (n >> 8)).to_le_bytes()[0])
            .collect();
        for (form, body) in [("text", text), ("binary", binary)] {
            assert_eq!(body.len(), length);
            let answer = shop
                .send(&format!("{form}-{length}"), "orders/create", body.clone())
                .await;
            assert_eq!(answer.status, StatusCode::OK, "{form} of {length}");
            sent.push(body);
        }
    }
    switchboard.wait_total("delivered", 24).await;
    let received = sink.received();
    for body in &sent {
        let copies = received.iter().filter(|one| one.body == *body);
        let mut places: Vec<&str> = copies.map(|one| one.path.as_str()).collect();
        places.sort_unstable();
        assert_eq!(
            places,
            ["/accounting", "/warehouse"],
            "a body of {}",
            body.len()
        );
    }
    for length in [LIMIT + 1, 2 * LIMIT] {
        let answer = shop
            .send("too-long", "orders/create", vec![b'x'; length])
            .await;
        assert_eq!(answer.status, StatusCode::PAYLOAD_TOO_LARGE, "{length}");
    }
    assert_eq!(switchboard.total("stored").await, 12);
}

#[tokio::test]
async fn the_limit_counts_bytes_and_not_characters() {
    let (_sink, switchboard) = taking(3000).await;
    let shop = sender(&switchboard, "shop");
    for (id, body, status) in [
        ("1", "a".repeat(3000), StatusCode::OK),
        ("2", "€".repeat(1000), StatusCode::OK),
        (
            "3",
            format!("{}a", "€".repeat(1000)),
            StatusCode::PAYLOAD_TOO_LARGE,
        ),
        ("4", "€".repeat(1001), StatusCode::PAYLOAD_TOO_LARGE),
        ("5", "a".repeat(3001), StatusCode::PAYLOAD_TOO_LARGE),
    ] {
        assert_eq!(
            shop.send(id, "some/kind", body).await.status,
            status,
            "{id}"
        );
    }
    assert_eq!(switchboard.total("stored").await, 2);
}

#[tokio::test]
async fn the_same_body_under_different_ids_is_as_many_events_also_when_it_is_empty() {
    let (sink, switchboard) = running().await;
    let shop = sender(&switchboard, "shop");
    for (id, body) in [("1", "{\"n\":1}"), ("2", "{\"n\":1}"), ("3", ""), ("4", "")] {
        let answer = shop.send(id, "some/kind", body).await;
        assert_eq!(answer.body["status"], "accepted", "{id}");
    }
    let received = sink.wait_for(4).await;
    assert_eq!(received.iter().filter(|one| one.body.is_empty()).count(), 2);
    assert_eq!(
        (
            switchboard.total("stored").await,
            switchboard.total("repeats").await
        ),
        (4, 0)
    );
}

#[tokio::test]
async fn a_payment_whose_body_is_deep_long_or_odd_is_accepted_or_unreadable_and_never_refused() {
    let (sink, switchboard) = running().await;
    let payments = sender(&switchboard, "payments");
    let nested = |levels: usize, id: &str| {
        let (open, close) = ("[".repeat(levels), "]".repeat(levels));
        format!("{{\"data\":{open}{close},\"id\":\"{id}\",\"type\":\"k\"}}")
    };
    let good = [
        nested(200, "evt_200"),
        nested(100_000, "evt_100000"),
        format!(
            "{{\"id\":\"evt_1mb\",\"type\":\"k\",\"data\":\"{}\"}}",
            "x".repeat(1_000_000)
        ),
        r#"{"id":"evt_half","type":"k","data":"\ud83e"}"#.to_owned(),
    ];
    for body in &good {
        let answer = payments.send("", "", body.clone()).await;
        assert_eq!(answer.status, StatusCode::OK, "{body:.60}");
    }
    let unreadable = [
        r#"{"id":"evt_1","id":"evt_2","type":"k"}"#.to_owned(),
        r#"{"id":"\ud83e","type":"k"}"#.to_owned(),
        "[".repeat(100_000),
        format!("{{\"id\":{}", "[".repeat(100_000)),
    ];
    for body in unreadable {
        let answer = payments.send("", "", body.clone()).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{body:.60}");
    }
    let declined = switchboard.get("/api/declined").await;
    let items = declined["items"].as_array().expect("a list");
    assert!(!items.is_empty());
    let readable = |one: &&Value| one["cause"] != "the body is not readable";
    assert_eq!(items.iter().find(readable), None);
    assert_eq!(
        (
            switchboard.total("declined").await,
            switchboard.total("refused").await
        ),
        (4, 0)
    );
    let mut received: Vec<_> = sink
        .wait_for(4)
        .await
        .into_iter()
        .map(|one| one.body)
        .collect();
    received.sort();
    let mut sent = good.map(bytes::Bytes::from);
    sent.sort();
    assert_eq!(received, sent);
}

#[tokio::test]
async fn bytes_and_content_type_arrive_as_they_were_sent() {
    let (sink, switchboard) = running().await;
    let shop = sender(&switchboard, "shop");
    let body = "{\"größe\": \"e\u{301}😀\"}\r\n".as_bytes();
    let types = [
        Some("application/json; charset=utf-8"),
        Some("application/vnd.x+json"),
        Some("text/plain;charset=\"x\""),
        None,
    ];
    for (n, content_type) in types.into_iter().enumerate() {
        let mut headers = shop.headers(&n.to_string(), "some/kind", body);
        headers.remove("content-type");
        if let Some(content_type) = content_type {
            headers.insert("content-type", HeaderValue::from_static(content_type));
        }
        assert_eq!(
            shop.post(headers, body).await.status,
            StatusCode::OK,
            "{content_type:?}"
        );
        let received = sink.wait_for(n + 1).await.remove(n);
        assert_eq!(received.body, body);
        let arrived = received
            .headers
            .get("content-type")
            .map(|value| value.to_str().expect("text"));
        assert_eq!(arrived, content_type);
    }
}

#[tokio::test]
async fn numbers_longer_than_a_float_holds_keep_every_digit() {
    let (sink, switchboard) = running().await;
    let body = format!(
        "{{\"id\":\"9007199254740993\",\"type\":\"k\",\"n\":{LONG},\"m\":9007199254740993}}"
    );
    let answer = sender(&switchboard, "payments")
        .send("", "", body.clone())
        .await;
    assert_eq!(answer.status, StatusCode::OK);
    let code = sender(&switchboard, "code")
        .send(LONG, "push", body.clone())
        .await;
    assert_eq!(code.status, StatusCode::OK);
    for received in sink.wait_for(2).await {
        assert_eq!(received.body, body);
    }
    let events = switchboard.get("/api/events").await;
    let mut ids: Vec<_> = events["items"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| one["sender_id"].clone())
        .collect();
    ids.sort_by_key(ToString::to_string);
    assert_eq!(ids, ["9007199254740993", LONG]);
}
