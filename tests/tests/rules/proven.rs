//! Rule 1: the signature is checked over the raw bytes before anything is parsed; what fails is 401 and listed.

use http::{HeaderValue, StatusCode};
use serde_json::json;
use switchboard_tests::wait;

use switchboard_tests::setting::SOURCES;

use crate::setting::{running, secret, sender, shop};

#[tokio::test]
async fn every_scheme_is_accepted_at_its_own_address_and_refused_at_any_other() {
    let (_sink, switchboard) = running().await;
    let body = br#"{"id":"evt_1","type":"something.happened"}"#.as_slice();
    for (source, scheme, _, secret) in SOURCES {
        let answer = switchboard
            .sender(source, scheme, secret)
            .send("id-1", "something.happened", body)
            .await;
        assert_eq!(answer.status, StatusCode::OK, "{source}: {}", answer.body);
        assert_eq!(answer.body["status"], "accepted");
        for (other, ..) in SOURCES.iter().filter(|(other, ..)| *other != source) {
            let answer = switchboard
                .sender(other, scheme, secret)
                .send("id-2", "something.happened", body)
                .await;
            assert_eq!(
                answer.status,
                StatusCode::UNAUTHORIZED,
                "{source}'s request at {other}"
            );
            assert_eq!(
                answer.body,
                json!({ "status": "refused" }),
                "the sender is told nothing"
            );
        }
    }
    assert_eq!(switchboard.total("stored").await, 4);
    assert_eq!(switchboard.total("refused").await, 12);
}

#[tokio::test]
async fn one_changed_byte_is_refused_and_listed_with_its_reason() {
    let (sink, switchboard) = running().await;
    let shop = shop(&switchboard);
    let headers = shop.headers("id-1", "orders/create", b"{\"total\": 1}");
    assert_eq!(
        shop.post(headers.clone(), "{\"total\": 2}").await.status,
        StatusCode::UNAUTHORIZED
    );
    let near = shop.headers("id-1", "orders/create", b"{}\n");
    assert_eq!(shop.post(near, "{}").await.status, StatusCode::UNAUTHORIZED);
    let refusals = switchboard.get("/api/refusals").await;
    let items = refusals["items"].as_array().expect("a list");
    assert_eq!(items.len(), 2);
    let (newest, first) = (&items[0], &items[1]);
    assert_eq!(first["source"], "shop");
    assert_eq!(
        first["reason"],
        "the signature is not that of any secret of this source"
    );
    assert_eq!(
        (
            first["secrets_tried"].as_u64(),
            first["body_length"].as_u64()
        ),
        (Some(1), Some(12))
    );
    assert_eq!(first["content_type"], "application/json");
    assert!(first["at"].as_str().is_some_and(|at| at.ends_with('Z')));
    assert!(
        newest["near_miss"]
            .as_str()
            .is_some_and(|near| near.contains("line end")),
        "{newest}"
    );
    let shown = refusals.to_string();
    assert!(
        !shown.contains(secret("shop"))
            && !shown.contains(headers["x-shopify-hmac-sha256"].to_str().expect("text"))
    );
    assert!(sink.received().is_empty(), "nothing refused is delivered");
}

#[tokio::test]
async fn the_bytes_are_kept_as_they_came_whatever_they_hold() {
    let (sink, switchboard) = running().await;
    let bodies: [&[u8]; 4] = [
        "{\"größe\": \"😀 e\u{301} \u{2028} \u{202e}עברית\", \"n\": 9007199254740993}".as_bytes(),
        b"\xef\xbb\xbf{\"with\": \"a mark\"}",
        b"\xff\xfe\x00 not text \r\n",
        b"",
    ];
    for (n, body) in bodies.into_iter().enumerate() {
        let answer = shop(&switchboard)
            .send(&format!("id-{n}"), "some/kind", body)
            .await;
        assert_eq!(answer.status, StatusCode::OK, "body {n}");
    }
    let mut received: Vec<_> = sink
        .wait_for(4)
        .await
        .into_iter()
        .map(|received| received.body.to_vec())
        .collect();
    received.sort();
    let mut sent: Vec<_> = bodies.iter().map(|body| body.to_vec()).collect();
    sent.sort();
    assert_eq!(received, sent);
}

#[tokio::test]
async fn a_source_with_two_secrets_accepts_either() {
    let sink = switchboard_tests::sink::Sink::start().await;
    let mut start = crate::setting::start(&sink);
    let both = start
        .configuration
        .take()
        .map(|text| text.replace("[\"env:SHOP\"]", "[\"env:OLD\", \"env:SHOP\"]"));
    start.configuration = both;
    let old = "shpss_the_secret_before_this_one_00";
    let switchboard =
        switchboard_tests::switchboard::Switchboard::start(start.set("OLD", old)).await;
    for (id, secret) in [("1", old), ("2", secret("shop"))] {
        let answer = switchboard
            .sender("shop", "shopify", secret)
            .send(id, "orders/create", "{}")
            .await;
        assert_eq!(answer.status, StatusCode::OK, "{id}");
    }
}

#[tokio::test]
async fn a_header_of_the_sender_cannot_add_one_at_the_destination() {
    let (sink, switchboard) = running().await;
    let payments = sender(&switchboard, "payments");
    let body = r#"{"id":"evt_9","type":"x\r\nX-Evil: 1\u0000ü"}"#;
    let mut headers = payments.headers("", "", body.as_bytes());
    headers.insert("authorization", HeaderValue::from_static("Bearer theirs"));
    headers.insert("cookie", HeaderValue::from_static("a=b"));
    headers.insert("connection", HeaderValue::from_static("x-hop"));
    headers.insert("x-hop", HeaderValue::from_static("1"));
    headers.insert("idempotency-key", HeaderValue::from_static("theirs"));
    headers.insert("x-kept", HeaderValue::from_static("yes"));
    assert_eq!(payments.post(headers, body).await.status, StatusCode::OK);
    let received = sink.wait_for(1).await.remove(0);
    assert_eq!(
        received.header("switchboard-kind"),
        "x%0D%0AX-Evil:%201%00%C3%BC"
    );
    assert_eq!(received.header("x-kept"), "yes");
    for gone in ["x-evil", "authorization", "cookie", "x-hop", "connection"] {
        assert!(
            !received.headers.contains_key(gone),
            "{gone} reached the destination"
        );
    }
    assert!(received.key().starts_with("dlv_"));
    wait::until("it is delivered", async || {
        (switchboard.total("delivered").await == 1).then_some(())
    })
    .await;
}
