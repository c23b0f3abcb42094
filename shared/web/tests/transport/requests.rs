//! What arrives at a destination, byte for byte.

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use switchboard_core::forward::KeptHeaders;
use switchboard_core::ports::{Outgoing, Transport};

use crate::destination::{Destination, Seen};
use crate::{Setting, answered, soon, to};

/// What the destination sees of these headers and this body.
async fn seen(headers: HeaderMap, body: &'static [u8]) -> (Seen, u16) {
    let mut destination =
        Destination::answering("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
    let request = Outgoing {
        headers,
        body: Bytes::from_static(body),
        ..to(&destination.url("http", "hooks.test"))
    };
    let outcome = soon(Setting::default().transport().post(request)).await;
    assert_eq!(answered(&outcome), (200, ""));
    (destination.next().await, destination.at.port())
}

#[tokio::test]
async fn nothing_of_the_senders_connection_arrives_and_host_and_length_are_the_destinations() {
    let came: HeaderMap = [
        ("connection", "x-foo, keep-alive"),
        ("keep-alive", "timeout=5"),
        ("te", "trailers"),
        ("trailer", "x-sum"),
        ("transfer-encoding", "chunked"),
        ("upgrade", "h2c"),
        ("expect", "100-continue"),
        ("host", "in.example"),
        ("content-length", "999"),
        ("x-foo", "1"),
        ("x-bar", "2"),
    ]
    .into_iter()
    .map(|(n, v)| (HeaderName::from_static(n), HeaderValue::from_static(v)))
    .collect();
    let kept = KeptHeaders::of(&came)
        .iter()
        .map(|(n, v)| (n.clone(), v.clone()))
        .collect();
    let (seen, port) = seen(kept, b"12345").await;
    assert!(seen.head.starts_with("POST /hook HTTP/1.1\r\n"));
    for gone in [
        "connection",
        "keep-alive",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "expect",
        "x-foo",
    ] {
        assert!(seen.values(gone).is_empty(), "{gone}: {}", seen.head);
    }
    assert_eq!(seen.values("x-bar"), ["2"]);
    assert_eq!(seen.values("host"), [format!("hooks.test:{port}")]);
    assert_eq!(seen.values("content-length"), ["5"]);
}

#[tokio::test]
async fn an_empty_body_says_so() {
    let (seen, _) = seen(HeaderMap::new(), b"").await;
    assert_eq!(seen.values("content-length"), ["0"]);
    assert!(seen.body.is_empty());
}

#[tokio::test]
async fn body_and_content_type_arrive_as_they_were_sent() {
    let body = "{\"größe\":\"\u{2028}\u{feff}🙂\"}\0\r\n".as_bytes();
    for content_type in [
        Some("application/json; charset=utf-8"),
        Some("application/vnd.x+json"),
        None,
    ] {
        let headers = content_type
            .map(|value| (CONTENT_TYPE, HeaderValue::from_static(value)))
            .into_iter()
            .collect();
        let (seen, _) = seen(headers, body).await;
        assert_eq!(
            seen.values("content-type"),
            content_type.into_iter().collect::<Vec<_>>()
        );
        assert_eq!(seen.body, body);
    }
}

#[tokio::test]
async fn the_senders_user_agent_goes_on_and_ours_stands_in_where_there_is_none() {
    let theirs = HeaderMap::from_iter([(USER_AGENT, HeaderValue::from_static("Shop/1"))]);
    let (with, _) = seen(theirs, b"").await;
    assert_eq!(with.values("user-agent"), ["Shop/1"]);
    let (without, _) = seen(HeaderMap::new(), b"").await;
    let own = format!("Switchboard/{}", env!("CARGO_PKG_VERSION"));
    assert_eq!(without.values("user-agent"), [own]);
}

#[tokio::test]
async fn a_destination_that_answers_without_reading_the_body_is_heard() {
    let destination = Destination::start(|mut connection| async move {
        connection.head().await?;
        connection
            .say("HTTP/1.1 413 Too Large\r\ncontent-length: 4\r\n\r\nlong")
            .await?;
        connection.closed().await;
        Some(())
    })
    .await;
    let request = Outgoing {
        body: Bytes::from(vec![b'x'; 6 * 1024 * 1024]),
        ..to(&destination.url("http", "127.0.0.1"))
    };
    let outcome = soon(Setting::default().transport().post(request)).await;
    assert_eq!(answered(&outcome), (413, "long"));
}
