//! The page that stays open: it reads again by itself, shows one event whole, and keeps its numbers when nobody answers.

use serde_json::{Value, json};
use switchboard_tests::browser::Browser;
use switchboard_tests::setting::sender;

use crate::setting::{failing, live, rows, signed_in};

async fn shows(browser: &mut Browser, total: &str, value: u32) {
    let script =
        format!("document.querySelector('[data-total=\"{total}\"]').textContent === '{value}'");
    browser
        .wait(&format!("{total} is shown as {value}"), &script)
        .await;
}

/// Whether the page reaches the server.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Network {
    Cut,
    Whole,
}

async fn set(browser: &mut Browser, network: Network) {
    let is_cut = network == Network::Cut;
    let conditions = json!({ "offline": is_cut, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1 });
    browser.command("Network.enable", &json!({})).await;
    browser
        .command("Network.emulateNetworkConditions", &conditions)
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
    let script = "document.querySelector('#destinations').innerText.includes('\\nheld')";
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
    assert_eq!(
        browser
            .evaluate("document.querySelector('#event').hidden")
            .await,
        true
    );
    browser
        .evaluate(&format!(
            "document.querySelector('#events [data-event=\"{event}\"]').click()"
        ))
        .await;
    browser
        .wait(
            "the event is shown",
            "!document.querySelector('#event').hidden",
        )
        .await;
    assert_eq!(browser.text("#event-id").await, event);
    let deliveries = rows(&mut browser, "deliveries").await;
    assert_eq!(deliveries.len(), 2);
    let [accounting, warehouse] = &deliveries[..] else {
        panic!("two deliveries: {deliveries:?}")
    };
    assert_eq!((&*accounting[0], &*accounting[3]), ("accounting", "3"));
    assert_eq!(
        accounting[4].matches("rejected, 403").count(),
        3,
        "{}",
        accounting[4]
    );
    assert!(accounting[2].contains("dead"), "{}", accounting[2]);
    assert!(warehouse[4].contains("delivered, 200"), "{}", warehouse[4]);
    browser
        .evaluate("document.querySelector('#event-close').click()")
        .await;
    assert_eq!(
        browser
            .evaluate("document.querySelector('#event').hidden")
            .await,
        true
    );
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
    let script = "document.querySelector('#state').textContent === 'Not reachable'";
    browser.wait("it says that nobody answers", script).await;
    shows(&mut browser, "dead", 1).await;
    let age = browser.text("#age").await;
    assert!(age.starts_with("These numbers are of 20"), "{age}");
    set(&mut browser, Network::Whole).await;
    live(&mut browser).await;
    assert_eq!(browser.text("#age").await, "");
    browser.close().await;
}
