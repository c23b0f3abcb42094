//! A destination: counts what comes to each of its paths and how long that was under way. `POST /gate/shut` makes it
//! keep every answer back until `POST /gate/open`; `GET /counts` tells, `POST /counts/clear` forgets, and
//! `POST /counts/take` does both. What comes to a path that begins with `/failing` is answered 500.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use clap::Args;
use http::request::Parts;
use http::{Method, Request, StatusCode};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use serde_json::json;
use tokio::sync::watch;

use crate::lock::locked;
use crate::serve::{Answer, answer, serve};
use crate::{clock, event, percentiles};

/// A destination that counts.
#[derive(Args)]
pub(crate) struct Sink {
    /// Where it listens.
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: String,
    /// Answers requests to paths that begin with `/slow` only after this many milliseconds.
    #[arg(long, default_value_t = 0)]
    slow_ms: u64,
    /// Writes the idempotency key and the event of every request to this file, a line each.
    #[arg(long)]
    keys: Option<PathBuf>,
}

/// What came to one path.
#[derive(Default)]
struct Path {
    requests: u64,
    first_ns: u64,
    last_ns: u64,
    under_way: Vec<u64>,
}

struct Shared {
    paths: Mutex<BTreeMap<String, Path>>,
    gate: watch::Sender<bool>,
    slow: Duration,
    keys: Option<File>,
}

impl Sink {
    pub(crate) async fn play(self) -> io::Result<()> {
        let shared = Arc::new(Shared {
            paths: Mutex::default(),
            gate: watch::Sender::new(true),
            slow: Duration::from_millis(self.slow_ms),
            keys: self.keys.map(File::create).transpose()?,
        });
        serve(&self.listen, move |request| {
            receive(Arc::clone(&shared), request)
        })
        .await
    }
}

impl Shared {
    fn count(&self, path: &str, sent: Option<u64>) {
        let now = clock::now_ns();
        let mut paths = locked(&self.paths);
        if !paths.contains_key(path) {
            paths.insert(path.to_owned(), Path::default());
        }
        let Some(path) = paths.get_mut(path) else {
            return;
        };
        if path.requests == 0 {
            path.first_ns = now;
        }
        path.requests += 1;
        path.last_ns = now;
        path.under_way
            .extend(sent.map(|sent| now.saturating_sub(sent)));
    }

    /// Writes down which delivery came; at once, since this process ends by being killed.
    fn write_down(&self, head: &Parts) {
        let Some(mut file) = self.keys.as_ref() else {
            return;
        };
        let header = |name: &str| {
            let value = head.headers.get(name)?;
            value.to_str().ok()
        };
        let key = header("idempotency-key").unwrap_or("-");
        let event = header("switchboard-event").unwrap_or("-");
        if let Err(error) = file.write_all(format!("{key} {event}\n").as_bytes()) {
            eprintln!("a delivery is missing from the list: {error}");
        }
    }

    fn counts(&self) -> String {
        Self::told(&locked(&self.paths))
    }

    /// Tells and forgets.
    fn take(&self) -> String {
        let paths = std::mem::take(&mut *locked(&self.paths));
        Self::told(&paths)
    }

    fn told(paths: &BTreeMap<String, Path>) -> String {
        let all = paths.iter().map(|(path, counted)| {
            let told = json!({
                "requests": counted.requests,
                "first_ns": counted.first_ns,
                "last_ns": counted.last_ns,
                "under_way": percentiles::of(counted.under_way.clone()),
            });
            (path.clone(), told)
        });
        serde_json::Value::Object(all.collect()).to_string()
    }
}

async fn receive(shared: Arc<Shared>, request: Request<Incoming>) -> Answer {
    match (request.method(), request.uri().path()) {
        (&Method::GET, "/counts") => return answer(StatusCode::OK, shared.counts()),
        (&Method::POST, "/counts/take") => return answer(StatusCode::OK, shared.take()),
        (&Method::POST, "/counts/clear") => locked(&shared.paths).clear(),
        (&Method::POST, "/gate/shut") => drop(shared.gate.send_replace(false)),
        (&Method::POST, "/gate/open") => drop(shared.gate.send_replace(true)),
        _ => return deliver(&shared, request).await,
    }
    answer(StatusCode::OK, "")
}

async fn deliver(shared: &Shared, request: Request<Incoming>) -> Answer {
    let (head, body) = request.into_parts();
    let Ok(body) = body.collect().await else {
        return answer(StatusCode::BAD_REQUEST, "");
    };
    let path = head.uri.path();
    let mut gate = shared.gate.subscribe();
    if !*gate.borrow() {
        // The sender of the gate lives as long as the process.
        drop(gate.wait_for(|open| *open).await);
    }
    shared.count(path, event::sent_ns(&body.to_bytes()));
    shared.write_down(&head);
    if path.starts_with("/failing") {
        return answer(StatusCode::INTERNAL_SERVER_ERROR, "");
    }
    if path.starts_with("/slow") {
        clock::at(clock::started(), shared.slow).await;
    }
    answer(StatusCode::OK, "")
}
