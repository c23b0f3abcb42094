//! What an accepted event is promised: an answer of 200 means that it is kept, whatever crashes.

use std::sync::Mutex;

use http::StatusCode;
use switchboard_tests::sink::Sink;
use switchboard_tests::switchboard::Switchboard;
use switchboard_tests::wait;

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

#[tokio::test(flavor = "multi_thread")]
async fn sigterm_finishes_what_is_under_way() {
    let sink = Sink::start().await;
    let mut patient = start(&sink);
    patient.configuration = patient
        .configuration
        .map(|text| text.replace("\"500ms\"", "\"20s\""));
    let mut switchboard = Switchboard::start(patient.clone()).await;
    let (begun, under_way) = std::sync::mpsc::channel::<()>();
    let (answer, gate) = std::sync::mpsc::channel::<()>();
    let gate = Mutex::new(gate);
    // The destination answers only when it is let, which is after the switchboard was told to end.
    sink.answer(move |_, _| {
        let _ = begun.send(());
        let gate = gate.lock().expect("a lock");
        // Blocking in place: another thread takes over what this one would have woken.
        match tokio::task::block_in_place(|| gate.recv_timeout(wait::DEADLINE)) {
            Ok(()) => StatusCode::OK,
            Err(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    });
    shop(&switchboard).send("id-1", "other", "{}").await;
    tokio::task::spawn_blocking(move || under_way.recv_timeout(wait::DEADLINE))
        .await
        .expect("joined")
        .expect("an attempt is under way");
    switchboard.terminate().await;
    switchboard.wait_closed().await;
    assert!(
        switchboard.is_running(),
        "it waits for what is under way before it ends"
    );
    answer.send(()).expect("the destination waits");
    let (status, folder) = switchboard.ended().await;
    assert_eq!(status.code(), Some(0));

    sink.answer(|_, _| StatusCode::OK);
    let switchboard = Switchboard::start_in(folder, patient).await;
    assert_eq!(
        switchboard.total("delivered").await,
        1,
        "the answer was recorded before the end"
    );
    shop(&switchboard).send("id-2", "other", "{}").await;
    switchboard.wait_total("delivered", 2).await;
    assert_eq!(
        sink.received().len(),
        2,
        "what was delivered before the end is not sent again"
    );
}
