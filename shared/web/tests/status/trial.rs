//! Test deliveries: one attempt, marked, in no ledger, and one at a time to each destination.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use http::{Method, StatusCode};
use serde_json::json;

use crate::desk::{Desk, Seen};

/// How long what must come may take.
const LIMIT: Duration = Duration::from_secs(20);

async fn test(desk: &Desk, destination: &str) -> Seen {
    let body = json!({ "destination": destination }).to_string();
    let asking = desk.admin(Method::POST, "/admin/test", &body);
    let answered = tokio::time::timeout(LIMIT, asking).await;
    answered.expect("an answer, also while another test waits for its own")
}

/// How many tests came, once there are as many as that.
async fn came(desk: &Desk, count: usize) {
    let waiting = async {
        while desk.tests.came.lock().expect("came").len() < count {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(LIMIT, waiting)
        .await
        .expect("it comes");
}

#[tokio::test]
async fn a_test_delivery_is_one_marked_attempt_and_moves_nothing() {
    let desk = Desk::new();
    let seen = test(&desk, "crm").await;
    assert_eq!(seen.status, StatusCode::OK, "{}", seen.text);
    assert_eq!(
        seen.json(),
        json!({
            "destination": "crm",
            "outcome": "rejected",
            "status": 503,
            "detail": "down for a while",
            "duration_ms": 0,
            "at": "2025-11-29T20:00:00.000Z",
        })
    );
    test(&desk, "crm").await;
    let came = desk.tests.came.lock().expect("came").clone();
    assert_eq!(came.len(), 2);
    for request in &came {
        assert_eq!(request.destination.as_str(), "crm");
        assert_eq!(request.headers["switchboard-test"], "true");
        assert!(request.headers.contains_key("webhook-signature"), "signed");
    }
    let [first, second] = came.as_slice() else {
        panic!("two")
    };
    assert_ne!(
        first.headers["idempotency-key"], second.headers["idempotency-key"],
        "each its own"
    );
    assert_eq!(desk.fake.changes(), [], "in no ledger");
}

#[tokio::test]
async fn there_is_nothing_to_test_where_nothing_is_configured_or_set() {
    let desk = Desk::new();
    let unknown = test(&desk, "crn").await;
    assert_eq!(unknown.status, StatusCode::NOT_FOUND);
    assert_eq!(unknown.problem(), "there is no destination named \"crn\"");
    let yours = test(&desk, "your-endpoint").await;
    assert_eq!(yours.status, StatusCode::CONFLICT);
    assert_eq!(yours.problem(), "your endpoint is not set");
    let none = test(&desk, "No Name").await;
    assert_eq!(none.status, StatusCode::BAD_REQUEST);
    desk.fake.works_for.store(0, Ordering::SeqCst);
    let away = test(&desk, "crm").await;
    assert_eq!(away.status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(desk.tests.came.lock().expect("came").is_empty());
}

#[tokio::test]
async fn your_endpoint_is_tested_once_it_is_set() {
    let desk = Desk::new();
    let url = r#"{"url":"https://yours.example/hook"}"#;
    desk.admin(Method::PUT, "/admin/endpoint", url).await;
    let seen = test(&desk, "your-endpoint").await;
    assert_eq!(seen.status, StatusCode::OK, "{}", seen.text);
    let came = desk.tests.came.lock().expect("came");
    assert_eq!(came.len(), 1);
}

#[tokio::test]
async fn one_test_at_a_time_goes_to_a_destination() {
    let desk = Arc::new(Desk::new());
    desk.tests.answers.forget_permits(100);
    let testing = |name: &'static str| {
        let desk = Arc::clone(&desk);
        tokio::spawn(async move { test(&desk, name).await.status })
    };
    let first = testing("crm");
    came(&desk, 1).await;
    let second = test(&desk, "crm").await;
    assert_eq!(second.status, StatusCode::TOO_MANY_REQUESTS);
    assert_ne!(second.header("retry-after"), "");
    second.problem();
    let other = testing("accounting");
    came(&desk, 2).await;
    desk.tests.answers.add_permits(2);
    assert_eq!(first.await.expect("tested"), StatusCode::OK);
    assert_eq!(other.await.expect("tested"), StatusCode::OK);
    // One whose asker went away makes room too.
    let left = testing("crm");
    came(&desk, 3).await;
    left.abort();
    assert!(left.await.is_err());
    desk.tests.answers.add_permits(1);
    assert_eq!(test(&desk, "crm").await.status, StatusCode::OK);
}
