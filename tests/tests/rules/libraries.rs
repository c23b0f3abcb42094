//! Rule 7, judged by others: the official Standard Webhooks libraries accept what Switchboard signs, and nothing else.

use http::{Method, StatusCode};
use serde_json::{Value, json};
use switchboard_tests::libraries::{Judged, hold};
use switchboard_tests::sink::{Received, Sink};
use switchboard_tests::switchboard::Switchboard;
use switchboard_tests::wait;

use crate::setting::{shop, start};

/// What a destination of the configuration is signed with.
const SIGN: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
/// Bytes that another writing of the same JSON would change.
const BODY: &str =
    "{ \"größe\": \"😀 e\u{301} \u{2028}\", \"total\": 9007199254740993, \"total\":1.0 }";

/// A Switchboard with your endpoint set, whose accounting is signed too; the endpoint's secret.
async fn signing() -> (Sink, Switchboard, String) {
    let sink = Sink::start().await;
    let mut start = start(&sink).set("SIGN", SIGN);
    let accounting = format!("url = \"{}\"", sink.url("/accounting"));
    start.configuration = start
        .configuration
        .map(|text| text.replace(&accounting, &format!("{accounting}\nsign = \"env:SIGN\"")));
    let switchboard = Switchboard::start(start).await;
    let body = json!({ "url": sink.url("/mine") });
    let (status, answer) = switchboard
        .ask(Method::PUT, "/admin/endpoint", Some(body))
        .await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    let secret = answer.get("secret").and_then(Value::as_str);
    let secret = secret.expect("a secret").to_owned();
    (sink, switchboard, secret)
}

fn at<'a>(received: &'a [Received], path: &str) -> Vec<&'a Received> {
    received
        .iter()
        .filter(|received| received.path == path)
        .collect()
}

#[tokio::test]
async fn the_official_libraries_accept_signed_copies_and_refuse_spoiled_ones() {
    let (sink, switchboard, secret) = signing().await;
    shop(&switchboard).send("id-1", "orders/create", BODY).await;
    let received = sink.wait_for(3).await;
    let copy = Judged::of(at(&received, "/mine")[0], &secret);
    let signed = Judged::of(at(&received, "/accounting")[0], SIGN);
    assert_eq!(copy.body, BODY.as_bytes());
    assert_eq!(hold(&[copy.clone(), signed.clone()]).await, [true, true]);

    let mut spoiled = Vec::new();
    for good in [copy, signed] {
        let mut changed = good.clone();
        changed.body = BODY.replace("1.0", "1.1").into_bytes();
        let other = Judged {
            secret: "whsec_AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA=".to_owned(),
            ..good.clone()
        };
        let time: i64 = good.headers[1].1.parse().expect("a time");
        spoiled.extend([
            changed,
            other,
            good.clone().with("webhook-id", "dlv_another"),
            good.clone()
                .with("webhook-timestamp", &(time - 1).to_string()),
            good.with(
                "webhook-signature",
                "v1,AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
            ),
        ]);
    }
    assert_eq!(hold(&spoiled).await, vec![false; spoiled.len()]);
}

#[tokio::test]
async fn they_accept_every_attempt_and_every_redrive_under_one_id_with_a_time_of_its_own() {
    let (sink, switchboard, secret) = signing().await;
    // The endpoint fails twice, accounting six times and once more after its redrive.
    sink.answer(|received, _| {
        let attempt: u32 = received.header("switchboard-attempt").parse().unwrap_or(0);
        let fails = match received.path.as_str() {
            "/mine" => attempt <= 2,
            "/accounting" => attempt <= 7,
            _ => false,
        };
        if fails {
            StatusCode::BAD_GATEWAY
        } else {
            StatusCode::OK
        }
    });
    shop(&switchboard).send("id-1", "orders/create", BODY).await;
    switchboard.wait_total("dead", 1).await;
    // The third copy comes after pauses of two and four seconds, so that the redrive is seconds later than the first
    // attempt, and signed times, which are whole seconds, must differ.
    wait::until("the copy is delivered", async || {
        (at(&sink.received(), "/mine").len() == 3).then_some(())
    })
    .await;
    let (status, _) = switchboard
        .ask(Method::POST, "/admin/redrive", Some(json!({ "all": true })))
        .await;
    assert_eq!(status, StatusCode::OK);
    switchboard.wait_total("delivered", 3).await;
    let received = sink.received();
    for (path, secret, attempts) in [("/mine", &*secret, 3), ("/accounting", SIGN, 8)] {
        let copies = at(&received, path);
        assert_eq!(copies.len(), attempts, "{path}");
        let judged: Vec<Judged> = copies.iter().map(|copy| Judged::of(copy, secret)).collect();
        assert_eq!(hold(&judged).await, vec![true; attempts], "{path}");
        for copy in &copies {
            assert_eq!(copy.header("webhook-id"), copies[0].key());
            // Whole seconds, rounded down, of the moment before it was sent.
            let signed: i64 = copy.header("webhook-timestamp").parse().expect("a time");
            let age = copy.at - signed * 1000;
            assert!(
                (0..6000).contains(&age),
                "{path}: signed {age} ms before it came"
            );
        }
        let (first, last) = (copies[0], copies[attempts - 1]);
        for anew in ["webhook-timestamp", "webhook-signature"] {
            assert_ne!(first.header(anew), last.header(anew), "{path}: {anew}");
        }
    }
}

#[tokio::test]
async fn after_a_rotation_they_accept_a_copy_by_either_secret() {
    let (sink, switchboard, old) = signing().await;
    let (_, answer) = switchboard
        .ask(Method::POST, "/admin/endpoint/rotate", None)
        .await;
    let new = answer["secret"].as_str().expect("a secret").to_owned();
    assert_ne!(old, new);
    shop(&switchboard).send("id-1", "orders/create", BODY).await;
    let received = sink
        .wait("the copy came", |received| {
            !at(received, "/mine").is_empty()
        })
        .await;
    let copy = at(&received, "/mine")[0];
    let judged = [&old, &new, &SIGN.to_owned()].map(|secret| Judged::of(copy, secret));
    assert_eq!(hold(&judged).await, [true, true, false]);
}
