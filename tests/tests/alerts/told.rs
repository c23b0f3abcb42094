//! What is told of a destination, and that it is told once.

use serde_json::Value;
use switchboard_tests::sink::Sink;
use switchboard_tests::switchboard::{Start, Switchboard};

use crate::setting::{alert, fail, failing_sink, heal, kinds, order, start, wait_metric};

/// The alert that README shows.
fn documented() -> Value {
    let readme = include_str!("../../../README.md");
    let (_, section) = readme.split_once("## Alerts").expect("the section");
    let (_, block) = section.split_once("```json").expect("a block");
    let (block, _) = block.split_once("```").expect("its end");
    serde_json::from_str(block).expect("JSON")
}

fn members(alert: &Value) -> Vec<&String> {
    alert.as_object().expect("an object").keys().collect()
}

#[tokio::test]
async fn the_first_dead_letter_is_told_once_and_recovery_once() {
    let (sink, alerts) = (failing_sink().await, Sink::start().await);
    let switchboard = Switchboard::start(start(&sink, alerts.address(), "10m")).await;
    order(&switchboard, "1").await;
    let first = alert(&alerts.wait_for(1).await[0]);
    assert_eq!(
        (&first["version"], &first["alert"]),
        (&1.into(), &"dead-letter".into())
    );
    assert_eq!(first["destination"], "warehouse");
    assert_eq!(first["dead_letters"], 1);
    assert_eq!(first["waiting"], 0);
    assert_eq!(first["recovered_at"], Value::Null);
    let text = first["text"].as_str().expect("a sentence");
    assert!(text.contains("warehouse has a dead letter"), "{text}");
    let documented = documented();
    assert_eq!(members(&first), members(&documented), "as README shows it");
    let whole = first.to_string();
    for hidden in ["BODY-OF", "http", "secret"] {
        assert!(!whole.contains(hidden), "{whole}");
    }

    wait_metric(&switchboard, "switchboard_alerts_pending 0").await;
    for id in ["2", "3"] {
        order(&switchboard, id).await;
    }
    switchboard.wait_total("dead", 3).await;
    heal(&sink);
    switchboard.run(&["redrive", "--all"]).await;
    let two = alerts.wait_for(2).await;
    assert_eq!(
        kinds(&two),
        ["dead-letter warehouse", "recovered warehouse"],
        "further dead letters are no news"
    );
    let recovered = alert(&two[1]);
    assert_eq!(recovered["raised_at"], first["raised_at"]);
    assert!(recovered["recovered_at"].as_str() > recovered["raised_at"].as_str());
    assert_eq!(recovered["dead_letters"], 0);
    assert_eq!(switchboard.total("delivered").await, 6);

    fail(&sink);
    order(&switchboard, "4").await;
    let three = alerts.wait_for(3).await;
    assert_eq!(kinds(&three)[2], "dead-letter warehouse", "it was well");
    assert_ne!(alert(&three[2])["id"], first["id"]);
}

#[tokio::test]
async fn a_redrive_that_fails_again_is_no_recovery() {
    let (sink, alerts) = (failing_sink().await, Sink::start().await);
    let mut start = start(&sink, alerts.address(), "10m");
    // Long enough between two attempts for many looks at a destination without a dead letter.
    start.configuration = start
        .configuration
        .map(|text| text.replace("\"40ms\"", "\"3s\""));
    let switchboard = Switchboard::start(start).await;
    order(&switchboard, "1").await;
    alerts.wait_for(1).await;
    switchboard.run(&["redrive", "--all"]).await;
    switchboard.wait_total("dead", 0).await;
    switchboard.wait_total("dead", 1).await;
    heal(&sink);
    switchboard.run(&["redrive", "--all"]).await;
    let told = alerts.wait_for(2).await;
    assert_eq!(
        kinds(&told),
        ["dead-letter warehouse", "recovered warehouse"]
    );
    assert_eq!(switchboard.total("delivered").await, 2);
}

/// With pauses in which a delivery waits for longer than a second.
fn patient(start: Start) -> Start {
    let text = start.configuration.map(|text| {
        text.replace("\"20ms\", \"40ms\"", "\"4s\"")
            .replace("pauses", "jitter = 0\npauses")
    });
    Start {
        configuration: text,
        ..start
    }
}

#[tokio::test]
async fn what_waits_past_the_limit_is_told_and_its_recovery_too() {
    let (sink, alerts) = (failing_sink().await, Sink::start().await);
    let start = patient(start(&sink, alerts.address(), "1s"));
    let switchboard = Switchboard::start(start).await;
    order(&switchboard, "1").await;
    let late = alert(&alerts.wait_for(1).await[0]);
    assert_eq!(late["alert"], "waiting-too-long");
    assert_eq!(
        (&late["waiting"], &late["dead_letters"]),
        (&1.into(), &0.into())
    );
    assert!(late["oldest_waiting_s"].as_u64() >= Some(1), "{late}");
    heal(&sink);
    let told = alerts.wait_for(2).await;
    assert_eq!(
        kinds(&told),
        ["waiting-too-long warehouse", "recovered warehouse"]
    );
    switchboard.wait_total("delivered", 2).await;
}

#[tokio::test]
async fn what_an_operator_holds_does_not_wait_too_long() {
    let (sink, alerts) = (Sink::start().await, Sink::start().await);
    sink.answer(|_, _| http::StatusCode::SERVICE_UNAVAILABLE);
    let start = patient(start(&sink, alerts.address(), "1s"));
    let switchboard = Switchboard::start(start).await;
    switchboard.run(&["hold", "warehouse"]).await;
    order(&switchboard, "1").await;
    switchboard.wait_total("held", 1).await;
    // As old as the one that is held, and told of.
    alerts.wait_for(1).await;
    heal(&sink);
    switchboard.run(&["release", "warehouse"]).await;
    switchboard.wait_total("delivered", 2).await;
    let told = alerts.wait_for(2).await;
    assert_eq!(
        kinds(&told),
        ["waiting-too-long accounting", "recovered accounting"]
    );
}
