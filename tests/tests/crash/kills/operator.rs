//! An operator who sends every dead letter again, again and again, whoever answers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method};
use serde_json::Value;
use switchboard_tests::switchboard::TOKEN;
use switchboard_tests::wait::{self, DEADLINE};
use switchboard_web::client;
use url::Url;

/// How often the operator asks.
const REDRIVE_EVERY: Duration = Duration::from_millis(300);

/// The operator, at work.
pub(super) struct Operator {
    ended: Arc<AtomicBool>,
    asking: tokio::task::JoinHandle<u64>,
}

impl Operator {
    /// Begins to ask at `url`.
    pub(super) fn start(url: Url) -> Self {
        let ended = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&ended);
        let asking = tokio::spawn(async move {
            let mut redriven = 0;
            while !told.load(Ordering::Relaxed) {
                redriven += redrive(&url).await.unwrap_or_default();
                wait::between(REDRIVE_EVERY).await;
            }
            redriven
        });
        Self { ended, asking }
    }

    /// How many deliveries it was told of.
    pub(super) async fn end(self) -> u64 {
        self.ended.store(true, Ordering::Relaxed);
        self.asking.await.expect("joined")
    }
}

async fn redrive(url: &Url) -> Option<u64> {
    let url = url.join("/admin/redrive").ok()?;
    let mut headers = HeaderMap::new();
    let bearer = HeaderValue::from_str(&format!("Bearer {TOKEN}")).ok()?;
    headers.insert(http::header::AUTHORIZATION, bearer);
    headers.insert(
        http::header::CONTENT_TYPE,
        HeaderValue::from_static("application/json"),
    );
    let body = Bytes::from_static(b"{\"all\":true}");
    let asked = client::request(Method::POST, &url, headers, body, DEADLINE).await;
    let (_, answer) = asked.ok()?;
    let answer: Value = serde_json::from_slice(&answer).ok()?;
    answer["redriven"].as_u64()
}
