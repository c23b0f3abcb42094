//! The setting of the page's stories: a Switchboard whose accounting fails, and a browser that is signed in.

use http::StatusCode;
use serde_json::json;
use switchboard_tests::browser::Browser;
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

/// Waits until the page has read everything.
pub(crate) async fn live(browser: &mut Browser) {
    let script = "document.querySelector('#state')?.textContent === 'Live'";
    browser.wait("the page is live", script).await;
}

/// Opens a view by its address, as `#/events`, and waits until all that it shows was read.
pub(crate) async fn view(browser: &mut Browser, address: &str) {
    let address = json!(address);
    browser
        .evaluate(&format!("location.hash = {address}"))
        .await;
    let script = format!(
        "document.querySelector('#view').dataset.of === {address} && \
         document.querySelector('#view').ariaBusy === 'false'"
    );
    browser.wait("the view is read", &script).await;
}

/// The cells of a table's rows, as text.
pub(crate) async fn rows(browser: &mut Browser, table: &str) -> Vec<Vec<String>> {
    let script = format!(
        "Array.from(document.querySelectorAll('#{table} > tbody > tr'), \
         (row) => Array.from(row.cells, (cell) => cell.textContent))"
    );
    let rows = browser.evaluate(&script).await;
    serde_json::from_value(rows).expect("rows")
}
