//! `status`, `events`, `dead-letters` and `test` against a running Switchboard, for a person and for a program.

use http::StatusCode;
use serde_json::{Value, json};
use switchboard_tests::setting::{running, sender};
use switchboard_tests::sink::Sink;
use switchboard_tests::switchboard::Switchboard;

/// A kind that turns a terminal round, clears it and starts another line.
const HOSTILE: &str = "orders/\u{1b}[2J\u{202e}create\n";

/// A Switchboard with two events whose deliveries are dead: two of the first, one of the second.
async fn with_dead_letters() -> (Sink, Switchboard) {
    let (sink, switchboard) = running().await;
    sink.answer(|_, _| StatusCode::SERVICE_UNAVAILABLE);
    let shop = sender(&switchboard, "shop");
    for (id, kind) in [("1", "orders/create"), ("2", "orders/other")] {
        let answer = shop.send(id, kind, "{}").await;
        assert_eq!(answer.status, StatusCode::OK);
    }
    switchboard.wait_total("dead", 3).await;
    (sink, switchboard)
}

/// What a command prints as JSON.
async fn json_of(switchboard: &Switchboard, arguments: &[&str]) -> Value {
    let (code, printed) = switchboard.run(&[arguments, &["--json"]].concat()).await;
    assert_eq!(code, 0, "{arguments:?}: {printed}");
    assert_eq!(printed.lines().count(), 1, "one line: {printed}");
    serde_json::from_str(&printed).expect("JSON")
}

#[tokio::test]
async fn status_tells_the_totals_and_how_each_destination_does() {
    let (_sink, switchboard) = with_dead_letters().await;
    switchboard.run(&["hold", "warehouse"]).await;
    let (code, printed) = switchboard.run(&["status"]).await;
    assert_eq!(code, 0, "{printed}");
    for line in [
        "received 2: 2 stored, 0 repeats; 0 refused, 0 declined, 0 unrouted",
        "deliveries: 0 delivered, 0 waiting, 0 held, 3 dead, 0 of them expired",
    ] {
        assert!(
            printed.lines().any(|told| told == line),
            "{line}: {printed}"
        );
    }
    let row = |name: &str| {
        let found = printed.lines().find(|line| line.starts_with(name));
        found.unwrap_or_else(|| panic!("{name}: {printed}"))
    };
    assert!(row("accounting").ends_with("answer 503"), "{printed}");
    assert!(
        row("warehouse").starts_with("warehouse (held)"),
        "{printed}"
    );
    let status = json_of(&switchboard, &["status"]).await;
    assert_eq!(status["totals"]["dead"], 3);
    assert_eq!(status["held"], json!(["warehouse"]));
}

#[tokio::test]
async fn events_are_found_by_what_is_said_of_them() {
    let (_sink, switchboard) = with_dead_letters().await;
    let all = json_of(&switchboard, &["events"]).await;
    assert_eq!(all["items"].as_array().map(Vec::len), Some(2));
    let narrowed = [
        "events",
        "--source",
        "shop",
        "--kind",
        "orders/create",
        "--state",
        "dead",
        "--destination",
        "accounting",
        "--from",
        "2026-01-01T00:00:00Z",
    ];
    let found = json_of(&switchboard, &narrowed).await;
    assert_eq!(found["items"].as_array().map(Vec::len), Some(1));
    assert_eq!(found["items"][0]["kind"], "orders/create");
    let (code, printed) = switchboard.run(&["events", "--limit", "1"]).await;
    assert_eq!(code, 0, "{printed}");
    assert!(printed.contains("orders/other"), "{printed}");
    let next = printed
        .lines()
        .find_map(|line| line.strip_prefix("more: --after '"));
    let next = next.expect("there is more").trim_end_matches('\'');
    let (_, printed) = switchboard
        .run(&["events", "--limit", "1", "--after", next])
        .await;
    assert!(printed.contains("2 dead"), "the one before it: {printed}");
    let (code, printed) = switchboard.run(&["events", "--after", "nonsense"]).await;
    assert_eq!(code, 1);
    assert_eq!(
        printed,
        "switchboard: after is not where a page ended (400 Bad Request)\n"
    );
}

#[tokio::test]
async fn what_a_stranger_wrote_does_nothing_to_a_terminal() {
    let (_sink, switchboard) = running().await;
    let body = json!({ "type": HOSTILE }).to_string();
    let answer = sender(&switchboard, "forms").send("1", HOSTILE, body).await;
    assert_eq!(answer.status, StatusCode::OK);
    let (_, printed) = switchboard.run(&["events"]).await;
    let (_, as_json) = switchboard.run(&["events", "--json"]).await;
    for printed in [&printed, &as_json] {
        assert!(printed.contains("create"), "{printed:?}");
        assert!(!printed.contains(['\u{1b}', '\u{202e}']), "{printed:?}");
    }
    let read: Value = serde_json::from_str(&as_json).expect("JSON");
    assert_eq!(read["items"][0]["kind"], HOSTILE, "as it came");
}

#[tokio::test]
async fn dead_letters_are_listed_and_counted_by_reason() {
    let (_sink, switchboard) = with_dead_letters().await;
    let (code, printed) = switchboard.run(&["dead-letters"]).await;
    assert_eq!(code, 0, "{printed}");
    assert_eq!(printed.matches("dlv_").count(), 3, "{printed}");
    let one = json_of(
        &switchboard,
        &["dead-letters", "--destination", "warehouse"],
    )
    .await;
    assert_eq!(one["items"].as_array().map(Vec::len), Some(1));
    let groups = json_of(&switchboard, &["dead-letters", "--groups"]).await;
    assert_eq!(groups["items"].as_array().map(Vec::len), Some(2));
    assert_eq!(groups["items"][0]["count"], 2, "the largest first");
    let redriven = json_of(&switchboard, &["redrive", "--all", "--per-second", "1000"]).await;
    assert_eq!(redriven, json!({ "redriven": 3, "left": 0 }));
}

#[tokio::test]
async fn a_test_delivery_tells_what_the_destination_answered_and_is_in_no_total() {
    let (sink, switchboard) = running().await;
    let before = switchboard.get("/api/overview").await["totals"].take();
    let (code, printed) = switchboard.run(&["test", "accounting"]).await;
    assert_eq!(code, 0, "{printed}");
    assert!(
        printed.starts_with("accounting delivered after "),
        "{printed}"
    );
    let came = sink.received();
    assert_eq!(came.len(), 1);
    assert_eq!(came[0].headers["switchboard-test"], "true");
    sink.answer(|_, _| StatusCode::SERVICE_UNAVAILABLE);
    let (code, printed) = switchboard.run(&["test", "accounting"]).await;
    assert_eq!(code, 1, "{printed}");
    assert!(
        printed.contains("rejected") && printed.contains("answer 503"),
        "{printed}"
    );
    let (code, printed) = switchboard.run(&["test", "nobody"]).await;
    assert_eq!(code, 1);
    assert_eq!(
        printed,
        "switchboard: there is no destination named \"nobody\" (404 Not Found)\n"
    );
    assert_eq!(switchboard.get("/api/overview").await["totals"], before);
    assert_eq!(switchboard.list("/api/events").await, Vec::<Value>::new());
}
