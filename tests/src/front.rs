//! A front door: a loopback address that passes on what it is asked to another one, and through which somebody may hear what
//! goes by.

use std::net::{Ipv4Addr, SocketAddr};

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::response::{IntoResponse, Response};
use http::header::{CONNECTION, HOST};
use http::{HeaderValue, Request, StatusCode, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use url::Url;

/// Longest body that goes through: a queue gives ten messages of a mebibyte at once, and a gateway takes ten megabytes; what
/// JSON adds to them has room.
const MOST: usize = 16 * 1024 * 1024;

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

/// What stands behind a front door.
#[derive(Clone, Debug)]
pub struct Behind {
    client: Client<HttpConnector, Body>,
    address: SocketAddr,
}

impl Front {
    /// Opens one where every request goes through whole; only its host becomes another.
    pub async fn open(listen: SocketAddr, behind: SocketAddr, host: HeaderValue) -> Self {
        Self::serving(listen, behind, move |behind, mut request| {
            request.headers_mut().insert(HOST, host.clone());
            async move { behind.answer(request).await }
        })
        .await
    }

    /// Opens one anywhere where whoever hears a request says what it is answered.
    pub async fn heard<F>(
        behind: SocketAddr,
        hear: impl Fn(Behind, Request<Bytes>) -> F + Clone + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Response> + Send + 'static,
    {
        Self::serving((Ipv4Addr::LOCALHOST, 0).into(), behind, hear).await
    }

    async fn serving<F>(
        listen: SocketAddr,
        behind: SocketAddr,
        hear: impl Fn(Behind, Request<Bytes>) -> F + Clone + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Response> + Send + 'static,
    {
        let listener = match TcpListener::bind(listen).await {
            Ok(listener) => listener,
            Err(cause) => panic!("nobody can listen at {listen}: {cause}"),
        };
        let address = listener.local_addr().expect("an address");
        let behind = Behind {
            client: Client::builder(TokioExecutor::new()).build_http(),
            address: behind,
        };
        let whole = async move |request: Request<Body>| {
            let (parts, body) = request.into_parts();
            match to_bytes(body, MOST).await {
                Ok(body) => hear(behind, Request::from_parts(parts, body)).await,
                Err(_) => StatusCode::PAYLOAD_TOO_LARGE.into_response(),
            }
        };
        let router = Router::new().fallback(whole);
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
    /// Method, path, headers and body go through whole, and the answer comes back whole; `Err` says why there is none.
    pub async fn ask(&self, request: Request<Bytes>) -> Result<http::Response<Bytes>, String> {
        let mut request = request.map(Body::from);
        let path = request.uri().path_and_query();
        let path = path.map_or("/", |path| path.as_str());
        let uri: Uri = format!("http://{}{path}", self.address)
            .parse()
            .map_err(|_| format!("no address has the path {path}"))?;
        *request.uri_mut() = uri;
        // The connection is another one.
        request.headers_mut().remove(CONNECTION);
        let answer = self.client.request(request).await;
        let (parts, body) = answer.map_err(|cause| cause.to_string())?.into_parts();
        let body = to_bytes(Body::new(body), MOST).await;
        let body = body.map_err(|cause| cause.to_string())?;
        Ok(http::Response::from_parts(parts, body))
    }

    /// The same; where there is no answer, 502 with why.
    pub async fn answer(&self, request: Request<Bytes>) -> Response {
        match self.ask(request).await {
            Ok(answer) => answer.map(Body::from).into_response(),
            Err(why) => (StatusCode::BAD_GATEWAY, why).into_response(),
        }
    }
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, Method};
    use switchboard_web::client;

    use crate::sink::Sink;
    use crate::wait::DEADLINE;

    use super::*;

    #[tokio::test]
    async fn method_path_headers_and_body_go_through_whole_and_only_the_host_is_another() {
        let behind = Sink::start().await;
        behind.answer(|_, _| (StatusCode::IM_A_TEAPOT, [("x-own", "1")], "short and stout"));
        let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let host = HeaderValue::from_static("0a1b2c3d.execute-api.localhost");
        let front = Front::open(listen, behind.address(), host.clone()).await;
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
        for (name, value) in [
            ("host", host.to_str().expect("text")),
            ("x-signature", "a, b"),
            ("content-type", "application/json"),
            ("content-length", "12"),
        ] {
            assert_eq!(received.header(name), value, "{name}");
        }
        assert_eq!(received.headers.len(), 4, "{:?}", received.headers);
    }
}
