//! Everybody can use the page: axe-core finds nothing on any view, light and dark, wide and narrow, with content, while
//! something fails, and in each question.

use http::StatusCode;
use serde_json::json;
use switchboard_tests::axe::Judged;
use switchboard_tests::browser::Browser;
use switchboard_tests::setting::sender;
use switchboard_tests::sink::Sink;
use switchboard_tests::switchboard::{Start, Switchboard};

use crate::setting::{Network, click, failing, live, reads, set, signed_in, stale, view};

/// The views, but for that of an event.
const VIEWS: [&str; 8] = [
    "#/",
    "#/events",
    "#/failed",
    "#/refused",
    "#/replay",
    "#/destinations",
    "#/endpoint",
    "#/sources",
];

/// A Switchboard to which everything has happened that a view shows, and the addresses of all its views.
async fn story() -> (Sink, Switchboard, Vec<String>) {
    let (sink, switchboard) = failing().await;
    let shop = sender(&switchboard, "shop");
    let body = r#"{"id":12345678901234567890,"is":[true,null,"a text"]}"#;
    let event = shop.send("1", "orders/create", body).await.event();
    assert_eq!(shop.send("2", "other", "{}").await.status, 200);
    assert_eq!(shop.send("2", "other", "{}").await.status, 200);
    let signed_without_line_end = shop.headers("3", "orders/create", b"{}");
    assert_eq!(shop.post(signed_without_line_end, "{}\n").await.status, 401);
    let nobody = switchboard.sender("nobody", "shopify", "shpss_of_nobody_that_is_configured");
    assert_eq!(nobody.send("1", "orders/create", "{}").await.status, 404);
    switchboard.wait_total("dead", 2).await;
    switchboard.wait_total("delivered", 1).await;
    let (code, printed) = switchboard.run(&["hold", "warehouse"]).await;
    assert_eq!(code, 0, "{printed}");
    assert_eq!(shop.send("4", "orders/create", "{}").await.status, 200);
    switchboard.wait_total("held", 1).await;
    switchboard.wait_total("dead", 3).await;
    let views = VIEWS.map(str::to_owned).into_iter();
    let views = views.chain([format!("#/events/{event}")]).collect();
    (sink, switchboard, views)
}

/// Whatever the page reads now is answered by nobody, or by the server again.
async fn block(browser: &mut Browser, patterns: &[&str]) {
    browser.command("Network.enable", &json!({})).await;
    browser
        .command("Network.setBlockedURLs", &json!({ "urls": patterns }))
        .await;
}

#[tokio::test]
async fn every_view_can_be_used_by_everybody() {
    let (_sink, switchboard, views) = story().await;
    let mut judged = Judged::default();
    let mut browser = signed_in(&switchboard).await;
    for address in &views {
        view(&mut browser, address).await;
        judged.look(&mut browser, address).await;
    }
    for mode in ["raw", "hex"] {
        click(&mut browser, &format!("[data-mode={mode}]")).await;
        judged
            .look(&mut browser, &format!("the body, {mode}"))
            .await;
    }
    browser.close().await;
    judged.hold(views.len() + 2);
}

#[tokio::test]
async fn every_view_can_be_used_by_everybody_while_nobody_answers() {
    let (_sink, switchboard, views) = story().await;
    let mut judged = Judged::default();
    let mut browser = signed_in(&switchboard).await;
    for address in &views {
        view(&mut browser, address).await;
        set(&mut browser, Network::Cut).await;
        stale(&mut browser).await;
        judged
            .look(&mut browser, &format!("{address} cut off"))
            .await;
        set(&mut browser, Network::Whole).await;
        click(&mut browser, "#read-now").await;
        live(&mut browser).await;
    }
    block(&mut browser, &["*/api/*"]).await;
    browser.open(&switchboard.at("/?again")).await;
    stale(&mut browser).await;
    judged.look(&mut browser, "nothing was read yet").await;
    block(&mut browser, &[]).await;
    click(&mut browser, "#read-now").await;
    live(&mut browser).await;
    for (address, fault) in [
        ("#/events?after=no-cursor", "This cannot be shown"),
        ("#/events/evt_aaaaaaaaaaaaaaaaaaaaaaaaaa", "no such event"),
        ("#/nowhere", "There is no such view."),
    ] {
        let script = format!("location.hash = {}", json!(address));
        browser.evaluate(&script).await;
        reads(&mut browser, "main", fault).await;
        judged.look(&mut browser, address).await;
    }
    browser.close().await;
    judged.hold(views.len() + 4);
}

