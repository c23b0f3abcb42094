//! Overview, lists, routes, metrics and health.

use std::sync::atomic::Ordering;
use std::time::Duration;

use http::{Method, StatusCode};
use serde_json::json;
use switchboard_core::endpoint::Change;
use switchboard_core::ports::SettingsStore;

use crate::desk::{
    Desk, HIDDEN_PARTS, HOSTILE, LONG_NUMBER, PROOF, SECRETS, TOKEN, ask, bearer, destination,
    event_id,
};
use crate::fake::{CAUSE, Call};

const READING: [&str; 9] = [
    "/api/overview",
    "/api/events",
    "/api/dead-letters",
    "/api/dead-letters/groups",
    "/api/refusals",
    "/api/declined",
    "/api/routes",
    "/api/openapi.json",
    "/metrics",
];

fn every_reading_route() -> Vec<String> {
    let one = format!("/api/events/{}", event_id());
    let body = format!("{one}/body");
    READING
        .into_iter()
        .map(str::to_owned)
        .chain([one, body])
        .collect()
}

#[tokio::test]
async fn every_reading_route_wants_the_token_or_a_sign_in() {
    let desk = Desk::new();
    let cookie = desk.cookie().await;
    for path in every_reading_route() {
        for (headers, expected) in [
            (vec![], StatusCode::UNAUTHORIZED),
            (vec![bearer("another")], StatusCode::UNAUTHORIZED),
            (vec![bearer("")], StatusCode::UNAUTHORIZED),
            (
                vec![("authorization", format!("Basic {TOKEN}"))],
                StatusCode::UNAUTHORIZED,
            ),
            (
                vec![("cookie", "switchboard-session=1.x".into())],
                StatusCode::UNAUTHORIZED,
            ),
            (vec![bearer(TOKEN)], StatusCode::OK),
            (
                vec![("cookie", format!("other=1; {}", cookie.1))],
                StatusCode::OK,
            ),
        ] {
            let seen = desk.send(ask(Method::GET, &path, &headers, "")).await;
            assert_eq!(seen.status, expected, "{path} with {headers:?}");
        }
    }
}

#[tokio::test]
async fn lists_give_ids_as_texts_and_kinds_as_they_came() {
    let desk = Desk::new();
    let events = desk.get("/api/events").await.json();
    assert_eq!(events["items"][0]["kind"], HOSTILE);
    assert_eq!(events["items"][0]["sender_id"], LONG_NUMBER);
    let event = desk
        .get(&format!("/api/events/{}", event_id()))
        .await
        .json();
    assert_eq!(event["event"], event_id().as_str());
    assert_eq!(event["delivery_list"][0]["state"], "dead");
    let dead = desk.get("/api/dead-letters").await.json();
    assert_eq!(dead["items"][0]["attempts"], 6);
    assert_eq!(dead["next"], json!(null));
    let refusals = desk.get("/api/refusals").await.json();
    assert_eq!(refusals["items"][0]["secrets_tried"], 2);
    let declined = desk.get("/api/declined").await.json();
    assert_eq!(declined["items"][0]["status"], 404);
}

#[tokio::test]
async fn routes_come_with_the_retry_rule_and_the_addresses_to_give_to_senders() {
    let desk = Desk::new();
    let seen = desk.get("/api/routes").await.json();
    assert_eq!(
        seen["items"],
        json!([{
            "source": "shop",
            "kind": "orders/create",
            "deliver": [
                { "to": "accounting", "action": "make-invoice" },
                { "to": "crm", "action": "deliver" },
            ],
        }])
    );
    assert_eq!(
        seen["sources"][0],
        json!({
            "name": "shop",
            "scheme": "shopify",
            "secrets": 2,
            "address": "http://127.0.0.1:3000/in/shop",
        })
    );
    assert_eq!(
        seen["retry"]["crm"],
        json!({
            "address": "https://crm.example/",
            "attempts": 3,
            "pauses_ms": [1000, 60000],
            "jitter": 0.5,
            "time_limit_ms": 3000,
            "first_pause_ms": 10000,
            "max_in_flight": 32,
            "signed": true,
            "held": false,
        })
    );
    assert_eq!(seen["retry"]["accounting"]["attempts"], 6);
    assert_eq!(seen["retry"]["your-endpoint"]["address"], json!(null));
}

#[tokio::test]
async fn a_public_address_is_what_senders_are_given() {
    let desk = Desk::with("public_url = \"https://hooks.example/base/\"", TOKEN);
    let seen = desk.get("/api/routes").await.json();
    assert_eq!(
        seen["sources"][0]["address"],
        "https://hooks.example/base/in/shop"
    );
}

