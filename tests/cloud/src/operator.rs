//! An operator of a deployed Switchboard: asks it over HTTP with the admin token.

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use serde_json::{Value, json};
use switchboard_tests::wait::DEADLINE;
use switchboard_web::client;
use tokio::time::timeout;
use url::Url;

/// Somebody with the admin token.
#[derive(Clone, Debug)]
pub struct Operator {
    url: Url,
    token: String,
}

impl Operator {
    /// Of the Switchboard at this address.
    pub const fn of(url: Url, token: String) -> Self {
        Self { url, token }
    }

    /// The admin token.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// An address on it.
    pub fn at(&self, path: &str) -> Url {
        self.url.join(path).expect("an address")
    }

    /// Asks it something.
    pub async fn ask(
        &self,
        method: Method,
        path: &str,
        body: Option<Value>,
    ) -> (StatusCode, Value) {
        let mut headers = HeaderMap::new();
        let bearer = HeaderValue::from_str(&format!("Bearer {}", self.token));
        headers.insert(http::header::AUTHORIZATION, bearer.expect("a value"));
        headers.insert(
            http::header::CONTENT_TYPE,
            HeaderValue::from_static("application/json"),
        );
        let body = body.map(|body| Bytes::from(body.to_string()));
        let (url, body) = (self.at(path), body.unwrap_or_default());
        let answered = client::request(method, &url, headers, body, DEADLINE).await;
        let (status, body) = answered.unwrap_or_else(|cause| panic!("{path}: {cause}"));
        let json = serde_json::from_slice(&body);
        let text = || Value::String(String::from_utf8_lossy(&body).into_owned());
        (status, json.unwrap_or_else(|_| text()))
    }

    /// Does something that has to succeed.
    pub async fn does(&self, method: Method, path: &str, body: Option<Value>) -> Value {
        let (status, answer) = self.ask(method.clone(), path, body).await;
        assert_eq!(status, StatusCode::OK, "{method} {path}: {answer}");
        answer
    }

    /// What it answers to a GET.
    pub async fn get(&self, path: &str) -> Value {
        self.does(Method::GET, path, None).await
    }

    /// The totals.
    pub async fn totals(&self) -> Value {
        self.get("/api/overview").await["totals"].take()
    }

    /// Waits until a total is what it should be.
    pub async fn wait_total(&self, name: &str, value: u64) {
        self.wait_totals(&json!({ name: value })).await;
    }

    /// Waits until totals are what they should be.
    pub async fn wait_totals(&self, due: &Value) {
        let names = due.as_object().expect("totals").keys();
        let found = async || {
            let totals = self.totals().await;
            let pairs = names
                .clone()
                .map(|name| (name.clone(), totals[name].clone()));
            (Value::Object(pairs.collect()), totals)
        };
        let mut last = found().await;
        let folded = async {
            while last.0 != *due {
                last = found().await;
            }
        };
        // When the time is over, the last ones are judged.
        let _ = timeout(DEADLINE, folded).await;
        assert_eq!(last.0, *due, "the totals; all of them: {}", last.1);
    }
}
