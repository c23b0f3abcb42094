//! The receivers over real sockets: what a delivery, its copies and the switches come to.

mod browser;
mod copies;
mod modes;
mod once;
mod together;
mod trial;
mod words;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use switchboard_core::scheme::Key;
use switchboard_core::time::{Clock, Timestamp};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use super::guard::Hosts;
use super::keys::Keys;
use super::mode::Pauses;
use super::router::Desk;
use super::store::Store;
use super::{FILE, connection, router};

/// How long a test waits for what must come.
const DEADLINE: Duration = Duration::from_secs(20);

/// A clock that stands still.
struct StandingClock(Timestamp);

impl Clock for StandingClock {
    fn now(&self) -> Timestamp {
        self.0
    }

    fn ticks(&self) -> Duration {
        Duration::ZERO
    }
}

const NOW: Timestamp = Timestamp::from_seconds(1_769_850_000);

/// The receivers on a port of their own, in a folder of their own.
struct Port {
    folder: TempDir,
    address: SocketAddr,
    stop: Option<(oneshot::Sender<()>, tokio::task::JoinHandle<()>)>,
}

/// What was answered.
#[derive(Debug, PartialEq, Eq)]
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).expect("json")
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.head
            .lines()
            .filter_map(|line| line.split_once(": "))
            .find(|(n, _)| n.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
    }
}

impl Port {
    async fn start() -> Self {
        Self::with(
            Pauses {
                slow: Duration::ZERO,
                late: Duration::from_hours(1),
            },
            Vec::new(),
        )
        .await
    }

    async fn with_keys(keys: Vec<Key>) -> Self {
        Self::with(Pauses::default(), keys).await
    }

    async fn with(pauses: Pauses, keys: Vec<Key>) -> Self {
        let folder = tempfile::tempdir().expect("folder");
        Self::open(folder, pauses, keys).await
    }

    async fn open(folder: TempDir, pauses: Pauses, keys: Vec<Key>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("port");
        let address = listener.local_addr().expect("address");
        let store = Store::open(&folder.path().join(FILE)).expect("store");
        let desk = Desk::new(
            store,
            Keys::fixed(keys),
            Arc::new(StandingClock(NOW)),
            pauses,
            Hosts::Loopback,
        );
        let (stop, stopped) = oneshot::channel();
        let serving = tokio::spawn(connection::serve(listener, router::router(desk), async {
            drop(stopped.await);
        }));
        Self {
            folder,
            address,
            stop: Some((stop, serving)),
        }
    }

    /// Stops the receivers and starts them again over the same file.
    async fn restarted(mut self) -> Self {
        let (stop, serving) = self.stop.take().expect("running");
        stop.send(()).expect("running");
        serving.await.expect("stopped");
        Self::open(self.folder, Pauses::default(), Vec::new()).await
    }

    /// Sends a request and gives every byte that comes back until the connection ends.
    async fn raw(&self, request: Vec<u8>) -> Vec<u8> {
        let address = self.address;
        let talk = move || {
            let mut stream = TcpStream::connect(address).expect("connected");
            stream.set_read_timeout(Some(DEADLINE)).expect("limit");
            stream.write_all(&request).expect("sent");
            let mut came = Vec::new();
            match stream.read_to_end(&mut came) {
                Ok(_) => {}
                Err(error) => {
                    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset, "{error}");
                }
            }
            came
        };
        tokio::task::spawn_blocking(talk).await.expect("talk")
    }

    async fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let came = self.raw(request(method, path, headers, body)).await;
        let text = String::from_utf8(came).expect("text");
        let (head, body) = text
            .split_once("\r\n\r\n")
            .unwrap_or_else(|| panic!("an answer: {text:?}"));
        let status = head
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok())
            .expect("status");
        Answer {
            status,
            head: head.to_owned(),
            body: body.to_owned(),
        }
    }

    /// A delivery as Switchboard makes it.
    async fn deliver(&self, to: &str, key: &str, kind: &str, action: &str, body: &str) -> Answer {
        self.ask("POST", to, &delivery(key, kind, action), body.as_bytes())
            .await
    }

    async fn switch(&self, to: &str) {
        let answer = self.ask("POST", to, &[], b"").await;
        assert_eq!(answer.status, 200, "{answer:?}");
    }

    async fn books(&self) -> Value {
        let answer = self.ask("GET", "/books", &[], b"").await;
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()
    }
}

fn delivery<'a>(key: &'a str, kind: &'a str, action: &'a str) -> [(&'a str, &'a str); 6] {
    [
        ("Idempotency-Key", key),
        ("Switchboard-Event", "evt_aaaaaaaaaaaaaaaaaaaaaaaaaa"),
        ("Switchboard-Source", "shop"),
        ("Switchboard-Kind", kind),
        ("Switchboard-Action", action),
        ("Switchboard-Attempt", "1"),
    ]
}

fn request(method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let own_host = headers.iter().any(|(name, _)| *name == "Host");
    let host = if own_host {
        None
    } else {
        Some(("Host", "127.0.0.1:3001"))
    };
    let length = body.len().to_string();
    let of_the_connection = [("Connection", "close"), ("Content-Length", length.as_str())];
    let all = of_the_connection.iter().chain(&host).chain(headers);
    let lines: String = all
        .map(|(name, value)| [name, ": ", value, "\r\n"].concat())
        .collect();
    let head = format!("{method} {path} HTTP/1.1\r\n{lines}\r\n");
    [head.as_bytes(), body].concat()
}
