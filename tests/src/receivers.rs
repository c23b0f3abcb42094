//! The sample receivers: their books, their switches, and running them alone.

use std::process::Stdio;

use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode};
use serde_json::Value;
use switchboard_web::client;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Child;
use tokio::time::timeout;
use url::Url;

use crate::switchboard::command;
use crate::wait::DEADLINE;

/// The sample receivers, running alone in a folder of their own. They are killed when this is dropped.
pub struct Receivers {
    /// Their address.
    pub url: Url,
    _child: Child,
    _folder: TempDir,
}

impl Receivers {
    /// Starts them on a free port.
    pub async fn start() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let mut child = command(folder.path())
            .args(["receivers", "--listen", "127.0.0.1:0", "--data", "data"])
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
        let line = timeout(DEADLINE, lines.next_line())
            .await
            .expect("it says where it is")
            .expect("text")
            .expect("a line");
        let url = line
            .split_whitespace()
            .find_map(|word| word.strip_prefix("http://"))
            .and_then(|place| format!("http://{place}").parse().ok());
        Self {
            url: url.unwrap_or_else(|| panic!("no address in {line:?}")),
            _child: child,
            _folder: folder,
        }
    }
}

/// All books as they stand, by receiver.
pub async fn books(receivers: &Url) -> Value {
    let (status, body) = ask(receivers, Method::GET, "/books").await;
    assert_eq!(status, StatusCode::OK, "the books are shown");
    serde_json::from_slice(&body).expect("books")
}

/// The page with the books.
pub async fn page(receivers: &Url) -> String {
    let (status, body) = ask(receivers, Method::GET, "/").await;
    assert_eq!(status, StatusCode::OK, "the page is shown");
    String::from_utf8_lossy(&body).into_owned()
}

/// Makes a receiver behave in another way from now on: `ok`, `slow`, `late`, `fail` or `down`.
pub async fn switch(receivers: &Url, receiver: &str, mode: &str) {
    let path = format!("/{receiver}?mode={mode}");
    let (status, body) = ask(receivers, Method::POST, &path).await;
    assert_eq!(status, StatusCode::OK, "{path}: {body:?}");
}

async fn ask(receivers: &Url, method: Method, path: &str) -> (StatusCode, Bytes) {
    let url = receivers.join(path).expect("an address");
    client::request(method, &url, HeaderMap::new(), Bytes::new(), DEADLINE)
        .await
        .expect("an answer")
}
