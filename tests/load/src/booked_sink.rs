//! Destinations that keep a book: of 100 requests 30 fail, some after they were applied. Each delivery is applied once
//! per idempotency key; a body that is applied at one path under two keys is a fault. `GET /book` tells all of it.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use clap::Args;
use http::{Method, Request, StatusCode};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rand::rngs::ChaCha20Rng;
use rand::{RngExt, SeedableRng};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::clock;
use crate::lock::locked;
use crate::serve::{Answer, answer};

/// What becomes of a request.
#[derive(Clone, Copy)]
enum Manner {
    /// Applied, 200.
    Well,
    /// 500; nothing is applied.
    Rejected,
    /// The connection is closed; nothing is applied.
    Closed,
    /// Applied, 500.
    AppliedAndRejected,
    /// Applied, and the connection is closed.
    AppliedAndClosed,
    /// Applied, and answered when nobody waits any more.
    Late,
}

/// How many of 100 requests go in each manner; the others go well.
const BADLY: [(u32, Manner); 5] = [
    (10, Manner::Rejected),
    (5, Manner::Closed),
    (5, Manner::AppliedAndRejected),
    (5, Manner::AppliedAndClosed),
    (5, Manner::Late),
];

/// Destinations with a book.
#[derive(Args)]
pub(crate) struct BookedSink {
    /// Where it listens.
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: String,
    /// What the manners are drawn from.
    #[arg(long)]
    seed: u64,
    /// How late a late answer is.
    #[arg(long)]
    late_ms: u64,
}

/// What is known of an idempotency key.
struct Entry {
    path: String,
    event: String,
    /// Whether it was ever answered 200 in time.
    answered: bool,
}

#[derive(Default)]
struct Book {
    entries: BTreeMap<String, Entry>,
    /// The key that each body was applied under, by path.
    applied: HashMap<(String, Bytes), String>,
    twice: Vec<String>,
    requests: u64,
    failed: u64,
}

struct Shared {
    book: Mutex<Book>,
    rng: Mutex<ChaCha20Rng>,
    late: Duration,
}

impl BookedSink {
    pub(crate) async fn play(self) -> io::Result<()> {
        let shared = Arc::new(Shared {
            book: Mutex::default(),
            rng: Mutex::new(ChaCha20Rng::seed_from_u64(self.seed)),
            late: Duration::from_millis(self.late_ms),
        });
        let listener = TcpListener::bind(&self.listen).await?;
        println!("listening on {}", listener.local_addr()?);
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            let shared = Arc::clone(&shared);
            tokio::spawn(async move {
                let service = service_fn(|request| receive(&shared, request));
                // Closed by us or by a client: neither is a fault of this process.
                drop(
                    http1::Builder::new()
                        .serve_connection(TokioIo::new(stream), service)
                        .await,
                );
            });
        }
    }
}

/// `Err` closes the connection without an answer.
async fn receive(shared: &Shared, request: Request<Incoming>) -> io::Result<Answer> {
    if request.method() == Method::GET {
        return Ok(answer(
            StatusCode::OK,
            locked(&shared.book).told().to_string(),
        ));
    }
    let (head, body) = request.into_parts();
    let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
    let text = |name: &str| {
        let value = head.headers.get(name).and_then(|value| value.to_str().ok());
        value.unwrap_or_default().to_owned()
    };
    let (key, event) = (text("idempotency-key"), text("switchboard-event"));
    let manner = shared.drawn();
    let path = head.uri.path();
    match manner {
        Manner::Rejected | Manner::Closed => {}
        Manner::Well | Manner::AppliedAndRejected | Manner::AppliedAndClosed | Manner::Late => {
            locked(&shared.book).apply(&key, path, &event, body);
        }
    }
    locked(&shared.book).count(&key, manner);
    match manner {
        Manner::Well => Ok(answer(StatusCode::OK, "applied")),
        Manner::Rejected | Manner::AppliedAndRejected => {
            Ok(answer(StatusCode::INTERNAL_SERVER_ERROR, "no"))
        }
        Manner::Closed | Manner::AppliedAndClosed => Err(io::ErrorKind::ConnectionReset.into()),
        Manner::Late => {
            clock::at(clock::started(), shared.late).await;
            Ok(answer(StatusCode::OK, "applied"))
        }
    }
}

impl Shared {
    fn drawn(&self) -> Manner {
        let mut left = locked(&self.rng).random_range(0..100_u32);
        for (share, manner) in BADLY {
            if left < share {
                return manner;
            }
            left -= share;
        }
        Manner::Well
    }
}

impl Book {
    /// Applies a delivery, unless it was applied under this key.
    fn apply(&mut self, key: &str, path: &str, event: &str, body: Bytes) {
        if self.entries.contains_key(key) {
            return;
        }
        let before = self.applied.insert((path.to_owned(), body), key.to_owned());
        if let Some(other) = before {
            self.twice.push(format!("{path}: {other} and {key}"));
        }
        let entry = Entry {
            path: path.to_owned(),
            event: event.to_owned(),
            answered: false,
        };
        self.entries.insert(key.to_owned(), entry);
    }

    fn count(&mut self, key: &str, manner: Manner) {
        self.requests += 1;
        match manner {
            Manner::Well => {
                if let Some(entry) = self.entries.get_mut(key) {
                    entry.answered = true;
                }
            }
            Manner::Rejected
            | Manner::Closed
            | Manner::AppliedAndRejected
            | Manner::AppliedAndClosed
            | Manner::Late => self.failed += 1,
        }
    }

    fn told(&self) -> Value {
        let entries = self.entries.iter().map(|(key, entry)| {
            let Entry {
                path,
                event,
                answered,
            } = entry;
            (
                key.clone(),
                json!({ "path": path, "event": event, "answered": answered }),
            )
        });
        json!({
            "requests": self.requests,
            "failed": self.failed,
            "twice": self.twice,
            "entries": Value::Object(entries.collect()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_applied_once_and_a_body_under_two_keys_is_a_fault() {
        let mut book = Book::default();
        for (key, body) in [("a", "1"), ("a", "1"), ("b", "2"), ("c", "1")] {
            book.apply(key, "/x", "evt", Bytes::from(body));
        }
        assert_eq!(book.twice, ["/x: a and c"]);
        book.count("a", Manner::Late);
        assert!(!book.entries["a"].answered, "nobody heard it");
        book.count("a", Manner::Well);
        assert_eq!(book.told()["entries"]["a"]["answered"], true);
    }
}
