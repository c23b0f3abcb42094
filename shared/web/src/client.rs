//! A small client for the command line: one request to a Switchboard of the operator's own, so without the address
//! guard, and never to wherever a redirect points.

use std::error::Error;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method, Request, StatusCode, Uri};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use url::Url;

use crate::transport::tls;

/// Longest answer that is read, in bytes.
pub const LONGEST_ANSWER: usize = 16 * 1024 * 1024;

/// Why there is no answer. The address in it is scheme, host and port only.
#[derive(Debug, thiserror::Error)]
pub enum ClientFault {
    /// Nobody listens there, or the name does not resolve.
    #[error("no connection to {0}: is it running?")]
    NoConnection(String),
    /// Whoever listens there does not speak TLS, or cannot prove who it is.
    #[error("no connection to {0}: its certificate or its TLS handshake is not right")]
    Tls(String),
    /// It took too long.
    #[error("no answer from {0} in time")]
    TimeLimit(String),
    /// The connection broke, or what came is not HTTP.
    #[error("no readable answer from {0}")]
    Broken(String),
    /// Over [`LONGEST_ANSWER`].
    #[error("the answer from {0} is too long")]
    TooLong(String),
    /// Not an address that can be asked.
    #[error("{0} is not an http or https address")]
    Address(String),
}

/// Makes one request and reads its answer whole, all within `time_limit`.
pub async fn request(
    method: Method,
    url: &Url,
    headers: HeaderMap,
    body: Bytes,
    time_limit: Duration,
) -> Result<(StatusCode, Bytes), ClientFault> {
    let place = url.origin().ascii_serialization();
    match tokio::time::timeout(time_limit, answered(method, url, headers, body, &place)).await {
        Ok(answered) => answered,
        Err(_) => Err(ClientFault::TimeLimit(place)),
    }
}

async fn answered(
    method: Method,
    url: &Url,
    headers: HeaderMap,
    body: Bytes,
    place: &str,
) -> Result<(StatusCode, Bytes), ClientFault> {
    let unusable = || ClientFault::Address(place.to_owned());
    let uri: Uri = url.as_str().parse().map_err(|_| unusable())?;
    let mut request = Request::new(Full::new(body));
    *request.method_mut() = method;
    *request.uri_mut() = uri;
    *request.headers_mut() = headers;
    let mut connector = HttpConnector::new();
    connector.enforce_http(false);
    let https = hyper_rustls::HttpsConnectorBuilder::new()
        .with_tls_config(tls::config(None).map_err(|_| unusable())?)
        .https_or_http()
        .enable_http1()
        .wrap_connector(connector);
    let client: Client<_, Full<Bytes>> = Client::builder(TokioExecutor::new())
        .timer(TokioTimer::new())
        .build(https);
    let answer = client.request(request).await.map_err(|error| {
        if chain(&error).any(tls::is_fault) {
            ClientFault::Tls(place.to_owned())
        } else if error.is_connect() {
            ClientFault::NoConnection(place.to_owned())
        } else {
            ClientFault::Broken(place.to_owned())
        }
    })?;
    let status = answer.status();
    let body = Limited::new(answer.into_body(), LONGEST_ANSWER);
    let body = body.collect().await.map_err(|error| {
        if chain(&*error).any(<dyn Error>::is::<LengthLimitError>) {
            ClientFault::TooLong(place.to_owned())
        } else {
            ClientFault::Broken(place.to_owned())
        }
    })?;
    Ok((status, body.to_bytes()))
}

/// An error and what caused it.
fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |cause| (*cause).source())
}
