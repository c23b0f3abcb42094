//! Rule 7: your endpoint gets a copy of every event, signed at each attempt.

use std::sync::atomic::{AtomicBool, Ordering};

use http::{Method, StatusCode};
use serde_json::json;
use switchboard_core::scheme::{self, Scheme};
use switchboard_core::secret::Secret;
use switchboard_tests::sender::now;
use switchboard_tests::sink::{Received, Sink};
use switchboard_tests::switchboard::Switchboard;

use crate::setting::{running, sender, shop};

async fn set(switchboard: &Switchboard, sink: &Sink) -> serde_json::Value {
    let body = json!({ "url": sink.url("/mine") });
    let (status, answer) = switchboard
        .ask(Method::PUT, "/admin/endpoint", Some(body))
        .await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    answer
}

fn holds(received: &Received, secret: &str) -> bool {
    let scheme = Scheme::named("standard-webhooks").expect("a scheme");
    let key = (scheme.key)(&Secret::new(secret).expect("a secret")).expect("a key");
    scheme::verify(scheme, &[key], &received.headers, &received.body, now()).is_ok()
}

fn copies(received: &[Received]) -> Vec<&Received> {
    received
        .iter()
        .filter(|received| received.path == "/mine")
        .collect()
}

#[tokio::test]
async fn every_event_is_copied_once_and_each_attempt_is_signed_anew() {
    let (sink, switchboard) = running().await;
    let secret = set(&switchboard, &sink).await["secret"]
        .as_str()
        .expect("a secret")
        .to_owned();
    assert_eq!(
        set(&switchboard, &sink).await.get("secret"),
        None,
        "it is shown once"
    );
    // The first copy fails, whatever came before it: its second attempt comes two seconds later, with a new time.
    let failed = AtomicBool::new(false);
    sink.answer(move |received, _| {
        if received.path == "/mine" && !failed.swap(true, Ordering::Relaxed) {
            StatusCode::BAD_GATEWAY
        } else {
            StatusCode::OK
        }
    });
    let forms = sender(&switchboard, "forms");
    for answer in ["accepted", "repeat"] {
        let sent = forms
            .send("msg_1", "", "{\"type\":\"form.submitted\"}")
            .await;
        assert_eq!(sent.body["status"], answer);
    }
    switchboard.wait_total("delivered", 2).await;
    let received = sink.received();
    let [first, second] = copies(&received)[..] else {
        panic!("one copy in two attempts, not {received:#?}")
    };
    for (copy, attempt) in [(first, "1"), (second, "2")] {
        assert!(holds(copy, &secret), "{copy:#?}");
        assert_eq!(copy.header("switchboard-attempt"), attempt);
        assert_eq!(copy.header("switchboard-action"), "copy");
        assert_eq!(
            copy.header("webhook-id"),
            copy.key(),
            "the id is the delivery's, not the sender's"
        );
    }
    assert_eq!(first.header("webhook-id"), second.header("webhook-id"));
    for anew in ["webhook-timestamp", "webhook-signature"] {
        assert_ne!(first.header(anew), second.header(anew), "{anew}");
    }
    let view = switchboard.get("/api/events").await;
    assert_eq!(view["items"].as_array().map(Vec::len), Some(1));
    assert_eq!(view["items"][0]["deliveries"], json!({ "delivered": 2 }));
}

#[tokio::test]
async fn after_a_rotation_both_secrets_hold() {
    let (sink, switchboard) = running().await;
    let old = set(&switchboard, &sink).await["secret"]
        .as_str()
        .expect("a secret")
        .to_owned();
    let (_, answer) = switchboard
        .ask(Method::POST, "/admin/endpoint/rotate", None)
        .await;
    let new = answer["secret"].as_str().expect("a secret").to_owned();
    assert_ne!(old, new);
    shop(&switchboard).send("id-1", "orders/create", "{}").await;
    let received = sink
        .wait("the copy came", |received| !copies(received).is_empty())
        .await;
    let copy = copies(&received)[0];
    assert!(holds(copy, &old) && holds(copy, &new));
}

#[tokio::test]
async fn cleared_its_open_copies_become_dead_letters_and_events_get_none() {
    let (sink, switchboard) = running().await;
    sink.answer(|received, _| {
        if received.path == "/mine" {
            StatusCode::INTERNAL_SERVER_ERROR
        } else {
            StatusCode::OK
        }
    });
    set(&switchboard, &sink).await;
    shop(&switchboard).send("id-1", "orders/create", "{}").await;
    sink.wait("a copy was tried", |received| !copies(received).is_empty())
        .await;
    let (status, _) = switchboard
        .ask(Method::DELETE, "/admin/endpoint", None)
        .await;
    assert!(status.is_success());
    switchboard.wait_total("dead", 1).await;
    assert_eq!(
        switchboard.get("/api/dead-letters").await["items"][0]["reason"],
        "your endpoint is not set"
    );
    shop(&switchboard).send("id-2", "orders/create", "{}").await;
    switchboard.wait_total("delivered", 4).await;
    assert_eq!(switchboard.total("dead").await, 1);
    sink.answer(|_, _| StatusCode::OK);
    let secret = set(&switchboard, &sink).await["secret"]
        .as_str()
        .expect("a new secret")
        .to_owned();
    switchboard
        .ask(Method::POST, "/admin/redrive", Some(json!({ "all": true })))
        .await;
    switchboard.wait_total("delivered", 5).await;
    assert!(holds(
        copies(&sink.received()).last().expect("a copy"),
        &secret
    ));
}
