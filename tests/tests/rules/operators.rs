//! What operators do, and what the page is made of (rule 8).

use http::{HeaderMap, Method, StatusCode};
use serde_json::json;
use switchboard_tests::wait::DEADLINE;
use switchboard_web::client;

use crate::setting::{running, shop};

#[tokio::test]
async fn a_held_destination_waits_and_is_released_without_losing_any() {
    let (sink, switchboard) = running().await;
    let hold = json!({ "destination": "accounting" });
    switchboard
        .ask(Method::POST, "/admin/hold", Some(hold.clone()))
        .await;
    for n in 0..5 {
        shop(&switchboard)
            .send(&format!("id-{n}"), "orders/create", "{}")
            .await;
    }
    switchboard.wait_total("held", 5).await;
    switchboard.wait_total("delivered", 5).await;
    assert!(
        sink.received()
            .iter()
            .all(|received| received.path == "/warehouse")
    );
    let release = json!({ "destination": "accounting", "per_second": 100 });
    let (status, answer) = switchboard
        .ask(Method::POST, "/admin/release", Some(release))
        .await;
    assert_eq!(
        (status, &answer["released"], &answer["left"]),
        (StatusCode::OK, &json!(5), &json!(0))
    );
    switchboard.wait_total("delivered", 10).await;
    assert_eq!(switchboard.total("held").await, 0);
    assert_eq!(sink.received().len(), 10);
}

#[tokio::test]
async fn the_numbers_add_up_at_every_moment() {
    let (sink, switchboard) = running().await;
    sink.answer(|_, before| {
        if before % 3 == 0 {
            StatusCode::SERVICE_UNAVAILABLE
        } else {
            StatusCode::OK
        }
    });
    for n in 0..30 {
        shop(&switchboard)
            .send(&format!("id-{}", n % 20), "orders/create", "{}")
            .await;
        let totals = switchboard.get("/api/overview").await["totals"].clone();
        let total = |name: &str| totals[name].as_u64().expect("a total");
        assert_eq!(
            total("received"),
            total("stored") + total("repeats"),
            "{totals}"
        );
        let planned = total("delivered") + total("waiting") + total("held") + total("dead");
        assert_eq!(planned, 2 * total("stored"), "{totals}");
    }
    assert_eq!(
        (
            switchboard.total("stored").await,
            switchboard.total("repeats").await
        ),
        (20, 10)
    );
    switchboard.wait_total("waiting", 0).await;
}

#[tokio::test]
async fn nothing_is_shown_or_moved_without_the_token() {
    let (_sink, switchboard) = running().await;
    let ask = async |method: Method, path: &str, authorization: Option<&str>| {
        let mut headers = HeaderMap::new();
        headers.insert("content-type", "application/json".parse().expect("a value"));
        if let Some(authorization) = authorization {
            headers.insert("authorization", authorization.parse().expect("a value"));
        }
        let body = if method == Method::POST {
            bytes::Bytes::from_static(b"{\"all\":true}")
        } else {
            bytes::Bytes::new()
        };
        client::request(method, &switchboard.at(path), headers, body, DEADLINE)
            .await
            .expect("an answer")
            .0
    };
    for path in [
        "/api/overview",
        "/api/events",
        "/api/dead-letters",
        "/api/refusals",
        "/api/declined",
        "/api/routes",
        "/metrics",
    ] {
        assert_eq!(
            ask(Method::GET, path, None).await,
            StatusCode::UNAUTHORIZED,
            "{path}"
        );
        assert_eq!(
            ask(Method::GET, path, Some("Bearer wrong-token-wrong")).await,
            StatusCode::UNAUTHORIZED,
            "{path}"
        );
    }
    assert_eq!(
        ask(Method::POST, "/admin/redrive", None).await,
        StatusCode::UNAUTHORIZED
    );
    assert_eq!(ask(Method::GET, "/healthz", None).await, StatusCode::OK);
}
