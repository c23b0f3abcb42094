//! What an accepted event is promised: an answer of 200 means that it is kept, whatever crashes.

use http::StatusCode;
use switchboard_tests::sink::Sink;
use switchboard_tests::switchboard::Switchboard;

use crate::setting::{shop, start};

#[tokio::test]
async fn what_was_answered_200_is_delivered_after_a_crash() {
    let sink = Sink::start().await;
    sink.answer(|_, _| StatusCode::SERVICE_UNAVAILABLE);
    let slow = start(&sink);
    let configuration = slow
        .configuration
        .clone()
        .map(|text| text.replace("\"40ms\"", "\"60s\""));
    let switchboard = Switchboard::start(switchboard_tests::switchboard::Start {
        configuration,
        ..slow.clone()
    })
    .await;
    for n in 0..10 {
        assert_eq!(
            shop(&switchboard)
                .send(&format!("id-{n}"), "orders/create", "{}")
                .await
                .status,
            StatusCode::OK
        );
    }
    sink.wait_for(20).await;
    let (folder, _) = switchboard.kill().await;
    sink.answer(|_, _| StatusCode::OK);
    let switchboard = Switchboard::start_in(folder, slow).await;
    assert_eq!(switchboard.total("stored").await, 10);
    assert_eq!(
        shop(&switchboard)
            .send("id-3", "orders/create", "{}")
            .await
            .body["status"],
        "repeat"
    );
    // What failed before the crash is due in a minute; what was not recorded before it is due now. None is lost.
    let totals = switchboard.get("/api/overview").await["totals"].clone();
    assert_eq!(
        totals["waiting"]
            .as_u64()
            .zip(totals["delivered"].as_u64())
            .map(|(a, b)| a + b),
        Some(20),
        "{totals}"
    );
}

#[tokio::test]
async fn a_crash_at_the_moment_of_the_answer_loses_nothing() {
    let sink = Sink::start().await;
    let mut switchboard = Switchboard::start(start(&sink)).await;
    for n in 0..5 {
        let answer = shop(&switchboard)
            .send(&format!("id-{n}"), "orders/create", "{}")
            .await;
        assert_eq!(answer.status, StatusCode::OK);
        let (folder, start) = switchboard.kill().await;
        switchboard = Switchboard::start_in(folder, start).await;
    }
    switchboard.wait_total("delivered", 10).await;
    let mut keys: Vec<String> = sink
        .received()
        .iter()
        .map(|received| received.key().to_owned())
        .collect();
    keys.sort();
    keys.dedup();
    assert_eq!(
        keys.len(),
        10,
        "each delivery came, some perhaps twice under one key"
    );
}

#[tokio::test]
async fn sigterm_finishes_what_is_under_way() {
    let sink = Sink::start().await;
    let switchboard = Switchboard::start(start(&sink)).await;
    let (begun, under_way) = std::sync::mpsc::channel::<()>();
    sink.answer(move |_, _| {
        let _ = begun.send(());
        StatusCode::OK
    });
    shop(&switchboard).send("id-1", "orders/create", "{}").await;
    tokio::task::spawn_blocking(move || under_way.recv())
        .await
        .expect("joined")
        .expect("an attempt is under way");
    let (status, folder) = switchboard.stop().await;
    assert_eq!(status.code(), Some(0));
    let before = sink.received().len();
    let switchboard = Switchboard::start_in(folder, start(&sink)).await;
    switchboard.wait_total("delivered", 2).await;
    assert!(
        sink.received().len() <= 2 && before >= 1,
        "what was delivered before the end is not sent again"
    );
}
