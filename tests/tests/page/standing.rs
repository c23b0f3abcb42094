//! The page that stays open: it reads again by itself, shows one event whole, and keeps its numbers when nobody answers.

use serde_json::Value;
use switchboard_tests::browser::Browser;
use switchboard_tests::setting::sender;

use crate::setting::{Network, failing, live, set, signed_in, stale, view};

async fn shows(browser: &mut Browser, total: &str, value: u32) {
    let script =
        format!("document.querySelector('[data-total=\"{total}\"]').textContent === '{value}'");
    browser
        .wait(&format!("{total} is shown as {value}"), &script)
        .await;
}

#[tokio::test]
async fn what_comes_in_later_is_shown_without_loading_the_page_again() {
    let (_sink, switchboard) = failing().await;
    let mut browser = signed_in(&switchboard).await;
    shows(&mut browser, "stored", 0).await;
    browser.evaluate("window.sameAsBefore = true").await;
    sender(&switchboard, "shop")
        .send("1", "orders/create", "{}")
        .await;
    shows(&mut browser, "stored", 1).await;
    shows(&mut browser, "dead", 1).await;
    let (code, printed) = switchboard.run(&["hold", "warehouse"]).await;
    assert_eq!(code, 0, "{printed}");
    view(&mut browser, "#/destinations").await;
    let script =
        "document.querySelector('[data-destination=warehouse] h2').innerText.includes('held')";
    browser.wait("the hold is shown", script).await;
    assert_eq!(browser.evaluate("window.sameAsBefore").await, true);
    assert_eq!(browser.misbehaviour().await, Vec::<&Value>::new());
    browser.close().await;
}

#[tokio::test]
async fn an_event_is_opened_with_its_deliveries_and_their_attempts() {
    let (_sink, switchboard) = failing().await;
    let event = sender(&switchboard, "shop")
        .send("1", "orders/create", "{}")
        .await
        .event();
    switchboard.wait_total("dead", 1).await;
    switchboard.wait_total("delivered", 1).await;
    let mut browser = signed_in(&switchboard).await;
    view(&mut browser, "#/events").await;
    browser
        .evaluate(&format!(
            "document.querySelector('#events [data-event=\"{event}\"]').click()"
        ))
        .await;
    browser
        .wait(
            "the event is shown",
            "document.querySelectorAll('#deliveries article').length === 2",
        )
        .await;
    assert_eq!(browser.text("#event-id code").await, event);
    let accounting = browser
        .text("#deliveries [aria-label=\"Delivery to accounting\"]")
        .await;
    assert!(accounting.contains("accounting dead"), "{accounting}");
    assert_eq!(
        accounting.matches("rejected, 403").count(),
        3,
        "{accounting}"
    );
    assert_eq!(accounting.matches("pause of").count(), 2, "{accounting}");
    let warehouse = browser
        .text("#deliveries [aria-label=\"Delivery to warehouse\"]")
        .await;
    assert!(warehouse.contains("1. delivered, 200"), "{warehouse}");
    browser.evaluate("history.back()").await;
    let back = "document.querySelectorAll('#events [data-event]').length === 1";
    browser.wait("the way back leads to the list", back).await;
    browser.close().await;
}

#[tokio::test]
async fn a_body_is_shown_as_it_came_with_its_big_numbers() {
    let (_sink, switchboard) = failing().await;
    let body = r#"{"id":12345678901234567890,"price":1.10,"said":"<img src=x onerror=alert(1)>"}"#;
    let event = sender(&switchboard, "shop")
        .send("1", "orders/create", body)
        .await
        .event();
    let mut browser = signed_in(&switchboard).await;
    view(&mut browser, &format!("#/events/{event}")).await;
    let shown = "!document.querySelector('pre.body').hidden";
    browser.wait("the body is shown", shown).await;
    let set_out = browser
        .evaluate("document.querySelector('pre.body').textContent")
        .await;
    assert_eq!(
        set_out,
        "{\n  \"id\": 12345678901234567890,\n  \"price\": 1.10,\n  \"said\": \"<img src=x onerror=alert(1)>\"\n}\n"
    );
    for (mode, beginning) in [("raw", body), ("hex", "00000000  7b 22 69 64")] {
        let script = format!("document.querySelector('[data-mode={mode}]').click()");
        browser.evaluate(&script).await;
        let shown = browser
            .evaluate("document.querySelector('pre.body').textContent")
            .await;
        let shown = shown.as_str().expect("a text");
        assert!(shown.starts_with(beginning), "{mode}: {shown}");
    }
    assert_eq!(browser.misbehaviour().await, Vec::<&Value>::new());
    browser.close().await;
}

#[tokio::test]
async fn when_nobody_answers_the_last_numbers_stay_and_are_marked_and_it_recovers_by_itself() {
    let (_sink, switchboard) = failing().await;
    sender(&switchboard, "shop")
        .send("1", "orders/create", "{}")
        .await;
    switchboard.wait_total("dead", 1).await;
    let mut browser = signed_in(&switchboard).await;
    shows(&mut browser, "dead", 1).await;
    set(&mut browser, Network::Cut).await;
    stale(&mut browser).await;
    shows(&mut browser, "dead", 1).await;
    let line = browser.text("#trouble-text").await;
    assert!(line.contains("What is shown is of 20"), "{line}");
    set(&mut browser, Network::Whole).await;
    live(&mut browser).await;
    let hidden = "document.querySelector('#trouble').hidden";
    assert_eq!(browser.evaluate(hidden).await, true);
    browser.close().await;
}
