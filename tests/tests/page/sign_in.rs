//! Who sees the page: whoever the printed link or the admin token signs in, and nobody else.

use http::{HeaderMap, StatusCode};
use serde_json::json;
use switchboard_tests::browser::Browser;
use switchboard_tests::switchboard::{Start, Switchboard, TOKEN};

use crate::setting::{answered_to, click, cookie, live, signed_in};

async fn running() -> Switchboard {
    Switchboard::start(Start::sample().flag("--receivers=off")).await
}

/// Only the sign-in page is there: nothing of what the server holds, and no answer to a script that asks for it.
async fn sees_only_the_sign_in_page(browser: &mut Browser) {
    assert_eq!(
        browser.evaluate("document.title").await,
        "Switchboard: sign in"
    );
    let text = browser.text("body").await;
    assert!(text.contains("Admin token"), "{text}");
    for hidden in ["Totals", "shopify", "accounting", "/in/"] {
        assert!(!text.contains(hidden), "{hidden} is shown: {text}");
    }
    for path in ["/api/overview", "/api/events", "/api/routes", "/metrics"] {
        let status = browser
            .evaluate(&format!("fetch('{path}').then((answer) => answer.status)"))
            .await;
        assert_eq!(status, 401, "{path}");
    }
}

async fn submit(browser: &mut Browser, token: &str) {
    let script = format!(
        "document.querySelector('#token').value = {}; document.querySelector('form button').click()",
        json!(token)
    );
    browser.evaluate(&script).await;
}

#[tokio::test]
async fn the_printed_link_signs_in_once() {
    let switchboard = running().await;
    let mut browser = Browser::start().await;
    browser.open(&switchboard.url).await;
    sees_only_the_sign_in_page(&mut browser).await;
    browser.open(&switchboard.sign_in).await;
    live(&mut browser).await;
    assert_eq!(
        browser.evaluate("location.href").await,
        switchboard.url.as_str(),
        "the code does not stay in the address"
    );
    assert_eq!(
        browser
            .evaluate("document.querySelector('#never-applied').hidden")
            .await,
        true,
        "nothing is to be applied on one machine"
    );
    assert_eq!(
        browser.evaluate("document.cookie").await,
        "",
        "no script reads the cookie"
    );
    browser.open(&switchboard.url).await;
    live(&mut browser).await;
    browser
        .command("Network.clearBrowserCookies", &json!({}))
        .await;
    browser.open(&switchboard.sign_in).await;
    let line = browser.text("[role=alert]").await;
    assert_eq!(
        line,
        "This link was used already, or is of an earlier start."
    );
    sees_only_the_sign_in_page(&mut browser).await;
    browser.close().await;
}

#[tokio::test]
async fn the_admin_token_signs_in_and_another_text_does_not() {
    let switchboard = running().await;
    let mut browser = Browser::start().await;
    browser.open(&switchboard.url).await;
    submit(&mut browser, "not-the-admin-token").await;
    let script =
        "document.querySelector('[role=alert]')?.textContent === 'This is not the admin token.'";
    browser.wait("the wrong token is told", script).await;
    sees_only_the_sign_in_page(&mut browser).await;
    browser
        .evaluate("location.hash = '#/events?source=shop'")
        .await;
    submit(&mut browser, TOKEN).await;
    live(&mut browser).await;
    assert_eq!(
        browser.evaluate("location.hash").await,
        "#/events?source=shop",
        "signing in leads to the view that the address names"
    );
    browser
        .evaluate("document.querySelector('header form button').click()")
        .await;
    browser
        .wait(
            "it is signed out",
            "document.title === 'Switchboard: sign in'",
        )
        .await;
    browser.open(&switchboard.url).await;
    sees_only_the_sign_in_page(&mut browser).await;
    browser.close().await;
}

/// What the API answers to a cookie.
async fn answered(switchboard: &Switchboard, cookie: &HeaderMap) -> StatusCode {
    answered_to(&switchboard.url, cookie).await
}

#[tokio::test]
async fn whoever_signed_out_is_signed_out_whoever_has_the_cookie_and_over_a_restart() {
    let switchboard = running().await;
    let mut other = Browser::start().await;
    other.open(&switchboard.url).await;
    submit(&mut other, TOKEN).await;
    live(&mut other).await;
    let others = cookie(&mut other).await;
    other.close().await;
    let mut browser = signed_in(&switchboard).await;
    let mine = cookie(&mut browser).await;
    assert_eq!(answered(&switchboard, &mine).await, StatusCode::OK);
    click(&mut browser, "header form button").await;
    let script = "document.title === 'Switchboard: sign in'";
    browser.wait("it is signed out", script).await;
    assert_eq!(
        answered(&switchboard, &mine).await,
        StatusCode::UNAUTHORIZED
    );
    assert_eq!(answered(&switchboard, &others).await, StatusCode::OK);
    browser.close().await;
    let (ended, folder) = switchboard.stop().await;
    assert!(ended.success(), "{ended}");
    let start = Start::sample().flag("--receivers=off");
    let switchboard = Switchboard::start_in(folder, start).await;
    assert_eq!(
        answered(&switchboard, &mine).await,
        StatusCode::UNAUTHORIZED
    );
    assert_eq!(answered(&switchboard, &others).await, StatusCode::OK);
}

#[tokio::test]
async fn a_cookie_is_not_enough_to_change_anything() {
    let switchboard = running().await;
    let mut browser = signed_in(&switchboard).await;
    for (method, path) in [
        ("POST", "/admin/redrive"),
        ("POST", "/admin/hold"),
        ("DELETE", "/admin/endpoint"),
    ] {
        let script = format!(
            "fetch('{path}', {{ method: '{method}', headers: {{ 'content-type': 'application/json' }} }})\
             .then((answer) => answer.status)"
        );
        assert_eq!(browser.evaluate(&script).await, 403, "{method} {path}");
    }
    browser.close().await;
}
