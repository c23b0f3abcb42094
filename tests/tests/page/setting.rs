//! The setting of the page's stories: a Switchboard whose accounting fails, and a browser that is signed in.

use switchboard_tests::browser::Browser;
pub(crate) use switchboard_tests::page::{
    Network, answered_to, click, cookie, live, reads, rows, set, stale, view,
};
pub(crate) use switchboard_tests::setting::failing;
use switchboard_tests::switchboard::Switchboard;

/// A browser that the printed link has signed in, on the page with what the server holds.
pub(crate) async fn signed_in(switchboard: &Switchboard) -> Browser {
    let mut browser = Browser::start().await;
    browser.open(&switchboard.sign_in).await;
    live(&mut browser).await;
    browser
}
