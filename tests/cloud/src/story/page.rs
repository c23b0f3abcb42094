//! The page, in a real browser.

use serde_json::{Value, json};
use switchboard_tests::browser::Browser;

use super::setting::Scene;

/// Signs in by the admin token and compares the totals with the API's.
pub(super) async fn shows(scene: &Scene<'_>) {
    let mut browser = Browser::start().await;
    browser.open(&scene.operator.at("/")).await;
    let token = json!(scene.operator.token());
    let script = format!(
        "document.querySelector('#token').value = {token}; document.querySelector('form button').click()"
    );
    browser.evaluate(&script).await;
    let live = "document.querySelector('#state')?.textContent === 'Live'";
    browser.wait("the page is live", live).await;
    let totals = scene.operator.totals().await;
    for name in [
        "received",
        "stored",
        "repeats",
        "refused",
        "delivered",
        "dead",
    ] {
        let shown = browser.text(&format!("[data-total=\"{name}\"]")).await;
        let shown: String = shown.chars().filter(char::is_ascii_digit).collect();
        assert_eq!(json!(shown.parse::<u64>().ok()), totals[name], "{name}");
    }
    assert_eq!(browser.misbehaviour().await, Vec::<&Value>::new());
    browser.close().await;
}
