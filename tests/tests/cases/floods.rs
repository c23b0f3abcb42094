//! Floods of events and of forged requests: totals stay exact, lists are bounded or say that there is more.

use http::StatusCode;
use switchboard_tests::setting::sender;
use switchboard_tests::sink::Sink;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;
use url::Url;

use crate::setting::{LONG, pausing, post, wait_total};

/// Sends `count` requests without a signature down one connection, and reads how many were answered 401.
async fn unsigned(url: &Url, count: usize) -> usize {
    let host = url.host_str().expect("a host");
    let port = url.port().expect("a port");
    let one = "POST /in/shop HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n\r\n{}";
    let stream = TcpStream::connect((host, port))
        .await
        .expect("a connection");
    let (mut reading, mut writing) = stream.into_split();
    let write = async {
        for _ in 0..count {
            writing.write_all(one.as_bytes()).await.expect("it reads");
        }
        // Nothing more comes: it closes behind the last answer.
        writing.shutdown().await.expect("it reads");
    };
    let read = async {
        let mut answers = Vec::new();
        reading.read_to_end(&mut answers).await.expect("it answers");
        let answers = String::from_utf8_lossy(&answers).into_owned();
        answers.matches("HTTP/1.1 401 ").count()
    };
    timeout(LONG, async { tokio::join!(write, read).1 })
        .await
        .expect("in time")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn totals_stay_exact_and_lists_say_how_much_more_there_is() {
    let sink = Sink::start().await;
    sink.answer(|received, _| {
        if received.path == "/warehouse" {
            StatusCode::FORBIDDEN
        } else {
            StatusCode::OK
        }
    });
    let switchboard = pausing(&sink, "[]").await;
    let shop = sender(&switchboard, "shop");
    let body = format!("{{\"x\":\"{}\"}}", "x".repeat(1992));
    assert_eq!(body.len(), 2000);
    // Of the five thousand, five hundred go to warehouse too, which rejects them.
    post(&shop, "other", 0, 4500, body.clone()).await;
    post(&shop, "orders/create", 0, 500, body).await;
    assert_eq!(unsigned(&switchboard.url, 3000).await, 3000);
    wait_total(&switchboard, "dead", 500).await;
    wait_total(&switchboard, "delivered", 5000).await;
    wait_total(&switchboard, "refused", 3000).await;
    let totals = switchboard.get("/api/overview").await["totals"].clone();
    for (name, value) in [
        ("received", 5000),
        ("stored", 5000),
        ("repeats", 0),
        ("waiting", 0),
        ("held", 0),
    ] {
        assert_eq!(totals[name], value, "{name}: {totals}");
    }
    for (list, count) in [("events", 5000), ("dead-letters", 500)] {
        let first = switchboard.get(&format!("/api/{list}")).await;
        assert_eq!(first["items"].as_array().map(Vec::len), Some(50), "{list}");
        assert!(first["next"].is_string(), "{list} tells that there is more");
        assert_eq!(
            switchboard.list(&format!("/api/{list}")).await.len(),
            count,
            "{list}"
        );
    }
    let listed = switchboard.list("/api/refusals").await.len();
    assert!((1..=1000).contains(&listed), "{listed} refusals are listed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_of_unsigned_requests_is_counted_whole_listed_in_bounds_and_stops_no_event() {
    const FLOOD: usize = 100_000;
    const AT_ONCE: usize = 10;
    let sink = Sink::start().await;
    let switchboard = pausing(&sink, "[]").await;
    let mut flood = JoinSet::new();
    for _ in 0..AT_ONCE {
        let url = switchboard.url.clone();
        flood.spawn(async move { unsigned(&url, FLOOD / AT_ONCE).await });
    }
    // Meanwhile events are accepted and delivered; each within the client's own deadline.
    let shop = sender(&switchboard, "shop");
    let mut accepted = 0;
    while flood.try_join_next().is_none() {
        let answer = shop.send(&accepted.to_string(), "other", "{}").await;
        assert_eq!(
            answer.status,
            StatusCode::OK,
            "event {accepted} during the flood"
        );
        accepted += 1;
    }
    let answered: usize = flood.join_all().await.into_iter().sum();
    assert_eq!(
        answered,
        FLOOD / AT_ONCE * (AT_ONCE - 1),
        "each is answered 401"
    );
    assert!(accepted > 0);
    wait_total(&switchboard, "refused", FLOOD as u64).await;
    wait_total(&switchboard, "delivered", accepted).await;
    let listed = switchboard.list("/api/refusals").await.len();
    assert!((1..=1000).contains(&listed), "{listed} refusals are listed");
    let store =
        std::fs::metadata(switchboard.folder().join("data/switchboard.sqlite")).expect("a store");
    assert!(
        store.len() < 8 * 1024 * 1024,
        "the store has {} bytes",
        store.len()
    );
}
