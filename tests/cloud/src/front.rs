//! A front door for a deployed API: one loopback address that anybody can ask. The emulator knows an API by its host name
//! only, which browsers and senders would have to be told.

use std::net::{Ipv4Addr, SocketAddr};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, StatusCode, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use url::Url;

/// Longest body that is heard; a queue takes a mebibyte.
const MOST: usize = 8 * 1024 * 1024;

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
    /// The host that is set; without one it stays as it came.
    host: Option<HeaderValue>,
}

impl Front {
    /// Opens one at `listen` for an API of the emulator.
    pub async fn open(listen: SocketAddr, emulator: SocketAddr, api: &str) -> Self {
        let host = format!("{api}.execute-api.localhost:{}", emulator.port());
        let host = HeaderValue::from_str(&host).expect("a host");
        let router = Router::new()
            .fallback(pass_on)
            .with_state(Behind::of(emulator, Some(host)));
        Self::serving(listen, router).await
    }

    /// Opens one for the emulator itself, where everything that comes is heard on its way.
    pub async fn heard(
        emulator: SocketAddr,
        note: impl Fn(&HeaderMap, &[u8]) + Clone + Send + Sync + 'static,
    ) -> Self {
        let heard = async move |State(behind): State<Behind>, request: Request| {
            let (parts, body) = request.into_parts();
            let Ok(body) = axum::body::to_bytes(body, MOST).await else {
                return StatusCode::PAYLOAD_TOO_LARGE.into_response();
            };
            note(&parts.headers, &body);
            pass_on(State(behind), Request::from_parts(parts, body.into())).await
        };
        let router = Router::new()
            .fallback(heard)
            .with_state(Behind::of(emulator, None));
        Self::serving(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), router).await
    }

    async fn serving(listen: SocketAddr, router: Router) -> Self {
        let listener = match TcpListener::bind(listen).await {
            Ok(listener) => listener,
            Err(cause) => panic!("nobody can listen at {listen}: {cause}"),
        };
        let address = listener.local_addr().expect("an address");
        let served = tokio::spawn(async move {
            let _ = axum::serve(listener, router).await;
        });
        Self {
            url: format!("http://{address}/").parse().expect("an address"),
            served,
        }
    }
}

impl Behind {
    fn of(emulator: SocketAddr, host: Option<HeaderValue>) -> Self {
        Self {
            client: Client::builder(TokioExecutor::new()).build_http(),
            emulator,
            host,
        }
    }
}

/// Method, path, headers and body go through whole; only the host may be another.
async fn pass_on(State(behind): State<Behind>, mut request: Request) -> Response {
    let path = request.uri().path_and_query();
    let path = path.map_or("/", |path| path.as_str());
    let uri: Result<Uri, _> = format!("http://{}{path}", behind.emulator).parse();
    match uri {
        Ok(uri) => *request.uri_mut() = uri,
        Err(_) => return StatusCode::BAD_REQUEST.into_response(),
    }
    let headers = request.headers_mut();
    if let Some(host) = behind.host {
        headers.insert(http::header::HOST, host);
    }
    headers.remove(http::header::CONNECTION);
    match behind.client.request(request).await {
        Ok(answer) => answer.map(Body::new),
        Err(cause) => (StatusCode::BAD_GATEWAY, cause.to_string()).into_response(),
    }
}

#[cfg(test)]
mod tests {
    use http::Method;
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
