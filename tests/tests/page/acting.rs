//! What an operator does on the page: redrive, hold and release, a test delivery, and setting your endpoint.

use http::StatusCode;
use serde_json::{Value, json};
use switchboard_tests::setting::sender;

use crate::setting::{click, failing, reads, signed_in, view};

#[tokio::test]
async fn a_failed_delivery_is_seen_redriven_in_one_click_and_seen_to_arrive() {
    let (sink, switchboard) = failing().await;
    sender(&switchboard, "shop")
        .send("1", "orders/create", "{}")
        .await;
    switchboard.wait_total("dead", 1).await;
    let mut browser = signed_in(&switchboard).await;
    reads(&mut browser, ".needs", "accounting is failing").await;
    reads(&mut browser, ".needs", "1 dead letter waits to be redriven").await;
    sink.answer(|_, _| StatusCode::OK);
    view(&mut browser, "#/failed").await;
    click(&mut browser, "#dead-letters tbody button").await;
    reads(&mut browser, "#running", "1 dead letter redriven, 0 left.").await;
    click(&mut browser, "#running a").await;
    reads(&mut browser, "#deliveries", "4. delivered, 200").await;
    switchboard.wait_total("dead", 0).await;
    assert_eq!(browser.misbehaviour().await, Vec::<&Value>::new());
    browser.close().await;
}

#[tokio::test]
async fn all_dead_letters_are_counted_before_they_are_redriven() {
    let (sink, switchboard) = failing().await;
    for id in ["1", "2", "3"] {
        sender(&switchboard, "shop").send(id, "other", "{}").await;
    }
    switchboard.wait_total("dead", 3).await;
    sink.answer(|_, _| StatusCode::OK);
    let mut browser = signed_in(&switchboard).await;
    view(&mut browser, "#/failed").await;
    click(&mut browser, "#groups + .buttons button.strong").await;
    reads(&mut browser, "dialog", "3 deliveries: accounting 3.").await;
    assert_eq!(
        switchboard.get("/api/overview").await["totals"]["dead"],
        3,
        "nothing moves before the answer"
    );
    click(&mut browser, "dialog button.strong").await;
    reads(&mut browser, "#running", "3 dead letters redriven, 0 left.").await;
    reads(&mut browser, "#running", "accounting: 3 delivered since").await;
    browser.close().await;
}

#[tokio::test]
async fn a_destination_is_held_and_released() {
    let (_sink, switchboard) = failing().await;
    let mut browser = signed_in(&switchboard).await;
    view(&mut browser, "#/destinations").await;
    click(&mut browser, "[aria-label=\"Hold warehouse\"]").await;
    reads(&mut browser, "[data-destination=warehouse] h2", "held").await;
    assert_eq!(
        switchboard.get("/api/overview").await["held"],
        json!(["warehouse"])
    );
    sender(&switchboard, "shop")
        .send("1", "orders/create", "{}")
        .await;
    switchboard.wait_total("held", 1).await;
    click(&mut browser, "[aria-label=\"Release warehouse\"]").await;
    reads(&mut browser, "#running", "1 delivery released.").await;
    switchboard.wait_total("delivered", 1).await;
    assert_eq!(browser.misbehaviour().await, Vec::<&Value>::new());
    browser.close().await;
}

/// From now on every other answer to a replay is lost on its way to the page, though the server did what it was asked.
const LOSES_ANSWERS: &str = "\
    const all = window.fetch; let calls = 0; \
    window.fetch = async (path, ...rest) => { \
        const answer = await all(path, ...rest); \
        if (path === '/admin/replay') window.until = JSON.parse(rest[0].body).until; \
        if (path === '/admin/replay' && (calls += 1) % 2 === 1) throw new TypeError('lost'); \
        return answer; \
    }";

#[tokio::test]
async fn a_replay_is_counted_and_goes_on_where_it_was_cut() {
    let (_sink, switchboard) = failing().await;
    sender(&switchboard, "shop")
        .send("1", "orders/create", "{}")
        .await;
    switchboard.wait_total("dead", 1).await;
    switchboard.wait_total("delivered", 1).await;
    let mut browser = signed_in(&switchboard).await;
    view(&mut browser, "#/replay").await;
    let fill = "const { elements } = document.querySelector('form.search'); \
                elements.sender_id.value = '1'; elements.to.value = 'warehouse'";
    browser.evaluate(fill).await;
    click(&mut browser, "form.search button.strong").await;
    reads(
        &mut browser,
        "#view",
        "1 event, 1 new delivery would be made.",
    )
    .await;
    browser.evaluate(LOSES_ANSWERS).await;
    click(&mut browser, "#view div[role=status] button").await;
    for _ in 0..2 {
        reads(&mut browser, "#running", "Go on does the rest.").await;
        assert_eq!(
            browser
                .evaluate("document.querySelectorAll('#running .panel').length")
                .await,
            1
        );
        click(&mut browser, "#running button.strong").await;
        let on_its_way = "!document.querySelector('#running').innerText.includes('Cut') \
                          || document.querySelector('#running button.strong')";
        browser.wait("it goes on", on_its_way).await;
    }
    reads(&mut browser, "#running", "1 event replayed: 1 delivery.").await;
    let until = browser.evaluate("window.until").await;
    assert!(until.is_string(), "what was counted: {until}");
    switchboard.wait_total("delivered", 2).await;
    let totals = switchboard.get("/api/overview").await["totals"].clone();
    assert_eq!(totals["waiting"], 0, "once, though it was asked for twice");
    browser.close().await;
}

#[tokio::test]
async fn a_test_delivery_shows_what_it_came_to_and_counts_nowhere() {
    let (_sink, switchboard) = failing().await;
    let before = switchboard.get("/api/overview").await["totals"].clone();
    let mut browser = signed_in(&switchboard).await;
    view(&mut browser, "#/destinations").await;
    for (destination, outcome) in [
        ("accounting", "rejected, 403"),
        ("warehouse", "delivered, 200"),
    ] {
        let pressed = format!("[aria-label=\"Test delivery to {destination}\"]");
        click(&mut browser, &pressed).await;
        let place = format!("[data-destination={destination}]");
        reads(&mut browser, &place, outcome).await;
    }
    assert_eq!(switchboard.get("/api/overview").await["totals"], before);
    browser.close().await;
}

#[tokio::test]
async fn your_endpoint_is_set_and_its_secret_is_shown_once() {
    let (sink, switchboard) = failing().await;
    let mut browser = signed_in(&switchboard).await;
    view(&mut browser, "#/endpoint").await;
    let url = json!(sink.url("/mine/T0KEN"));
    let script = format!("document.querySelector('#endpoint-url').value = {url}");
    browser.evaluate(&script).await;
    click(&mut browser, "form button.strong").await;
    reads(&mut browser, ".secret", "whsec_").await;
    reads(
        &mut browser,
        "#endpoint",
        "a signed copy of every event goes to",
    )
    .await;
    view(&mut browser, "#/sources").await;
    view(&mut browser, "#/endpoint").await;
    let page = browser.evaluate("document.documentElement.outerHTML").await;
    let page = page.as_str().expect("a text");
    assert!(!page.contains("whsec_"), "the secret is shown again");
    assert!(!page.contains("T0KEN"), "the path is shown");
    browser.close().await;
}
