//! What the page and its API never show: secrets, tokens, and what stands in an address behind its host.

use http::{HeaderMap, Method, StatusCode};
use serde_json::json;
use switchboard_tests::setting::{SOURCES, configuration, sender, start};
use switchboard_tests::sink::Sink;
use switchboard_tests::switchboard::{Switchboard, TOKEN};
use switchboard_tests::wait::DEADLINE;
use switchboard_web::client;

use crate::setting::{signed_in, view};

#[tokio::test]
async fn no_secret_and_no_query_of_an_address_is_shown_anywhere() {
    let sink = Sink::start().await;
    sink.answer(|_, _| StatusCode::BAD_GATEWAY);
    let text = configuration(&sink).replace(
        &format!("{}\"\n", sink.url("/accounting")),
        &format!(
            "{}\"\nheaders = {{ authorization = \"env:HEADER\" }}\n",
            sink.url("/accounting/P4TH?key=QU3RY")
        ),
    );
    let header = "Bearer the-secret-of-accounting";
    let switchboard = Switchboard::start(start(&text).set("HEADER", header)).await;
    let set = json!({ "url": sink.url("/mine/T0KEN?key=S3CRET") });
    let (_, answer) = switchboard
        .ask(Method::PUT, "/admin/endpoint", Some(set))
        .await;
    let endpoint = answer["secret"].as_str().expect("its secret").to_owned();
    let event = sender(&switchboard, "shop")
        .send("1", "orders/create", "{}")
        .await
        .event();
    switchboard.wait_total("dead", 2).await;
    let mut browser = signed_in(&switchboard).await;
    let mut shown = Vec::new();
    for address in [
        "#/",
        "#/events",
        &format!("#/events/{event}"),
        "#/failed",
        "#/refused",
        "#/replay",
        "#/destinations",
        "#/endpoint",
        "#/sources",
    ] {
        view(&mut browser, address).await;
        let page = browser.evaluate("document.documentElement.outerHTML").await;
        shown.push((format!("the view {address}"), page.to_string()));
    }
    browser.close().await;
    let one = format!("/api/events/{event}");
    for path in [
        "/api/overview",
        "/api/events",
        &one,
        "/api/dead-letters",
        "/api/refusals",
        "/api/routes",
        "/metrics",
    ] {
        let mut headers = HeaderMap::new();
        headers.insert(
            "authorization",
            format!("Bearer {TOKEN}").parse().expect("a value"),
        );
        let url = switchboard.at(path);
        let (status, body) =
            client::request(Method::GET, &url, headers, bytes::Bytes::new(), DEADLINE)
                .await
                .expect("an answer");
        assert_eq!(status, StatusCode::OK, "{path}");
        shown.push((path.to_owned(), String::from_utf8_lossy(&body).into_owned()));
    }
    let mut hidden = vec![
        "P4TH",
        "QU3RY",
        "T0KEN",
        "S3CRET",
        "the-secret-of-accounting",
        TOKEN,
        &endpoint,
    ];
    hidden.extend(SOURCES.map(|(.., secret)| secret));
    for (place, text) in shown {
        for hidden in &hidden {
            assert!(!text.contains(hidden), "{hidden} is in {place}: {text}");
        }
    }
}
