//! The setting of the page's stories: a Switchboard whose accounting fails, and a browser that is signed in.

use http::StatusCode;
use switchboard_tests::browser::Browser;
pub(crate) use switchboard_tests::page::{
    Network, answered_to, click, cookie, live, reads, rows, set, stale, view,
};
use switchboard_tests::setting::{configuration, start};
use switchboard_tests::sink::Sink;
use switchboard_tests::switchboard::Switchboard;

/// A Switchboard whose deliveries to accounting are all rejected.
pub(crate) async fn failing() -> (Sink, Switchboard) {
    let sink = Sink::start().await;
    sink.answer(|received, _| {
        if received.path == "/accounting" {
            StatusCode::FORBIDDEN
        } else {
            StatusCode::OK
        }
    });
    let switchboard = Switchboard::start(start(&configuration(&sink))).await;
    (sink, switchboard)
}

/// A browser that the printed link has signed in, on the page with what the server holds.
pub(crate) async fn signed_in(switchboard: &Switchboard) -> Browser {
    let mut browser = Browser::start().await;
    browser.open(&switchboard.sign_in).await;
    live(&mut browser).await;
    browser
}
