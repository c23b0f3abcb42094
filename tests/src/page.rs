//! The page in a browser: when it has read what it shows, and how its views are opened.

use serde_json::json;

use crate::browser::Browser;

/// Waits until the page has read everything.
pub async fn live(browser: &mut Browser) {
    let script = "document.querySelector('#state')?.textContent === 'Live'";
    browser.wait("the page is live", script).await;
}

/// Opens a view by its address, as `#/events`, and waits until all that it shows was read.
pub async fn view(browser: &mut Browser, address: &str) {
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
