//! One wide line for each accepted request and each attempt.

use std::collections::BTreeSet;

use serde_json::{Map, Value};
use switchboard_tests::switchboard::Switchboard;
use switchboard_tests::wait;

use crate::story::{Told, tell};

/// Every line of the log, each of which is one JSON object with a time and a level.
fn lines(told: &Told) -> Vec<Map<String, Value>> {
    let log = told.switchboard.log();
    let read = |line: &str| {
        let line: Map<String, Value> =
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        for name in ["timestamp", "level", "message"] {
            assert!(
                line.get(name).is_some_and(Value::is_string),
                "{name}: {line:?}"
            );
        }
        line
    };
    log.lines().map(read).collect()
}

fn of<'a>(lines: &'a [Map<String, Value>], message: &str) -> Vec<&'a Map<String, Value>> {
    lines
        .iter()
        .filter(|line| line["message"] == message)
        .collect()
}

/// The fields are there, texts as texts and numbers as numbers.
fn has(line: &Map<String, Value>, texts: &[&str], numbers: &[&str]) {
    for name in texts {
        assert!(
            line.get(*name).is_some_and(Value::is_string),
            "{name} is a text: {line:?}"
        );
    }
    for name in numbers {
        assert!(
            line.get(*name).is_some_and(Value::is_u64),
            "{name} is a number: {line:?}"
        );
    }
}

/// Delivery and number of every attempt that the store holds, of copies to your endpoint the first only: their pauses
/// are seconds, so that another may be made at any moment.
async fn kept(switchboard: &Switchboard) -> BTreeSet<(String, Option<u64>)> {
    let mut kept = BTreeSet::new();
    let events = switchboard.get("/api/events").await;
    for event in events["items"].as_array().expect("events") {
        let id = event["event"].as_str().expect("an id");
        let view = switchboard.get(&format!("/api/events/{id}")).await;
        for delivery in view["delivery_list"].as_array().expect("deliveries") {
            let is_copy = delivery["destination"] == "your-endpoint";
            for attempt in delivery["log"].as_array().expect("attempts") {
                let number = attempt["number"].as_u64();
                if !is_copy || number == Some(1) {
                    kept.insert((delivery["delivery"].to_string(), number));
                }
            }
        }
    }
    kept
}

/// Delivery and number of the attempts that have a line.
fn named(attempts: &[&Map<String, Value>]) -> BTreeSet<(String, Option<u64>)> {
    let named = |line: &&Map<String, Value>| {
        (
            line["delivery.id"].to_string(),
            line["attempt.number"].as_u64(),
        )
    };
    attempts.iter().map(named).collect()
}

#[tokio::test]
async fn every_line_is_json_and_each_accepted_request_and_attempt_has_one_wide_line() {
    let told = tell(&["--log", "json"]).await;
    // Two attempts at each of five that fail, one at each of two good ones, and a copy, of four events.
    let kept = wait::until("every delivery was attempted", async || {
        let kept = kept(&told.switchboard).await;
        (kept.len() == 4 * (5 * 2 + 2 + 1)).then_some(kept)
    })
    .await;
    // The last of them is an attempt, whose line comes shortly after it is stored.
    let lines = wait::until("every attempt has its line", async || {
        let lines = lines(&told);
        let named = named(&of(&lines, "attempt"));
        kept.is_subset(&named).then_some(lines)
    })
    .await;

    let received = of(&lines, "received");
    assert_eq!(received.len(), told.accepted);
    for line in &received {
        has(
            line,
            &[
                "event.id",
                "event.source",
                "event.kind",
                "event.sender_id",
                "answer",
            ],
            &["event.body_bytes", "deliveries", "duration_ms"],
        );
        assert_eq!(
            (&line["level"], &line["deliveries"]),
            (&"INFO".into(), &8.into()),
            "{line:?}"
        );
    }
    let answers = ["accepted", "repeat", "repeat with another body"].map(|answer| {
        received
            .iter()
            .filter(|line| line["answer"] == answer)
            .count()
    });
    assert_eq!(answers, [4, 1, 1]);

    let attempts = of(&lines, "attempt");
    assert_eq!(
        attempts.len(),
        named(&attempts).len(),
        "one line for each attempt"
    );
    for line in &attempts {
        has(
            line,
            &[
                "delivery.id",
                "delivery.destination",
                "delivery.action",
                "event.id",
                "event.source",
                "event.kind",
                "attempt.outcome",
                "attempt.next",
            ],
            &["attempt.number", "attempt.duration_ms"],
        );
        let answered = ["good", "over-tls", "rejecting", "your-endpoint"]
            .contains(&line["delivery.destination"].as_str().expect("text"));
        assert_eq!(
            line.get("attempt.status").is_some_and(Value::is_u64),
            answered,
            "{line:?}"
        );
    }

    let refused = of(&lines, "refused");
    assert_eq!(refused.len(), told.refused);
    let near = refused
        .iter()
        .filter(|line| line.get("near_miss").is_some_and(Value::is_string));
    assert_eq!(
        near.count(),
        told.refused / 2,
        "every second was nearly right"
    );
    for line in refused {
        has(line, &["event.source", "reason"], &["event.body_bytes"]);
    }
}