#[tokio::test]
async fn signing_in_can_be_done_by_everybody() {
    let switchboard = Switchboard::start(Start::sample().flag("--receivers=off")).await;
    let mut judged = Judged::default();
    let mut browser = Browser::start().await;
    browser.open(&switchboard.url).await;
    judged.look(&mut browser, "signing in").await;
    browser.open(&switchboard.at("/sign-in?code=used")).await;
    reads(&mut browser, "[role=alert]", "was used already").await;
    judged.look(&mut browser, "signing in by a used link").await;
    browser.close().await;
    judged.hold(2);
}

#[tokio::test]
async fn every_question_and_what_comes_of_it_can_be_used_by_everybody() {
    let (sink, switchboard, _) = story().await;
    let mut judged = Judged::default();
    let mut browser = signed_in(&switchboard).await;

    view(&mut browser, "#/endpoint").await;
    let url = json!(sink.url("/mine"));
    let script = format!("document.querySelector('#endpoint-url').value = {url}");
    browser.evaluate(&script).await;
    click(&mut browser, "form button.strong").await;
    reads(&mut browser, ".secret", "whsec_").await;
    reads(&mut browser, "#endpoint", "goes to").await;
    judged.look(&mut browser, "your endpoint is set").await;
    for (number, question) in [(2, "Rotate the secret?"), (3, "Clear your endpoint?")] {
        let pressed = format!("#endpoint ~ .buttons > button:nth-of-type({number})");
        click(&mut browser, &pressed).await;
        reads(&mut browser, "dialog", question).await;
        judged.look(&mut browser, question).await;
        click(&mut browser, "dialog button[type=button]").await;
    }

    view(&mut browser, "#/destinations").await;
    for (destination, outcome) in [
        ("accounting", "rejected, 403"),
        ("your-endpoint", "delivered, 200"),
    ] {
        let pressed = format!("[aria-label=\"Test delivery to {destination}\"]");
        click(&mut browser, &pressed).await;
        let place = format!("[data-destination={destination}]");
        reads(&mut browser, &place, outcome).await;
    }
    let script = "for (const of of document.querySelectorAll('details')) of.open = true";
    browser.evaluate(script).await;
    judged.look(&mut browser, "destinations, tested").await;

    view(&mut browser, "#/replay").await;
    let script = "document.querySelector('[name=sender_id]').value = '1'; \
        document.querySelector('form.search button.strong').click()";
    browser.evaluate(script).await;
    reads(&mut browser, "form.search ~ div", "would be made").await;
    judged.look(&mut browser, "a replay, counted").await;

    view(&mut browser, "#/failed").await;
    for (pressed, question) in [
        (
            "#groups + .buttons button.strong",
            "Redrive all dead letters",
        ),
        ("#groups tbody button", "Redrive accounting"),
    ] {
        click(&mut browser, pressed).await;
        reads(&mut browser, "dialog", question).await;
        judged.look(&mut browser, question).await;
        click(&mut browser, "dialog button[type=button]").await;
    }
    click(&mut browser, "#dead-letters tbody input").await;
    judged.look(&mut browser, "one is chosen").await;
    sink.answer(|_, _| StatusCode::OK);
    click(&mut browser, "#dead-letters tbody button").await;
    reads(&mut browser, "#running", "1 dead letter redriven").await;
    judged.look(&mut browser, "one is redriven").await;
    block(&mut browser, &["*/admin/*"]).await;
    click(&mut browser, "#dead-letters tbody button").await;
    reads(&mut browser, ".notice.bad", "not reachable").await;
    judged.look(&mut browser, "a redrive that failed").await;
    browser.close().await;
    judged.hold(10);
}

#[tokio::test]
async fn what_not_everybody_can_use_is_found() {
    let switchboard = Switchboard::start(Start::sample().flag("--receivers=off")).await;
    let mut browser = Browser::start().await;
    browser.open(&switchboard.url).await;
    let script = "document.querySelector('label').remove(); \
        document.querySelector('main').append(document.createElement('button'))";
    browser.evaluate(script).await;
    let mut judged = Judged::default();
    judged.look(&mut browser, "spoiled").await;
    browser.close().await;
    let found = judged.violations.join("\n");
    for (rule, times) in [("label: ", 4), ("button-name: ", 4)] {
        assert_eq!(found.matches(rule).count(), times, "{rule}: {found}");
    }
}
