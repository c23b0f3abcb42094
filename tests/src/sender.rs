//! Senders that sign as the real ones do.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use serde_json::Value;
use switchboard_core::scheme::{Draft, Scheme};
use switchboard_core::secret::Secret;
use switchboard_core::time::Timestamp;
use switchboard_web::client;
use url::Url;

use crate::wait::DEADLINE;

/// A sender of one source.
#[derive(Clone, Debug)]
pub struct Sender {
    url: Url,
    scheme: &'static Scheme,
    secret: Secret,
}

/// What a sender was answered.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The status.
    pub status: StatusCode,
    /// The body, as JSON.
    pub body: Value,
}

impl Answer {
    /// The event's id in it.
    pub fn event(&self) -> String {
        self.body["event"]
            .as_str()
            .expect("an event's id")
            .to_owned()
    }
}

/// The present, in real time: signed times are judged against the machine's clock.
#[expect(
    clippy::disallowed_methods,
    reason = "the real binary judges signed times by the real clock"
)]
pub fn now() -> Timestamp {
    let since = std::time::SystemTime::now()
        .duration_since(std::time::SystemTime::UNIX_EPOCH)
        .expect("after 1970");
    Timestamp::from_millis(i64::try_from(since.as_millis()).expect("a time"))
}

impl Sender {
    /// A sender that posts to `url` and signs by `scheme` with `secret`.
    pub fn new(url: Url, scheme: &str, secret: &str) -> Self {
        let scheme = Scheme::named(scheme).expect("a scheme");
        Self {
            url,
            scheme,
            secret: Secret::new(secret).expect("a secret"),
        }
    }

    /// The headers of a rightly signed request.
    pub fn headers(&self, id: &str, kind: &str, body: &[u8]) -> HeaderMap {
        let key = (self.scheme.key)(&self.secret).expect("a key");
        let mut headers = HeaderMap::new();
        headers.insert(
            http::header::CONTENT_TYPE,
            HeaderValue::from_static("application/json"),
        );
        for (name, value) in (self.scheme.sign)(
            &key,
            &Draft {
                id,
                kind,
                now: now(),
                body,
            },
        ) {
            headers.insert(
                HeaderName::from_static(name),
                HeaderValue::from_str(&value).expect("a value"),
            );
        }
        headers
    }

    /// Posts a rightly signed event.
    pub async fn send(&self, id: &str, kind: &str, body: impl Into<Bytes>) -> Answer {
        let body = body.into();
        let headers = self.headers(id, kind, &body);
        self.post(headers, body).await
    }

    /// Posts whatever is given.
    pub async fn post(&self, headers: HeaderMap, body: impl Into<Bytes>) -> Answer {
        self.tried(headers, body).await.expect("an answer")
    }

    /// Posts whatever is given to a Switchboard that may die meanwhile; `None` without an answer.
    pub async fn tried(&self, headers: HeaderMap, body: impl Into<Bytes>) -> Option<Answer> {
        let (status, body) =
            client::request(Method::POST, &self.url, headers, body.into(), DEADLINE)
                .await
                .ok()?;
        Some(Answer {
            status,
            body: serde_json::from_slice(&body).unwrap_or_default(),
        })
    }
}
