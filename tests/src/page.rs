//! The page in a browser: when it has read what it shows, how its views are opened, and what is pressed and read there.

use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode};
use serde_json::json;
use switchboard_web::client;
use url::Url;

use crate::browser::Browser;
use crate::wait::DEADLINE;

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

/// Clicks the first element that a selector finds, wherever it stands.
pub async fn click(browser: &mut Browser, selector: &str) {
    let script = format!("document.querySelector({}).click()", json!(selector));
    browser.evaluate(&script).await;
}

/// Waits until the text of an element holds another.
pub async fn reads(browser: &mut Browser, selector: &str, text: &str) {
    let script = format!(
        "document.querySelector({})?.innerText.includes({})",
        json!(selector),
        json!(text)
    );
    browser.wait("it reads so", &script).await;
}

/// The cells of a table's rows, as text.
pub async fn rows(browser: &mut Browser, table: &str) -> Vec<Vec<String>> {
    let script = format!(
        "Array.from(document.querySelectorAll('#{table} > tbody > tr'), \
         (row) => Array.from(row.cells, (cell) => cell.textContent))"
    );
    let rows = browser.evaluate(&script).await;
    serde_json::from_value(rows).expect("rows")
}

/// Whether the page reaches the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    /// Nobody answers.
    Cut,
    /// As usual.
    Whole,
}

/// Cuts the page off, or lets it reach the server again.
pub async fn set(browser: &mut Browser, network: Network) {
    let is_cut = network == Network::Cut;
    let conditions = json!({ "offline": is_cut, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1 });
    browser.command("Network.enable", &json!({})).await;
    browser
        .command("Network.emulateNetworkConditions", &conditions)
        .await;
}

/// Waits until the page says that nobody answers it.
pub async fn stale(browser: &mut Browser) {
    let script = "document.querySelector('#state').textContent === 'Not reachable'";
    browser.wait("it says that nobody answers", script).await;
}

/// Signs in by the form that is shown, with the admin token.
pub async fn sign_in(browser: &mut Browser, token: &str) {
    let token = json!(token);
    let script = format!("document.querySelector('#token').value = {token}");
    browser.evaluate(&script).await;
    click(browser, "form button").await;
    live(browser).await;
}

/// The cookie of a browser's sign-in, as another program would send it.
pub async fn cookie(browser: &mut Browser) -> HeaderMap {
    let told = browser.command("Network.getCookies", &json!({})).await;
    let of = &told["cookies"][0];
    let pair = [&of["name"], &of["value"]].map(|text| text.as_str().expect("a text"));
    let value = pair.join("=").parse().expect("a value");
    HeaderMap::from_iter([(http::header::COOKIE, value)])
}

/// What the API at an address answers to a cookie.
pub async fn answered_to(url: &Url, cookie: &HeaderMap) -> StatusCode {
    let url = url.join("/api/overview").expect("an address");
    let asked = client::request(Method::GET, &url, cookie.clone(), Bytes::new(), DEADLINE);
    asked.await.expect("an answer").0
}

/// Presses the button that signs out, and waits for the sign-in page.
pub async fn sign_out(browser: &mut Browser) {
    click(browser, "header form button").await;
    let script = "document.title === 'Switchboard: sign in'";
    browser.wait("it is signed out", script).await;
}
