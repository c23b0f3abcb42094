//! The ingress router behind the real server, against senders written by hand on real sockets.

#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on says so and ends"
)]

use std::fmt::Write;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use switchboard_core::address::Networks;
use switchboard_core::configuration::{Configuration, Limits, Source};
use switchboard_core::ingress::Ingress;
use switchboard_core::names::SourceName;
use switchboard_core::scheme::{Draft, Scheme};
use switchboard_core::secret::Secret;
use switchboard_core::time::Timestamp;
use switchboard_testkit::clock::HandClock;
use switchboard_web::ingress::{IngressLimits, router};
use switchboard_web::server;
use tokio::net::TcpListener;

use sender::{Answer, Sender};
use store::Store;

mod bodies;
mod hang_ups;
mod paths;
mod sender;
mod store;

const NOW: Timestamp = Timestamp::from_seconds(1_800_000_000);
const MAX_BODY: usize = 1024 * 1024;
/// A limit that is meant to run out.
const SHORT: Duration = Duration::from_millis(300);

/// A Switchboard with one source, `shop`, that signs as GitHub does.
struct Switchboard {
    at: SocketAddr,
    store: Arc<Store>,
}

fn shop() -> Source {
    let scheme = Scheme::named("github").expect("a scheme");
    let secret = Secret::new("0123456789abcdef").expect("a secret");
    let key = (scheme.key)(&secret).expect("a key");
    let name = SourceName::parse("shop").expect("a name");
    Source::new(name, scheme, vec![(secret, key)])
}

impl Switchboard {
    async fn start() -> Self {
        Self::within(IngressLimits::default()).await
    }

    async fn within(limits: IngressLimits) -> Self {
        let configuration = Configuration {
            keep_days: 30,
            max_body: MAX_BODY,
            public_url: None,
            hosts: Vec::new(),
            networks: Networks::Public,
            sources: vec![shop()],
            destinations: Vec::new(),
            routes: Vec::new(),
            alert_url: None,
            alert_after: Duration::from_mins(10),
            endpoint_limits: Limits::default(),
        };
        let store = Arc::new(Store::default());
        let ingress = Ingress::new(
            Arc::new(configuration),
            Arc::clone(&store),
            Arc::new(HandClock::at(NOW)),
            Box::new(ChaCha8Rng::seed_from_u64(7)),
        );
        let router = router(Arc::new(ingress), MAX_BODY, limits);
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let at = listener.local_addr().expect("an address");
        tokio::spawn(server::serve(listener, router, std::future::pending()));
        Self { at, store }
    }

    async fn sender(&self) -> Sender {
        Sender::to(self.at).await
    }

    /// What a connection of its own is answered when it says all of this.
    async fn answer(&self, request: impl AsRef<[u8]>) -> Answer {
        let mut sender = self.sender().await;
        sender.say(request).await;
        sender.answer().await.expect("an answer")
    }
}

/// The head of a rightly signed request to `path` without a length: `lines` end it.
fn head(path: &str, id: &str, body: &[u8], lines: &str) -> Vec<u8> {
    let source = shop();
    let (_, key) = source.secrets().next().expect("a secret");
    let draft = Draft {
        id,
        kind: "push",
        now: NOW,
        body,
    };
    let mut head = format!("POST {path} HTTP/1.1\r\nhost: in.example\r\n");
    for (name, value) in (source.scheme.sign)(key, &draft) {
        write!(head, "{name}: {value}\r\n").expect("written");
    }
    head.push_str(lines);
    head.push_str("\r\n");
    head.into_bytes()
}

/// A rightly signed request, whole.
fn signed(path: &str, id: &str, body: &[u8]) -> Vec<u8> {
    let length = format!("content-length: {}\r\n", body.len());
    let mut request = head(path, id, body, &length);
    request.extend(body);
    request
}