#[tokio::test]
async fn a_failing_store_is_answered_503_without_its_cause() {
    let desk = Desk::new();
    desk.fake.works_for.store(0, Ordering::SeqCst);
    let stored = every_reading_route().into_iter();
    for path in stored.filter(|path| path != "/api/openapi.json") {
        let seen = desk.get(&path).await;
        assert_eq!(seen.status, StatusCode::SERVICE_UNAVAILABLE, "{path}");
        assert_eq!(seen.problem(), "the store is not reachable", "{path}");
        assert_eq!(seen.header("retry-after"), "2");
        assert!(!seen.text.contains(CAUSE));
    }
}

#[tokio::test]
async fn metrics_keep_one_line_for_each_sample_whatever_a_text_holds() {
    let desk = Desk::new();
    desk.fake
        .change(Change::Hold(destination("crm")))
        .await
        .expect("held");
    let seen = desk.get("/metrics").await;
    assert!(
        seen.header("content-type")
            .starts_with("text/plain; version=0.0.4")
    );
    for line in [
        "switchboard_events_total{source=\"shop\"} 1",
        "switchboard_refused_total{source=\"shop\"} 7",
        "switchboard_deliveries{destination=\"accounting\",state=\"dead\"} 1",
        "switchboard_deliveries{destination=\"accounting\",state=\"waiting\"} 0",
        "switchboard_destination_held{destination=\"crm\"} 1",
        "switchboard_destination_held{destination=\"accounting\"} 0",
        r#"switchboard_declined_total{source="",status="404",cause="no \"source\"\\ of\nthat name"} 2"#,
        "# TYPE switchboard_events_total counter",
        "switchboard_alerts_pending 1",
        "switchboard_alert_raised{destination=\"crm\",alert=\"dead-letter\"} 1",
        "switchboard_alert_raised{destination=\"crm\",alert=\"waiting-too-long\"} 0",
        // Nothing is kept of this one.
        "switchboard_alert_raised{destination=\"accounting\",alert=\"dead-letter\"} 0",
        "switchboard_alert_raised{destination=\"accounting\",alert=\"waiting-too-long\"} 0",
    ] {
        assert!(
            seen.text.lines().any(|other| other == line),
            "{line} in {}",
            seen.text
        );
    }
}

#[tokio::test]
async fn no_answer_to_a_reader_holds_a_secret() {
    let desk = Desk::new();
    let url = r#"{"url":"https://yours.example/ENDPOINT-PATH?key=QUERY-KEY"}"#;
    let set = desk.admin(Method::PUT, "/admin/endpoint", url).await;
    let secret = set.json()["secret"].as_str().expect("secret").to_owned();
    let cookie = desk.cookie().await;
    let pages = [
        "/",
        "/sign-in",
        "/page.js",
        "/page.css",
        "/healthz",
        "/nowhere",
    ];
    let paths = every_reading_route()
        .into_iter()
        .chain(pages.map(str::to_owned));
    for path in paths {
        for headers in [vec![], vec![bearer(TOKEN)], vec![cookie.clone()]] {
            let seen = desk.send(ask(Method::GET, &path, &headers, "")).await;
            let secrets = SECRETS.iter().map(|(_, secret)| *secret);
            let hidden = secrets.chain(HIDDEN_PARTS).chain([
                TOKEN,
                PROOF,
                &secret,
                secret.trim_start_matches("whsec_"),
            ]);
            for hidden in hidden {
                let whole = format!("{:?} {}", seen.headers, seen.text);
                assert!(!whole.contains(hidden), "{path} shows {hidden}");
            }
        }
    }
    let overview = desk.get("/api/overview").await.json();
    assert_eq!(
        overview["your_endpoint"]["address"],
        "https://yours.example/…"
    );
}

#[tokio::test]
async fn health_is_open_to_everyone_and_asks_the_store_once_a_second() {
    let desk = Desk::new();
    let stranger = [("host", "anything.example".to_owned())];
    for _ in 0..100 {
        let seen = desk.send(ask(Method::GET, "/healthz", &stranger, "")).await;
        assert_eq!(seen.status, StatusCode::OK);
        assert_eq!(seen.json(), json!({ "status": "ok" }));
    }
    assert_eq!(desk.fake.calls(), [Call::Ready]);
    desk.fake.works_for.store(0, Ordering::SeqCst);
    desk.clock.advance(Duration::from_millis(999));
    let seen = desk.get("/healthz").await;
    assert_eq!(seen.status, StatusCode::OK, "shared for a second");
    desk.clock.advance(Duration::from_millis(1));
    for _ in 0..2 {
        let seen = desk.get("/healthz").await;
        assert_eq!(seen.status, StatusCode::SERVICE_UNAVAILABLE);
        assert!(!seen.text.contains(CAUSE));
    }
    assert_eq!(desk.fake.calls(), [Call::Ready, Call::Ready]);
}
