//! A sender written by hand: every byte that it says is the test's.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Longer than anything that is waited for takes, on a busy machine too.
pub(crate) const LONG: Duration = Duration::from_secs(20);

/// What `future` gives, within a deadline.
pub(crate) async fn soon<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(LONG, future)
        .await
        .expect("done within the deadline")
}

/// An answer as it came.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    /// A header's value.
    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        self.head
            .lines()
            .filter_map(|line| line.split_once(": "))
            .find(|(n, _)| n.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
    }
}

/// One connection of a sender.
pub(crate) struct Sender(pub(crate) TcpStream);

impl Sender {
    pub(crate) async fn to(at: SocketAddr) -> Self {
        Self(soon(TcpStream::connect(at)).await.expect("a connection"))
    }

    /// Says these bytes; `None` when nobody listens any more.
    pub(crate) async fn say(&mut self, bytes: impl AsRef<[u8]>) -> Option<()> {
        soon(self.0.write_all(bytes.as_ref())).await.ok()
    }

    /// The next answer; `None` when the connection was closed instead.
    pub(crate) async fn answer(&mut self) -> Option<Answer> {
        soon(self.read_answer()).await
    }

    async fn read_answer(&mut self) -> Option<Answer> {
        let mut answer = self.read_head().await?;
        let length = answer
            .value("content-length")
            .map_or(0, |value| value.parse::<u64>().expect("a length"));
        let mut rest = (&mut self.0).take(length);
        rest.read_to_string(&mut answer.body).await.ok()?;
        Some(answer)
    }

    /// The next answer's head: the whole of it, where the request was a HEAD.
    pub(crate) async fn read_head(&mut self) -> Option<Answer> {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(self.0.read_u8().await.ok()?);
        }
        let head = String::from_utf8(head).expect("text");
        Some(Answer {
            status: head.get(9..12)?.parse().ok()?,
            head,
            body: String::new(),
        })
    }

    /// Whether the connection is closed, by now or within the deadline, without another byte.
    pub(crate) async fn is_closed(&mut self) -> bool {
        let mut byte = [0];
        !matches!(soon(self.0.read(&mut byte)).await, Ok(n) if n > 0)
    }
}
