//! `replay` against a running Switchboard.

use axum::Json;
use axum::response::IntoResponse as _;
use http::StatusCode;
use serde_json::{Value, json};
use switchboard_tests::run::Run;
use switchboard_tests::setting::{running, sender};
use switchboard_tests::sink::Sink;

const FROM: &str = "2026-01-01T00:00:00Z";

#[tokio::test]
async fn a_replay_counts_first_and_then_delivers_under_new_keys() {
    let (sink, switchboard) = running().await;
    for id in ["1", "2", "3"] {
        let answer = sender(&switchboard, "shop")
            .send(id, "orders/create", "{}")
            .await;
        assert_eq!(answer.status, StatusCode::OK);
    }
    switchboard.wait_total("delivered", 6).await;
    let wish = [
        "replay",
        "--from",
        FROM,
        "--to",
        "accounting",
        "--per-second",
        "1000",
    ];
    let dry = [wish.as_slice(), &["--dry-run"]].concat();
    let (code, printed) = switchboard.run(&dry).await;
    assert_eq!(
        (code, &*printed),
        (
            0,
            "3 deliveries of 3 events would be made (3 events looked at)\n"
        )
    );
    assert_eq!(switchboard.total("waiting").await, 0);
    assert_eq!(sink.received().len(), 6, "nothing was sent");
    let (code, printed) = switchboard
        .run(&[wish.as_slice(), &["--json"]].concat())
        .await;
    assert_eq!(code, 0, "{printed}");
    let done: Value = serde_json::from_str(&printed).expect("JSON");
    assert_eq!(
        (&done["events"], &done["deliveries"]),
        (&3.into(), &3.into())
    );
    switchboard.wait_total("delivered", 9).await;
    let mut keys: Vec<String> = sink
        .received()
        .iter()
        .map(|received| {
            received.headers["idempotency-key"]
                .to_str()
                .expect("text")
                .to_owned()
        })
        .collect();
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), 9, "each its own");
    let (code, printed) = switchboard
        .run(&["replay", "--sender-id", "2", "--source", "shop"])
        .await;
    assert_eq!(
        (code, &*printed),
        (0, "2 deliveries of 1 event are made (1 event looked at)\n")
    );
    switchboard.wait_total("delivered", 11).await;
}

#[tokio::test]
async fn more_events_than_one_call_takes_are_replayed_call_by_call() {
    let (_sink, switchboard) = running().await;
    let shop = sender(&switchboard, "shop");
    for id in 0..250 {
        let answer = shop.send(&id.to_string(), "orders/create", "{}").await;
        assert_eq!(answer.status, StatusCode::OK);
    }
    switchboard.wait_total("delivered", 500).await;
    let (code, printed) = switchboard
        .run(&[
            "replay",
            "--from",
            FROM,
            "--to",
            "warehouse",
            "--per-second",
            "1000",
        ])
        .await;
    assert_eq!(code, 0, "{printed}");
    assert!(
        printed.contains("250 deliveries of 250 events are made"),
        "{printed}"
    );
    assert!(
        printed.contains("200 deliveries of 200 events are made"),
        "how far it was: {printed}"
    );
    switchboard.wait_total("delivered", 750).await;
}

/// Also one that is throttled, or whose destination is gone meanwhile, was begun.
const CUTS: [StatusCode; 3] = [
    StatusCode::SERVICE_UNAVAILABLE,
    StatusCode::TOO_MANY_REQUESTS,
    StatusCode::NOT_FOUND,
];

#[tokio::test]
async fn a_replay_that_was_cut_says_how_it_goes_on() {
    let sink = Sink::start().await;
    sink.answer(|_, before| {
        if before == 0 {
            let begun = json!({ "events": 0, "deliveries": 0, "looked": { "at": 0 }, "progress": "1.2.3." });
            return Json(begun).into_response();
        }
        let problem = json!({ "detail": "not now" });
        (CUTS[before.saturating_sub(1).min(2)], Json(problem)).into_response()
    });
    let folder = tempfile::tempdir().expect("a folder");
    let url = sink.url("/");
    let mut arguments = vec!["replay", "--from", FROM, "--url", &url];
    for (cut, line) in CUTS.iter().zip([
        "switchboard: not now (503 Service Unavailable)",
        "switchboard: not now (429 Too Many Requests)",
        "switchboard: not now (404 Not Found)",
    ]) {
        let ended = Run::of(folder.path(), &arguments).ended().await;
        assert_eq!(ended.code, 1);
        let goes_on = "switchboard: the replay was cut; it goes on with the same command and --progress '1.2.3.'";
        assert_eq!(ended.lines(), [goes_on, line], "{cut}");
        let came = sink.received();
        let last = &came.last().expect("it asked").body;
        let last: Value = serde_json::from_slice(last).expect("JSON");
        assert_eq!(last["progress"], "1.2.3.");
        arguments.truncate(5);
        arguments.extend(["--progress", "1.2.3."]);
    }
}

#[tokio::test]
async fn a_replay_of_everything_by_a_slip_is_none() {
    let (_sink, switchboard) = running().await;
    let (code, printed) = switchboard.run(&["replay", "--source", "shop"]).await;
    assert_eq!(code, 2, "{printed}");
    assert!(printed.contains("--from"), "{printed}");
    let (code, printed) = switchboard.run(&["replay", "--from", "yesterday"]).await;
    assert_eq!(code, 1);
    assert_eq!(
        printed,
        "switchboard: from must be like 2026-01-31T09:00:00Z (400 Bad Request)\n"
    );
}
