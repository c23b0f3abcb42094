//! `receivers`: the sample receivers without a Switchboard, and a Switchboard without them.

use std::time::Duration;

use http::{HeaderMap, Method, StatusCode};
use serde_json::json;
use switchboard_tests::receivers::{self, Receivers};
use switchboard_tests::run::Run;
use switchboard_tests::setting::{self, sender};
use switchboard_tests::sink::Sink;
use switchboard_tests::switchboard::{Start, Switchboard};
use switchboard_tests::wait::{self, DEADLINE};
use switchboard_web::client;

#[tokio::test]
async fn alone_they_keep_books_for_a_switchboard_of_any_configuration() {
    let receivers = Receivers::start().await;
    let sink = Sink::start().await;
    let text = setting::configuration(&sink).replace(&sink.url("/"), receivers.url.as_str());
    let switchboard = Switchboard::start(setting::start(&text)).await;
    let shop = sender(&switchboard, "shop");
    for id in ["1", "1", "2"] {
        shop.send(id, "some/kind", "{}").await;
    }
    switchboard.wait_total("delivered", 2).await;
    let books = receivers::books(&receivers.url).await;
    assert_eq!(books["accounting"]["applied"], 2, "{books}");
    assert_eq!(books["warehouse"]["applied"], 0, "{books}");
    let page = receivers::page(&receivers.url).await;
    assert!(page.contains("Accounting"), "{page}");
}

#[tokio::test]
async fn each_mode_makes_a_receiver_behave_as_it_says() {
    let receivers = Receivers::start().await;
    // Well under a second where no mode is slow, three where it is.
    let post = async |receiver: &str, key: &str, limit: Duration| {
        let url = receivers.url.join(receiver).expect("an address");
        let mut headers = HeaderMap::new();
        headers.insert("idempotency-key", key.parse().expect("a value"));
        client::request(Method::POST, &url, headers, bytes::Bytes::new(), limit).await
    };
    receivers::switch(&receivers.url, "chat", "fail").await;
    let (status, _) = post("chat", "one", DEADLINE).await.expect("an answer");
    assert_eq!(status, StatusCode::INTERNAL_SERVER_ERROR);
    receivers::switch(&receivers.url, "chat", "down").await;
    let closed = post("chat", "one", DEADLINE)
        .await
        .expect_err("closed without an answer");
    assert!(!closed.to_string().contains("in time"), "{closed}");
    receivers::switch(&receivers.url, "chat", "late").await;
    let late = post("chat", "one", Duration::from_millis(2500)).await;
    assert!(late.is_err(), "too late: {late:?}");
    wait::until("it is applied all the same", async || {
        (receivers::books(&receivers.url).await["chat"]["applied"] == 1).then_some(())
    })
    .await;
    receivers::switch(&receivers.url, "chat", "slow").await;
    let (status, _) = post("chat", "two", DEADLINE).await.expect("an answer");
    assert_eq!(status, StatusCode::OK);
    receivers::switch(&receivers.url, "chat", "ok").await;
    let (status, _) = post("chat", "one", DEADLINE).await.expect("an answer");
    assert_eq!(status, StatusCode::OK, "the late one again is answered");
    let chat = receivers::books(&receivers.url).await["chat"].clone();
    assert_eq!(
        (&chat["applied"], &chat["answered_again"]),
        (&json!(2), &json!(1)),
        "{chat}"
    );
}

#[tokio::test]
async fn the_sample_without_receivers_needs_nothing_else() {
    let switchboard = Switchboard::start(Start::sample().flag("--receivers=off")).await;
    assert_eq!(switchboard.receivers, None);
    let (code, printed) = switchboard.run(&["send", "shop", "orders/create"]).await;
    assert_eq!(code, 0, "{printed}");
    let overview = switchboard.get("/api/overview").await;
    assert_eq!(overview["totals"]["stored"], 1);
    assert_eq!(
        overview["your_endpoint"]["set"], false,
        "there is no stand-in to send copies to"
    );
    let (status, _) = switchboard.ask(Method::GET, "/healthz", None).await;
    assert_eq!(status, StatusCode::OK);
    let (ended, _) = switchboard.stop().await;
    assert_eq!(ended.code(), Some(0));
}

#[tokio::test]
async fn a_port_that_is_taken_ends_with_1_and_one_line() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    let folder = tempfile::tempdir().expect("a folder");
    let ended = Run::of(folder.path(), &["receivers", "--listen", &address])
        .ended()
        .await;
    assert_eq!((ended.code, ended.lines().len()), (1, 1), "{ended:?}");
    assert!(ended.err.contains(&address), "{}", ended.err);
}
