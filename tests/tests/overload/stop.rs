//! A stop in the middle of a flood, while as much waits as may.

use std::collections::BTreeSet;

use switchboard_tests::process::allow_handles;
use switchboard_tests::switchboard::Switchboard;
use switchboard_tests::wait;

use crate::flood::HANDLES;
use crate::load::{Sink, send};
use crate::setting::{SECRET, SLOW, TURN, start};

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_in_a_flood_keeps_what_was_answered() {
    let _turn = TURN.lock().await;
    allow_handles(HANDLES).await;
    let folder = tempfile::tempdir().expect("a folder");
    let sink = Sink::start(folder.path()).await;
    let slow = start(&sink).set("SWITCHBOARD_FAIL", SLOW);
    let switchboard = Switchboard::start(slow).await;
    let (to, list) = (switchboard.at("/in/code"), folder.path().join("accepted"));
    let many = ["--events=9000", "--per-second=1500", "--connections=3000"].map(str::to_owned);
    let flooding = send(&to, SECRET, &list, &many);
    let stopping = async {
        wait::until("some are turned away", async || {
            (switchboard.total("declined").await > 100).then_some(())
        })
        .await;
        switchboard.terminate().await;
        switchboard.ended().await
    };
    let (sent, (ended, data)) = tokio::join!(flooding, stopping);
    assert!(ended.success(), "it ended by itself: {ended}");

    let switchboard = Switchboard::start_in(data, start(&sink)).await;
    switchboard.wait_total("waiting", 0).await;
    // What was done for a sender whose connection was cut is counted all the same.
    let (stored, declined) = (
        switchboard.total("stored").await,
        switchboard.total("declined").await,
    );
    assert!(
        sent.answered(200) > 0 && sent.answered(503) > 100,
        "a flood"
    );
    assert!(stored >= sent.answered(200), "{stored} are stored");
    assert!(declined >= sent.answered(503), "{declined} are counted");
    assert_eq!(switchboard.total("delivered").await, stored);
    let text = std::fs::read_to_string(&list).expect("a list");
    let delivered: BTreeSet<String> = sink.keys().into_values().map(|(event, _)| event).collect();
    for event in text.lines() {
        assert!(delivered.contains(event), "{event} was accepted");
    }
}
