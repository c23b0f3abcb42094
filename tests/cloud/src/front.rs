//! A front door for a deployed API: one loopback address that anybody can ask. The emulator knows an API by its host name
//! only, which browsers and senders would have to be told.

use std::net::SocketAddr;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use url::Url;

/// An open front door. It closes when this is dropped.
#[derive(Debug)]
pub struct Front {
    /// Its address.
    pub url: Url,
    served: JoinHandle<()>,
}

impl Drop for Front {
    fn drop(&mut self) {
        self.served.abort();
    }
}

#[derive(Clone)]
struct Behind {
    client: Client<HttpConnector, Body>,
    emulator: SocketAddr,
    host: HeaderValue,
}

impl Front {
    /// Opens one at `listen` for an API of the emulator.
    pub async fn open(listen: SocketAddr, emulator: SocketAddr, api: &str) -> Self {
        let host = format!("{api}.execute-api.localhost:{}", emulator.port());
        let behind = Behind {
            client: Client::builder(TokioExecutor::new()).build_http(),
            emulator,
            host: HeaderValue::from_str(&host).expect("a host"),
        };
        let listener = match TcpListener::bind(listen).await {
            Ok(listener) => listener,
            Err(cause) => panic!("nobody can listen at {listen}: {cause}"),
        };
        let address = listener.local_addr().expect("an address");
        let router = Router::new().fallback(pass_on).with_state(behind);
        let served = tokio::spawn(async move {
            let _ = axum::serve(listener, router).await;
        });
        Self {
            url: format!("http://{address}/").parse().expect("an address"),
            served,
        }
    }
}

/// Method, path, headers and body go through whole; only the host is another.
async fn pass_on(State(behind): State<Behind>, mut request: Request) -> Response {
    let path = request
        .uri()
        .path_and_query()
        .map_or("/", |path| path.as_str());
    let uri: Result<Uri, _> = format!("http://{}{path}", behind.emulator).parse();
    match uri {
        Ok(uri) => *request.uri_mut() = uri,
        Err(_) => return StatusCode::BAD_REQUEST.into_response(),
    }
    let headers = request.headers_mut();
    headers.insert(http::header::HOST, behind.host);
    headers.remove(http::header::CONNECTION);
    match behind.client.request(request).await {
        Ok(answer) => answer.map(Body::new),
        Err(cause) => (StatusCode::BAD_GATEWAY, cause.to_string()).into_response(),
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use http::{HeaderMap, Method};
    use switchboard_tests::sink::Sink;
    use switchboard_tests::wait::DEADLINE;
    use switchboard_web::client;

    use super::*;

    #[tokio::test]
    async fn method_path_headers_and_body_go_through_whole_and_only_the_host_is_another() {
        let behind = Sink::start().await;
        behind.answer(|_, _| (StatusCode::IM_A_TEAPOT, [("x-own", "1")], "short and stout"));
        let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let front = Front::open(listen, behind.address(), "0a1b2c3d").await;
        let url = front.url.join("/in/shop%2Fa?b=%20c&d").expect("an address");
        let mut headers = HeaderMap::new();
        headers.insert("x-signature", HeaderValue::from_static("a, b"));
        headers.insert("content-type", HeaderValue::from_static("application/json"));
        let body = &b"{\"a\": 1}\r\n\xff\x00"[..];
        let (status, answer) = client::request(Method::PATCH, &url, headers, body.into(), DEADLINE)
            .await
            .expect("an answer");
        assert_eq!(status, StatusCode::IM_A_TEAPOT);
        assert_eq!(answer, "short and stout");
        let received = behind.wait_for(1).await.remove(0);
        assert_eq!(received.path, "/in/shop%2Fa");
        assert_eq!(received.body, body);
        let port = behind.address().port();
        let host = format!("0a1b2c3d.execute-api.localhost:{port}");
        for (name, value) in [
            ("host", host.as_str()),
            ("x-signature", "a, b"),
            ("content-type", "application/json"),
            ("content-length", "12"),
        ] {
            assert_eq!(received.header(name), value, "{name}");
        }
        assert_eq!(received.headers.len(), 4, "{:?}", received.headers);
    }
}
