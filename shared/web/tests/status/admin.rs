//! The admin interface.

use std::sync::atomic::Ordering;

use http::{Method, StatusCode};
use serde_json::{Value, json};
use switchboard_core::endpoint::Change;
use switchboard_core::ports::Spread;

use crate::desk::{Desk, Header, NOW, TOKEN, ask, bearer, delivery_id, destination};
use crate::fake::{CAUSE, Call};

const ALL: &str = r#"{"all":true}"#;

pub(crate) fn routes() -> [(Method, &'static str, &'static str); 8] {
    [
        (
            Method::POST,
            "/admin/replay",
            r#"{"from":"2025-11-29T00:00:00Z"}"#,
        ),
        (Method::POST, "/admin/test", r#"{"destination":"crm"}"#),
        (Method::POST, "/admin/redrive", ALL),
        (Method::POST, "/admin/hold", r#"{"destination":"crm"}"#),
        (Method::POST, "/admin/release", r#"{"destination":"crm"}"#),
        (
            Method::PUT,
            "/admin/endpoint",
            r#"{"url":"https://yours.example/"}"#,
        ),
        (Method::POST, "/admin/endpoint/rotate", ""),
        (Method::DELETE, "/admin/endpoint", ""),
    ]
}

pub(crate) fn json_type() -> Header {
    ("content-type", "application/json".to_owned())
}

fn with_dead(each: u32) -> Desk {
    let desk = Desk::new();
    let mut dead = desk.fake.dead.lock().expect("dead");
    for n in 0..each {
        dead.push((delivery_id(n), destination("accounting")));
        dead.push((delivery_id(each + n), destination("crm")));
    }
    drop(dead);
    desk
}

#[tokio::test]
async fn a_page_of_another_site_moves_nothing_even_with_the_token() {
    let desk = Desk::new();
    for (method, path, body) in routes() {
        for foreign in [
            ("origin", "https://evil.example"),
            ("sec-fetch-site", "cross-site"),
        ] {
            let headers = [
                json_type(),
                bearer(TOKEN),
                (foreign.0, foreign.1.to_owned()),
            ];
            let seen = desk.send(ask(method.clone(), path, &headers, body)).await;
            assert_eq!(seen.status, StatusCode::FORBIDDEN, "{path} {foreign:?}");
        }
    }
    assert_eq!(desk.fake.calls(), [], "nothing moved");
}

#[tokio::test]
async fn a_wrong_method_content_type_or_size_moves_nothing() {
    let desk = Desk::new();
    for (_, path, body) in routes() {
        let seen = desk.admin(Method::GET, path, body).await;
        assert_eq!(seen.status, StatusCode::METHOD_NOT_ALLOWED, "{path}");
    }
    for kind in [
        None,
        Some("text/plain"),
        Some("application/x-www-form-urlencoded"),
    ] {
        let headers: Vec<Header> = std::iter::once(bearer(TOKEN))
            .chain(kind.map(|kind| ("content-type", kind.to_owned())))
            .collect();
        let seen = desk
            .send(ask(Method::POST, "/admin/redrive", &headers, ALL))
            .await;
        assert_eq!(seen.status, StatusCode::UNSUPPORTED_MEDIA_TYPE, "{kind:?}");
    }
    let big = format!("{{\"all\":true{}}}", " ".repeat(64 * 1024));
    let seen = desk.admin(Method::POST, "/admin/redrive", &big).await;
    assert_eq!(seen.status, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(desk.fake.calls(), [], "nothing moved");
}

/// Bodies that no route of the admin interface takes.
pub(crate) fn of_another_shape() -> Vec<(&'static str, &'static str)> {
    let (redrive, release) = ("/admin/redrive", "/admin/release");
    vec![
        (redrive, ""),
        (redrive, "{}"),
        (redrive, "[]"),
        (redrive, r#"{"all":false}"#),
        (redrive, r#"{"all":true,"QUOTED":1}"#),
        (redrive, r#"{"all":true,"destination":"crm"}"#),
        (redrive, r#"{"destination":"crm","deliveries":[]}"#),
        (redrive, r#"{"destination":"No Name"}"#),
        (redrive, r#"{"deliveries":["QUOTED"]}"#),
        (redrive, r#"{"all":true} trailing"#),
        (redrive, r#"{"all":true,"per_second":0}"#),
        (redrive, r#"{"all":true,"per_second":1001}"#),
        (redrive, r#"{"all":true,"per_second":"QUOTED"}"#),
        (redrive, r#"{"all":true,"per_second":1.5}"#),
        (redrive, r#"{"per_second":1}"#),
        (release, r#"{"destination":"crm","per_second":0}"#),
        (release, r#"{"destination":"crm","per_second":-1}"#),
        (release, r#"{"destination":"crm","per_second":1.5}"#),
        (release, r#"{"destination":"crm","per_second":4294967296}"#),
        ("/admin/hold", r#"{"destination":"crm","per_second":1}"#),
        ("/admin/endpoint", ""),
    ]
}

#[tokio::test]
async fn a_body_of_another_shape_is_answered_400_and_not_quoted() {
    let desk = Desk::new();
    for (path, body) in of_another_shape() {
        let method = if path == "/admin/endpoint" {
            Method::PUT
        } else {
            Method::POST
        };
        let seen = desk.admin(method, path, body).await;
        assert_eq!(seen.status, StatusCode::BAD_REQUEST, "{path} {body}");
        seen.problem();
        assert!(!seen.text.contains("QUOTED"), "{}", seen.text);
    }
    assert_eq!(desk.fake.calls(), [], "nothing moved");
}

#[tokio::test]
async fn a_redrive_moves_what_is_meant_and_tells_how_many() {
    let desk = with_dead(3);
    let redrive = async |body: Value| {
        let seen = desk
            .admin(Method::POST, "/admin/redrive", &body.to_string())
            .await;
        assert_eq!(seen.status, StatusCode::OK, "{body}");
        seen.json()
    };
    let named = json!({ "deliveries": [delivery_id(0), delivery_id(0), delivery_id(99)] });
    assert_eq!(
        redrive(named.clone()).await,
        json!({ "redriven": 1, "left": 0 })
    );
    assert_eq!(
        redrive(named).await,
        json!({ "redriven": 0, "left": 0 }),
        "no dead letter any more"
    );
    let crm = json!({ "destination": "crm" });
    assert_eq!(redrive(crm).await, json!({ "redriven": 3, "left": 0 }));
    let all = json!({ "all": true });
    assert_eq!(redrive(all).await, json!({ "redriven": 2, "left": 0 }));
}

#[tokio::test]
async fn a_redrive_starts_as_many_each_second_as_was_asked_for() {
    let desk = with_dead(1);
    for (body, per_second) in [
        (ALL, 50),
        (r#"{"all":true,"per_second":1000}"#, 1000),
        (r#"{"all":true,"per_second":438.0}"#, 438),
    ] {
        desk.admin(Method::POST, "/admin/redrive", body).await;
        let spread = Spread {
            start: NOW,
            per_second,
        };
        let calls = desk.fake.changes();
        let last = calls.last().expect("a step");
        assert!(
            matches!(last, Call::Requeue(_, asked, _) if *asked == spread),
            "{last:?}"
        );
    }
}

#[tokio::test]
async fn a_destination_that_there_is_not_is_a_clear_error() {
    let desk = Desk::new();
    for path in ["/admin/redrive", "/admin/hold", "/admin/release"] {
        let seen = desk
            .admin(Method::POST, path, r#"{"destination":"crn"}"#)
            .await;
        assert_eq!(seen.status, StatusCode::NOT_FOUND, "{path}");
        assert_eq!(seen.problem(), "there is no destination named \"crn\"");
    }
    assert_eq!(desk.fake.calls(), [], "nothing moved");
}

#[tokio::test]
async fn a_destination_is_held_and_released() {
    let desk = Desk::new();
    desk.fake
        .held
        .lock()
        .expect("held")
        .extend([destination("crm"), destination("crm")]);
    let crm = r#"{"destination":"crm"}"#;
    let seen = desk.admin(Method::POST, "/admin/hold", crm).await;
    assert_eq!(seen.json(), json!({ "held": "crm" }));
    assert_eq!(
        desk.get("/api/overview").await.json()["held"],
        json!(["crm"])
    );
    assert_eq!(
        desk.get("/api/routes").await.json()["retry"]["crm"]["held"],
        json!(true)
    );
    let slow = r#"{"destination":"crm","per_second":5.0}"#;
    let seen = desk.admin(Method::POST, "/admin/release", slow).await;
    assert_eq!(seen.json(), json!({ "released": 2, "left": 0 }));
    let five = Spread {
        start: NOW,
        per_second: 5,
    };
    let change = Call::Change(Change::Release(destination("crm"), five));
    assert!(desk.fake.calls().contains(&change), "as fast as was asked");
    assert_eq!(desk.get("/api/overview").await.json()["held"], json!([]));
    let yours = r#"{"destination":"your-endpoint"}"#;
    let seen = desk.admin(Method::POST, "/admin/hold", yours).await;
    assert_eq!(
        seen.status,
        StatusCode::OK,
        "your endpoint is a destination too"
    );
}

#[tokio::test]
async fn the_secret_of_your_endpoint_is_shown_once_and_a_rotation_shows_the_new_one() {
    let desk = Desk::new();
    let set = async |url: &str| {
        let body = json!({ "url": url }).to_string();
        desk.admin(Method::PUT, "/admin/endpoint", &body).await
    };
    let first = set("https://yours.example/hook?key=1").await.json();
    assert_eq!(first["url"], "https://yours.example/…");
    let secret = first["secret"].as_str().expect("secret").to_owned();
    assert!(secret.starts_with("whsec_") && secret.len() > 40);
    let again = set("https://other.example/").await;
    assert_eq!(
        again.json(),
        json!({ "url": "https://other.example/" }),
        "no secret again"
    );
    let rotated = desk
        .admin(Method::POST, "/admin/endpoint/rotate", "")
        .await
        .json();
    assert!(
        rotated["secret"]
            .as_str()
            .expect("secret")
            .starts_with("whsec_")
    );
    assert_ne!(rotated["secret"], json!(secret));
    let cleared = desk.admin(Method::DELETE, "/admin/endpoint", "").await;
    assert_eq!(cleared.json(), json!({ "dead": 0, "left": 0 }));
    let fresh = set("https://yours.example/").await.json();
    assert_ne!(
        fresh["secret"],
        json!(secret),
        "a cleared endpoint gets a new one"
    );
}

#[tokio::test]
async fn there_is_nothing_to_rotate_while_your_endpoint_is_not_set() {
    let desk = Desk::new();
    let seen = desk.admin(Method::POST, "/admin/endpoint/rotate", "").await;
    assert_eq!(seen.status, StatusCode::CONFLICT);
    assert_eq!(seen.problem(), "your endpoint is not set");
}

#[tokio::test]
async fn an_address_that_cannot_be_called_is_answered_with_its_reason_and_not_quoted() {
    let desk = Desk::new();
    for (url, reason) in [
        ("https://USERPART:PASS@yours.example/", "user or password"),
        ("http://127.0.0.1:9001/QUERYPART", "this machine"),
        ("http://169.254.169.254/QUERYPART", "link-local"),
        ("ftp://yours.example/?QUERYPART", "http:// or https://"),
        (
            "https://yours.example:99999/?QUERYPART",
            "not a readable address",
        ),
    ] {
        let body = json!({ "url": url }).to_string();
        let seen = desk.admin(Method::PUT, "/admin/endpoint", &body).await;
        assert_eq!(seen.status, StatusCode::BAD_REQUEST, "{url}");
        assert!(seen.text.contains(reason), "{url}: {}", seen.text);
        for part in ["USERPART", "PASS", "QUERYPART"] {
            assert!(!seen.text.contains(part), "{url}: {}", seen.text);
        }
    }
    assert_eq!(desk.fake.calls(), [], "nothing changed");
}

#[tokio::test]
async fn a_store_that_fails_half_way_is_answered_503_with_what_was_moved() {
    let desk = with_dead(400);
    desk.fake.works_for.store(1, Ordering::SeqCst);
    let seen = desk.admin(Method::POST, "/admin/redrive", ALL).await;
    assert_eq!(seen.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(seen.problem(), "the store is not reachable");
    assert_eq!(seen.json()["moved"], 500);
    assert!(!seen.text.contains(CAUSE));
    desk.fake.works_for.store(u32::MAX, Ordering::SeqCst);
    let seen = desk.admin(Method::POST, "/admin/redrive", ALL).await;
    assert_eq!(
        seen.json(),
        json!({ "redriven": 300, "left": 0 }),
        "the rest, once"
    );
}

#[tokio::test]
async fn a_store_that_fails_at_once_is_never_answered_200() {
    let desk = with_dead(1);
    desk.fake.works_for.store(0, Ordering::SeqCst);
    for (method, path, body) in routes() {
        let seen = desk.admin(method, path, body).await;
        assert_eq!(seen.status, StatusCode::SERVICE_UNAVAILABLE, "{path}");
        assert!(!seen.text.contains("whsec_"), "{path}");
    }
    let changes = desk
        .fake
        .calls()
        .into_iter()
        .filter(|call| matches!(call, Call::Change(Change::Release(..))));
    assert_eq!(
        changes.count(),
        1,
        "nothing is requeued after a release that failed"
    );
    assert_eq!(desk.fake.dead.lock().expect("dead").len(), 2);
}
