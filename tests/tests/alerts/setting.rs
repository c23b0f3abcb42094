//! The setting of these stories: warehouse fails as a test says, accounting is well, and alerts go to a sink of their own.

use std::net::SocketAddr;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use serde_json::Value;
use switchboard_tests::setting::{self, sender};
use switchboard_tests::sink::{Received, Sink};
use switchboard_tests::switchboard::{Start, Switchboard, TOKEN};
use switchboard_tests::wait::{self, DEADLINE};
use switchboard_web::client;

/// What stands behind the address of the alerts' sink, and must never be shown.
pub(crate) const PATH: &str = "/hooks/T0KEN-OF-ALERTS";
pub(crate) const QUERY: &str = "KEY-OF-ALERTS";

/// How a Switchboard is started that delivers to `sink` and tells `alerts`; `after` is its `alert_after`.
pub(crate) fn start(sink: &Sink, alerts: SocketAddr, after: &str) -> Start {
    let configuration = setting::configuration(sink);
    let start = setting::start(&format!(
        "alert_url = \"env:ALERTS\"\nalert_after = \"{after}\"\n{configuration}"
    ));
    start.set("ALERTS", &format!("http://{alerts}{PATH}?key={QUERY}"))
}

/// A destination whose warehouse answers 503.
pub(crate) async fn failing_sink() -> Sink {
    let sink = Sink::start().await;
    fail(&sink);
    sink
}

pub(crate) fn fail(sink: &Sink) {
    sink.answer(|received, _| match &*received.path {
        "/warehouse" => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::OK,
    });
}

pub(crate) fn heal(sink: &Sink) {
    sink.answer(|_, _| StatusCode::OK);
}

/// Sends an order, which goes to both destinations.
pub(crate) async fn order(switchboard: &Switchboard, id: &str) {
    let answer = sender(switchboard, "shop")
        .send(id, "orders/create", "{\"secret\":\"BODY-OF-AN-ORDER\"}")
        .await;
    assert_eq!(answer.status, StatusCode::OK);
}

/// The alert in a request.
pub(crate) fn alert(received: &Received) -> Value {
    let alert: Value = serde_json::from_slice(&received.body).expect("JSON");
    assert_eq!(received.path, PATH);
    assert_eq!(received.header("content-type"), "application/json");
    assert_eq!(received.key(), alert["id"], "known again by its id");
    alert
}

/// The alerts so far: kind and destination of each.
pub(crate) fn kinds(received: &[Received]) -> Vec<String> {
    let alerts = received.iter().map(alert);
    alerts
        .map(|alert| format!("{} {}", text(&alert["alert"]), text(&alert["destination"])))
        .collect()
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

/// Waits until the metrics have a line.
pub(crate) async fn wait_metric(switchboard: &Switchboard, line: &str) {
    wait::until(&format!("the metrics say {line}"), async || {
        let metrics = metrics(switchboard).await;
        metrics.lines().any(|other| other == line).then_some(())
    })
    .await;
}

pub(crate) async fn metrics(switchboard: &Switchboard) -> String {
    let bearer = HeaderValue::from_str(&format!("Bearer {TOKEN}")).expect("a value");
    let headers = HeaderMap::from_iter([(http::header::AUTHORIZATION, bearer)]);
    let url = switchboard.at("/metrics");
    let (_, body) = client::request(Method::GET, &url, headers, Bytes::new(), DEADLINE)
        .await
        .expect("an answer");
    String::from_utf8_lossy(&body).into_owned()
}
