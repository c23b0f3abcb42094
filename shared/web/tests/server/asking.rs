//! The command line's client, asking a server.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use switchboard_web::client::{ClientFault, request};
use switchboard_web::server::ServerLimits;
use tokio::net::TcpListener;
use url::Url;

use crate::sender::LONG;
use crate::{SHORT, Server};

async fn ask(url: &str, limit: Duration) -> Result<(StatusCode, Bytes), ClientFault> {
    let url = Url::parse(url).expect("a URL");
    let headers = HeaderMap::from_iter([(
        HeaderName::from_static("x-token"),
        HeaderValue::from_static("t"),
    )]);
    request(Method::GET, &url, headers, Bytes::new(), limit).await
}

#[tokio::test]
async fn an_answer_of_any_status_is_given_whole() {
    let server = Server::start(ServerLimits::default()).await;
    let (status, body) = ask(&format!("http://{}/quick?x=1", server.at), LONG)
        .await
        .expect("an answer");
    assert_eq!((status, &*body), (StatusCode::OK, b"quick".as_slice()));
    let (status, _) = ask(&format!("http://{}/nothing", server.at), LONG)
        .await
        .expect("an answer");
    assert_eq!(status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn what_goes_wrong_is_said_in_a_line_that_shows_neither_path_nor_query() {
    let server = Server::start(ServerLimits::default()).await;
    let at = server.at;
    let free = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let nobody = free.local_addr().expect("an address");
    drop(free);
    for (url, limit, line) in [
        (
            format!("http://{nobody}/admin?token=t"),
            LONG,
            format!("no connection to http://{nobody}: is it running?"),
        ),
        (
            format!("https://{at}/admin?token=t"),
            LONG,
            format!(
                "no connection to https://{at}: its certificate or its TLS handshake is not right"
            ),
        ),
        (
            format!("http://{at}/slow"),
            SHORT,
            format!("no answer from http://{at} in time"),
        ),
        (
            format!("http://{at}/long"),
            LONG,
            format!("the answer from http://{at} is too long"),
        ),
        (
            format!("http://{at}/panic"),
            LONG,
            format!("no readable answer from http://{at}"),
        ),
    ] {
        let fault = ask(&url, limit).await.expect_err(&url);
        assert_eq!(fault.to_string(), line);
    }
}
