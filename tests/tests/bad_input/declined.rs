//! Requests at a source's address that cannot be accepted: what they are answered, where they are counted, and what
//! nobody is told.

use std::collections::BTreeSet;

use http::StatusCode;
use serde_json::{Value, json};
use switchboard_tests::setting::{self, configuration, sender, start};
use switchboard_tests::sink::Sink;
use switchboard_tests::switchboard::Switchboard;
use switchboard_tests::wire;

/// A Switchboard that takes bodies of 1,000 bytes at most.
async fn small() -> (Sink, Switchboard) {
    let sink = Sink::start().await;
    let text = format!("max_body = 1000\n{}", configuration(&sink));
    let switchboard = Switchboard::start(start(&text)).await;
    (sink, switchboard)
}

async fn list(switchboard: &Switchboard, name: &str) -> Vec<Value> {
    let items = switchboard.get(&format!("/api/{name}")).await["items"].take();
    items.as_array().expect("a list").clone()
}

#[tokio::test]
async fn each_is_answered_as_it_is_and_counted_by_source_and_cause() {
    let (sink, switchboard) = small().await;
    let payments = sender(&switchboard, "payments");
    let unknown = switchboard.sender("nobody", "stripe", setting::SOURCES[1].3);
    let without_id = br#"{"type": "charge.refunded"}"#;
    let no_json = b"not JSON";
    for body in [&without_id[..], &without_id[..], no_json] {
        let headers = payments.headers("", "", body);
        let answer = payments.post(headers, body.to_vec()).await;
        assert_eq!(
            (answer.status, answer.body),
            (StatusCode::BAD_REQUEST, json!({ "status": "unreadable" }))
        );
    }
    let long = vec![b' '; 1001];
    let answer = payments.post(payments.headers("", "", &long), long).await;
    assert_eq!(
        (answer.status, answer.body),
        (
            StatusCode::PAYLOAD_TOO_LARGE,
            json!({ "status": "too large" })
        )
    );
    let headers = unknown.headers("", "", b"{}");
    let answer = unknown.post(headers, "{}").await;
    assert_eq!(
        (answer.status, answer.body),
        (StatusCode::NOT_FOUND, json!({ "status": "unknown source" }))
    );
    let shop = sender(&switchboard, "shop");
    let kind = "k".repeat(256);
    assert_eq!(
        shop.send("1", &kind, "{}").await.status,
        StatusCode::BAD_REQUEST
    );
    assert_eq!(
        shop.send(&"i".repeat(1025), "kind", "{}").await.status,
        StatusCode::BAD_REQUEST
    );

    let overview = switchboard.get("/api/overview").await;
    let counts: BTreeSet<(Option<&str>, u64, &str, u64)> = overview["declined"]
        .as_array()
        .expect("counts")
        .iter()
        .map(|one| {
            let number = |name: &str| one[name].as_u64().expect("a number");
            (
                one["source"].as_str(),
                number("status"),
                one["cause"].as_str().expect("a cause"),
                number("count"),
            )
        })
        .collect();
    let due = BTreeSet::from([
        (Some("payments"), 400, "the body has no id", 2),
        (Some("payments"), 400, "the body is not readable", 1),
        (Some("payments"), 413, "the body is over the limit", 1),
        (Some("shop"), 400, "the kind is longer than 255 bytes", 1),
        (
            Some("shop"),
            400,
            "the id is longer than 1024 bytes or empty",
            1,
        ),
        (None, 404, "no source of that name", 1),
    ]);
    assert_eq!(counts, due);
    let totals = &overview["totals"];
    assert_eq!(
        (
            &totals["declined"],
            &totals["refused"],
            &totals["received"],
            &totals["stored"]
        ),
        (&json!(7), &json!(0), &json!(0), &json!(0)),
        "{totals}"
    );
    let listed = list(&switchboard, "declined").await;
    assert_eq!(listed.len(), 7);
    let unknown = listed
        .iter()
        .find(|one| one["status"] == 404)
        .expect("the unknown source");
    assert_eq!(
        (&unknown["path"], &unknown["source"]),
        (&json!("/in/nobody"), &Value::Null)
    );
    assert_eq!(
        list(&switchboard, "refusals").await,
        Vec::<Value>::new(),
        "none of them is a bad signature"
    );
    assert_eq!(list(&switchboard, "events").await, Vec::<Value>::new());
    assert!(sink.received().is_empty(), "nothing is delivered");
}

