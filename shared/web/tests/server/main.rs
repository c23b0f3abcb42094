//! The server, against clients written by hand on real sockets.

#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on says so and ends"
)]

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use switchboard_web::server::{ServerLimits, serve_within};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, oneshot};
use tokio::task::JoinHandle;

use sender::{Sender, soon};

mod asking;
mod endings;
mod floods;
#[path = "../ingress/sender.rs"]
mod sender;

/// A limit that is meant to run out.
const SHORT: Duration = Duration::from_millis(300);
const QUICK: &str = "GET /quick HTTP/1.1\r\nhost: a\r\n\r\n";
const SLOW: &str = "GET /slow HTTP/1.1\r\nhost: a\r\n\r\n";

/// A server with a quick page, a slow one that waits at a gate, a long one, and one that panics.
struct Server {
    at: SocketAddr,
    /// A permit for each request at the gate.
    arrived: Arc<Semaphore>,
    gate: Arc<Semaphore>,
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<()>,
}

impl Server {
    async fn start(limits: ServerLimits) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        Self::on(listener, limits)
    }

    fn on(listener: TcpListener, limits: ServerLimits) -> Self {
        let at = listener.local_addr().expect("an address");
        let (arrived, gate) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
        let (at_gate, opened) = (Arc::clone(&arrived), Arc::clone(&gate));
        let slow = move || {
            let (at_gate, opened) = (Arc::clone(&at_gate), Arc::clone(&opened));
            async move {
                at_gate.add_permits(1);
                opened.acquire().await.expect("open").forget();
                "slow"
            }
        };
        let router = Router::new()
            .route("/quick", get(|| async { "quick" }))
            .route("/slow", get(slow))
            .route("/long", get(|| async { vec![b'x'; 64 * 1024 * 1024] }))
            .route("/panic", get(|| async { panic!("as asked") as &str }));
        let (stop, stopped) = oneshot::channel::<()>();
        let shutdown = async {
            let _ = stopped.await;
        };
        Self {
            at,
            arrived,
            gate,
            stop: Some(stop),
            task: tokio::spawn(serve_within(limits, listener, router, shutdown)),
        }
    }

    async fn client(&self) -> Sender {
        Sender::to(self.at).await
    }

    /// The body of the answer that a connection of its own gets.
    async fn body(&self, request: &str) -> String {
        let mut client = self.client().await;
        client.say(request).await;
        client.answer().await.expect("an answer").body
    }

    /// A client whose slow request is at the gate.
    async fn at_work(&self) -> Sender {
        let mut client = self.client().await;
        client.say(SLOW).await;
        soon(self.arrived.acquire())
            .await
            .expect("arrived")
            .forget();
        client
    }

    fn shut_down(&mut self) {
        self.stop.take().expect("once").send(()).expect("serving");
    }
}
