//! Senders and destinations in processes of their own: the binary `load`, which keeps their books.

use std::process::Stdio;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode};
use serde_json::Value;
use switchboard_web::client;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};
use tokio::time::timeout;
use url::Url;

use crate::switchboard::beside;
use crate::wait::DEADLINE;

/// A running role. It is killed when this is dropped.
pub struct Part {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Part {
    /// Starts a role with its arguments.
    pub fn start(arguments: &[String]) -> Self {
        let mut child = Command::new(beside("load"))
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("the binary starts");
        let lines = BufReader::new(child.stdout.take().expect("its output")).lines();
        Self { child, lines }
    }

    async fn line(&mut self, limit: Duration) -> String {
        let line = timeout(limit, self.lines.next_line()).await;
        line.expect("it says something in time")
            .expect("text")
            .expect("a line; what it complains of stands above")
    }

    /// Ends its input, upon which it comes to its end and says what it found out.
    pub async fn end(mut self, limit: Duration) -> Value {
        drop(self.child.stdin.take());
        let told = self.line(limit).await;
        let ended = timeout(limit, self.child.wait()).await;
        let ended = ended.expect("it ends").expect("it ends");
        assert!(ended.success(), "{ended}: {told}");
        serde_json::from_str(&told).expect("JSON")
    }
}

/// A running destination.
pub struct Sink {
    /// Its address.
    pub url: Url,
    _part: Part,
}

impl Sink {
    /// Starts a role that is a destination, on a free port.
    pub async fn start(role: &str, arguments: &[(&str, u64)]) -> Self {
        let mut all = vec![role.to_owned()];
        for (name, value) in arguments {
            all.extend([(*name).to_owned(), value.to_string()]);
        }
        Self::start_with(&all).await
    }

    /// The same with whatever arguments.
    pub async fn start_with(arguments: &[String]) -> Self {
        let mut part = Part::start(arguments);
        let line = part.line(DEADLINE).await;
        let address = line.strip_prefix("listening on ").expect("an address");
        let url = format!("http://{address}/").parse().expect("an address");
        Self { url, _part: part }
    }

    /// What it tells at a path.
    pub async fn book(&self, path: &str) -> Value {
        let url = self.url.join(path).expect("an address");
        let asked = client::request(Method::GET, &url, HeaderMap::new(), Bytes::new(), DEADLINE);
        let (status, body) = asked.await.expect("an answer");
        assert_eq!(status, StatusCode::OK, "{path}");
        serde_json::from_slice(&body).expect("JSON")
    }
}