#[tokio::test]
async fn exactly_the_limit_is_taken() {
    let (sink, switchboard) = small().await;
    let body = vec![b'x'; 1000];
    assert_eq!(
        sender(&switchboard, "shop")
            .send("1", "kind", body)
            .await
            .status,
        StatusCode::OK
    );
    assert_eq!(sink.wait_for(1).await[0].body.len(), 1000);
}

#[tokio::test]
async fn a_body_that_grows_over_the_limit_is_cut_off_whatever_it_announced() {
    let (_sink, switchboard) = small().await;
    let chunk = format!("3e9\r\n{}\r\n0\r\n\r\n", "x".repeat(1001));
    let headers = [("host", "localhost"), ("transfer-encoding", "chunked")];
    let reply = wire::raw(&switchboard.url, "POST", "/in/shop", &headers, &chunk).await;
    assert_eq!(reply.status, 413, "{}", reply.head);
    assert_eq!(switchboard.total("declined").await, 1);
}

#[tokio::test]
async fn another_method_is_answered_405_with_the_one_that_is_allowed() {
    let (_sink, switchboard) = small().await;
    for method in ["GET", "PUT", "DELETE", "OPTIONS", "PATCH"] {
        let reply = wire::ask(
            &switchboard.url,
            method,
            "/in/shop",
            &[("host", "localhost")],
            "",
        )
        .await;
        assert_eq!(
            (reply.status, reply.header("allow")),
            (405, Some("POST")),
            "{method}: {}",
            reply.head
        );
    }
    let overview = switchboard.get("/api/overview").await;
    assert_eq!(overview["totals"]["refused"], 0);
    assert_eq!(list(&switchboard, "refusals").await, Vec::<Value>::new());
}

#[tokio::test]
async fn an_address_that_is_not_exactly_a_source_s_is_unknown() {
    let (_sink, switchboard) = small().await;
    let shop = sender(&switchboard, "shop");
    let headers = shop.headers("1", "kind", b"{}");
    let mut lines: Vec<(&str, &str)> = headers
        .iter()
        .map(|(name, value)| (name.as_str(), value.to_str().expect("text")))
        .collect();
    lines.push(("host", "localhost"));
    for path in [
        "/in/",
        "/in/shop/",
        "/in//shop",
        "/in/Shop",
        "/in/sh%6Fp",
        "/in/shop%2F",
        "/in/shop/more",
        "/prod/in/shop",
    ] {
        let reply = wire::ask(&switchboard.url, "POST", path, &lines, "{}").await;
        assert_eq!(reply.status, 404, "{path}");
    }
    let reply = wire::ask(
        &switchboard.url,
        "POST",
        "/in/shop?api_version=1",
        &lines,
        "{}",
    )
    .await;
    assert_eq!(
        reply.status, 200,
        "a query is not part of the address: {}",
        reply.head
    );
    assert_eq!(list(&switchboard, "refusals").await, Vec::<Value>::new());
}

#[tokio::test]
async fn whoever_is_refused_is_told_nothing_of_why() {
    let (_sink, switchboard) = small().await;
    let host = ("host", "localhost");
    let unsigned = wire::ask(&switchboard.url, "POST", "/in/shop", &[host], "{}").await;
    let malformed = [host, ("x-shopify-hmac-sha256", "AAAA")];
    let malformed = wire::ask(&switchboard.url, "POST", "/in/shop", &malformed, "{}").await;
    let wrong = [
        host,
        (
            "x-shopify-hmac-sha256",
            "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
        ),
    ];
    let wrong = wire::ask(&switchboard.url, "POST", "/in/shop", &wrong, "{}").await;
    for reply in [unsigned, malformed, wrong] {
        assert_eq!(
            (reply.status, &*reply.body),
            (401, r#"{"status":"refused"}"#)
        );
        for word in ["shopify", "secret", "signature", "hmac", "switchboard/"] {
            assert!(
                !reply.head.to_lowercase().contains(word),
                "{word}: {}",
                reply.head
            );
        }
    }
    let reasons: BTreeSet<String> = list(&switchboard, "refusals")
        .await
        .iter()
        .map(|refusal| refusal["reason"].to_string())
        .collect();
    assert_eq!(reasons.len(), 3, "operators see each reason: {reasons:?}");
    assert_eq!(switchboard.total("declined").await, 0);
}
