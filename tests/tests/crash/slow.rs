//! Fail points that hold a thread up bring about what only a busy machine would: two things in the order that is rare.

use std::sync::atomic::{AtomicUsize, Ordering};

use http::StatusCode;
use switchboard_tests::setting::sender;
use switchboard_tests::sink::Sink;
use switchboard_tests::switchboard::Switchboard;
use switchboard_tests::{setting, wait};

#[tokio::test]
async fn an_attempt_that_falls_due_before_the_one_before_it_has_ended_is_made() {
    let sink = Sink::start().await;
    let came = AtomicUsize::new(0);
    sink.answer(move |_, _| match came.fetch_add(1, Ordering::Relaxed) {
        0 => StatusCode::INTERNAL_SERVER_ERROR,
        _ => StatusCode::OK,
    });
    // Its first pause is 20 ms, up to a fifth longer.
    let start = setting::start(&setting::configuration(&sink));
    let start = start.set("SWITCHBOARD_FAIL", "after-record=slow:200");
    let switchboard = Switchboard::start(start).await;
    sender(&switchboard, "shop").send("1", "other", "{}").await;
    // Far less than the half minute after which a lane looks by itself.
    wait::within(wait::DEADLINE / 2, "it is delivered", async || {
        (switchboard.total("delivered").await == 1).then_some(())
    })
    .await;
}
