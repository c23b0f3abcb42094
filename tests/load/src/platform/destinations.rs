//! Destinations: one that answers at once and knows how long what comes was under way, and one that never answers.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use http::{Request, StatusCode};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::net::TcpListener;

use super::marks::Marks;
use crate::clock;
use crate::lock::locked;
use crate::serve::{Answer, answer};

/// Answers every delivery with 200 and counts it by its idempotency key.
pub(crate) struct Healthy {
    marks: Arc<Marks>,
    arrived: Mutex<BTreeMap<String, Instant>>,
}

impl Healthy {
    /// Nothing has arrived yet.
    pub(crate) fn new(marks: Arc<Marks>) -> Self {
        Self {
            marks,
            arrived: Mutex::default(),
        }
    }

    /// When each delivery first arrived.
    pub(crate) fn arrived(&self) -> BTreeMap<String, Instant> {
        locked(&self.arrived).clone()
    }

    /// Answers a request.
    pub(crate) async fn answer(self: Arc<Self>, request: Request<Incoming>) -> Answer {
        let now = clock::started();
        self.marks.note("delivery");
        let key = request.headers().get("idempotency-key");
        let Some(key) = key.and_then(|key| key.to_str().ok()) else {
            return answer(StatusCode::BAD_REQUEST, "");
        };
        locked(&self.arrived).entry(key.to_owned()).or_insert(now);
        match request.into_body().collect().await {
            Ok(_) => answer(StatusCode::OK, ""),
            Err(_) => answer(StatusCode::BAD_REQUEST, ""),
        }
    }
}

/// Accepts connections on a free port and never answers; where.
pub(crate) async fn silent() -> io::Result<SocketAddr> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move {
        let mut open = Vec::new();
        while let Ok((stream, _)) = listener.accept().await {
            open.push(stream);
        }
    });
    Ok(address)
}
