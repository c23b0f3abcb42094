//! The sender and the destination of a flood: each a process of its own, so that what is measured is Switchboard.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use switchboard_tests::load::{self, Part};
use url::Url;

/// How long a whole flood may take on a machine that is busy otherwise.
const LIMIT: Duration = Duration::from_mins(5);

/// A destination that answers 200 at once and writes down what came.
pub(crate) struct Sink {
    sink: load::Sink,
    keys: PathBuf,
}

fn text(path: &Path) -> String {
    path.to_str().expect("a path in UTF-8").to_owned()
}

impl Sink {
    pub(crate) async fn start(folder: &Path) -> Self {
        let keys = folder.join("keys");
        let arguments = ["sink".to_owned(), "--keys".to_owned(), text(&keys)];
        Self {
            sink: load::Sink::start_with(&arguments).await,
            keys,
        }
    }

    pub(crate) fn address(&self, path: &str) -> Url {
        self.sink.url.join(path).expect("an address")
    }

    /// How many deliveries came so far.
    pub(crate) async fn count(&self) -> u64 {
        let counts = self.sink.book("/counts").await;
        let counts = counts.as_object().expect("paths");
        let requests = counts.values().map(|path| path["requests"].as_u64());
        requests.map(|count| count.expect("a count")).sum()
    }

    /// How often each delivery came, and its event.
    pub(crate) fn keys(&self) -> BTreeMap<String, (String, u64)> {
        let text = std::fs::read_to_string(&self.keys).expect("the keys");
        let mut keys = BTreeMap::new();
        for (key, event) in text.lines().filter_map(|line| line.split_once(' ')) {
            let came = keys.entry(key.to_owned()).or_insert((event.to_owned(), 0));
            came.1 += 1;
        }
        keys
    }
}

/// What came of many events.
pub(crate) struct Sent(Value);

impl Sent {
    fn number(&self, pointer: &str) -> Option<f64> {
        self.0.pointer(pointer).and_then(Value::as_f64)
    }

    /// How many were answered with a status.
    pub(crate) fn answered(&self, status: u16) -> u64 {
        let count = self.0["statuses"].get(status.to_string());
        count.and_then(Value::as_u64).unwrap_or(0)
    }

    /// How many were answered otherwise than 200 or 503, or not at all.
    pub(crate) fn otherwise(&self) -> u64 {
        let statuses = self.0["statuses"].as_object().expect("statuses");
        let all: u64 = statuses.values().filter_map(Value::as_u64).sum();
        let unanswered = self.0["unanswered"].as_u64().expect("a count");
        all - self.answered(200) - self.answered(503) + unanswered
    }

    /// How many 503s did not say when to try again.
    pub(crate) fn without_retry_after(&self) -> u64 {
        self.0["without_retry_after"].as_u64().expect("a count")
    }

    /// The time that 99 of 100 answers of a status came within, in milliseconds; 0 when there were none.
    pub(crate) fn p99_ms(&self, status: u16) -> f64 {
        self.number(&format!("/answered_by_status/{status}/p99_ms"))
            .unwrap_or(0.0)
    }

    /// Seconds from the first to the last answer.
    pub(crate) fn seconds(&self) -> f64 {
        self.number("/seconds").expect("a time")
    }
}

/// Sends events to their end; `accepted` is the file that lists those that were accepted.
pub(crate) async fn send(to: &Url, secret: &str, accepted: &Path, more: &[String]) -> Sent {
    let host = to.host_str().expect("a host");
    let port = to.port_or_known_default().expect("a port");
    let name = accepted.file_name().expect("a name").to_string_lossy();
    let told = [
        "send".to_owned(),
        format!("--to={host}:{port}"),
        format!("--path={}", to.path()),
        format!("--secret={secret}"),
        format!("--ids={name}"),
        format!("--accepted={}", text(accepted)),
    ];
    Sent(Part::start(&[&told[..], more].concat()).end(LIMIT).await)
}
