//! A destination that records what it gets and answers as it is told.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::sender::now;
use crate::wait::DEADLINE;

/// One request as it came.
#[derive(Clone, Debug)]
pub struct Received {
    /// Its path.
    pub path: String,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its bytes.
    pub body: Bytes,
    /// When it came, in milliseconds since 1970.
    pub at: i64,
}

impl Received {
    /// A header's text; empty when it is not there.
    pub fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
    }

    /// The idempotency key.
    pub fn key(&self) -> &str {
        self.header("idempotency-key")
    }
}

type Decide = Box<dyn Fn(&Received, usize) -> Response + Send + Sync>;

/// What all requests share.
struct Shared {
    received: Mutex<Vec<Received>>,
    decide: Mutex<Decide>,
    bell: Notify,
}

/// A destination on a port of its own.
#[derive(Clone)]
pub struct Sink {
    address: SocketAddr,
    shared: Arc<Shared>,
}

impl Sink {
    /// A sink that answers 200.
    pub async fn start() -> Self {
        Self::start_at(([127, 0, 0, 1], 0).into()).await
    }

    /// A sink at this address that answers 200.
    pub async fn start_at(address: SocketAddr) -> Self {
        let listener = TcpListener::bind(address).await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let shared = Arc::new(Shared {
            received: Mutex::default(),
            decide: Mutex::new(Box::new(|_, _| StatusCode::OK.into_response())),
            bell: Notify::new(),
        });
        let router = Router::new()
            .fallback(receive)
            .with_state(Arc::clone(&shared));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { address, shared }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address of a path on it.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Answers from now on as `decide` says; it gets the request and how many came before it.
    pub fn answer<A: IntoResponse>(
        &self,
        decide: impl Fn(&Received, usize) -> A + Send + Sync + 'static,
    ) {
        *self.shared.decide.lock().expect("a lock") =
            Box::new(move |received, before| decide(received, before).into_response());
    }

    /// Everything that came so far.
    pub fn received(&self) -> Vec<Received> {
        self.shared.received.lock().expect("a lock").clone()
    }

    /// Waits until what came satisfies `enough`, and gives it.
    pub async fn wait(
        &self,
        what: &str,
        enough: impl Fn(&[Received]) -> bool + Send + Sync,
    ) -> Vec<Received> {
        let waiting = async {
            loop {
                let rung = self.shared.bell.notified();
                let received = self.received();
                if enough(&received) {
                    return received;
                }
                rung.await;
            }
        };
        let Ok(received) = timeout(DEADLINE, waiting).await else {
            panic!(
                "it never held that {what}; what came: {:#?}",
                self.received()
            )
        };
        received
    }

    /// Waits until `n` requests came.
    pub async fn wait_for(&self, n: usize) -> Vec<Received> {
        self.wait(&format!("{n} requests came"), |received| {
            received.len() >= n
        })
        .await
    }
}

async fn receive(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, 64 * 1024 * 1024)
        .await
        .unwrap_or_default();
    let received = Received {
        path: parts.uri.path().to_owned(),
        headers: parts.headers,
        body,
        at: now().millis(),
    };
    let before = shared.received.lock().expect("a lock").len();
    let answer = (shared.decide.lock().expect("a lock"))(&received, before);
    shared.received.lock().expect("a lock").push(received);
    shared.bell.notify_waiters();
    answer
}
