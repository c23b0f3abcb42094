//! The transport, against destinations written by hand on real sockets.
//!
//! That no proxy variable is obeyed needs no test: nothing in the transport reads the environment, and the client
//! knows of no proxy.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that cannot go on says so and ends"
)]

use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::{BoxFuture, FutureExt};
use http::HeaderMap;
use switchboard_core::address::{Address, Networks};
use switchboard_core::configuration::{Configuration, Limits};
use switchboard_core::delivery::{Outcome, Unanswered};
use switchboard_core::names::DestinationName;
use switchboard_core::ports::{Outgoing, Transport};
use switchboard_web::transport::{HttpTransport, Resolver, TransportLimits};

mod answers;
mod bodies;
mod connections;
mod destination;
mod guard;
mod http2;
mod requests;
mod tls;

/// Longer than anything that is waited for takes, on a busy machine too.
const LONG: Duration = Duration::from_secs(20);
/// A time limit that is meant to run out.
const SHORT: Duration = Duration::from_millis(300);

/// What `future` gives, within a deadline.
async fn soon<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(LONG, future)
        .await
        .expect("done within the deadline")
}

/// A resolver that gives these answers, one each time; the last one over and over.
struct Answers(Mutex<VecDeque<Vec<IpAddr>>>);

impl Answers {
    fn new(answers: &[&[&str]]) -> Arc<Self> {
        let parse = |ips: &&[&str]| ips.iter().map(|ip| ip.parse().expect("an IP")).collect();
        Arc::new(Self(Mutex::new(answers.iter().map(parse).collect())))
    }
}

impl Resolver for Answers {
    fn resolve(&self, _host: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        let mut answers = self.0.lock().expect("lock");
        let answer = match answers.len() {
            0 => panic!("the resolver was asked"),
            1 => answers[0].clone(),
            _ => answers.pop_front().expect("an answer"),
        };
        async move {
            if answer.is_empty() {
                Err(io::Error::other("no such name"))
            } else {
                Ok(answer)
            }
        }
        .boxed()
    }
}

fn configuration(networks: Networks) -> Configuration {
    Configuration {
        keep_days: 30,
        max_body: 1,
        public_url: None,
        hosts: Vec::new(),
        networks,
        sources: Vec::new(),
        destinations: Vec::new(),
        routes: Vec::new(),
        alert_url: None,
        alert_after: Duration::from_mins(10),
        endpoint_limits: Limits::default(),
    }
}

/// A transport, and how the test wants it.
struct Setting {
    configuration: Configuration,
    platform: Vec<SocketAddr>,
    resolver: Arc<dyn Resolver>,
    limits: TransportLimits,
}

impl Default for Setting {
    /// Private networks allowed, every name resolves to loopback, short waits.
    fn default() -> Self {
        Self {
            configuration: configuration(Networks::PrivateToo),
            platform: Vec::new(),
            resolver: Answers::new(&[&["127.0.0.1"]]),
            limits: TransportLimits {
                piece_time: SHORT,
                next_address: Duration::from_millis(50),
                ..TransportLimits::default()
            },
        }
    }
}

impl Setting {
    fn transport(self) -> HttpTransport {
        HttpTransport::with(
            &self.configuration,
            self.platform,
            self.resolver,
            self.limits,
        )
        .expect("a transport")
    }
}

fn name(text: &str) -> DestinationName {
    DestinationName::parse(text).expect("a name")
}

/// A request to `url`.
fn to(url: &str) -> Outgoing {
    Outgoing {
        address: Address::parse(url, Networks::PrivateToo).expect("an address"),
        destination: name("accounting"),
        headers: HeaderMap::new(),
        body: Bytes::from_static(b"{}"),
        time_limit: LONG,
    }
}

/// What a request to `url` comes to.
async fn post(transport: &HttpTransport, url: &str) -> Outcome {
    soon(transport.post(to(url))).await
}

fn unanswered(why: Unanswered) -> Outcome {
    Outcome::Unanswered(why)
}

/// The status and the piece of an answer.
fn answered(outcome: &Outcome) -> (u16, &str) {
    match outcome {
        Outcome::Answered { status, piece } => (*status, piece.as_str()),
        Outcome::Unanswered(why) => panic!("unanswered: {why}"),
    }
}
