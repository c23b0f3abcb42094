//! A request written byte by byte, where a test needs what a client library would not send or show.

use std::fmt::Write as _;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use url::Url;

use crate::wait::DEADLINE;

/// An answer as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The status.
    pub status: u16,
    /// Status line and headers.
    pub head: String,
    /// What came behind them.
    pub body: String,
}

impl Reply {
    /// A header's text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head
            .lines()
            .filter_map(|line| line.split_once(':'))
            .find(|(found, _)| found.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.trim())
    }
}

/// Sends a request for `path` to where `base` is, with these header lines and its body's length, and reads the answer
/// until the connection is closed.
pub async fn ask(
    base: &Url,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Reply {
    let length = body.len().to_string();
    let headers = [headers, &[("content-length", &length)]].concat();
    raw(base, method, path, &headers, body).await
}

/// [`ask`], with no other header lines than those that are given.
pub async fn raw(
    base: &Url,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Reply {
    let mut text = format!("{method} {path} HTTP/1.1\r\nconnection: close\r\n");
    for (name, value) in headers {
        let _ = write!(text, "{name}: {value}\r\n");
    }
    text.push_str("\r\n");
    text.push_str(body);
    let host = base.host_str().expect("a host");
    let port = base.port_or_known_default().expect("a port");
    let exchange = async {
        let mut stream = TcpStream::connect((host, port)).await?;
        stream.write_all(text.as_bytes()).await?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await?;
        std::io::Result::Ok(answer)
    };
    let answer = timeout(DEADLINE, exchange)
        .await
        .expect("an answer in time")
        .expect("an answer");
    let answer = String::from_utf8_lossy(&answer);
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
    let status = head
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok());
    Reply {
        status: status.unwrap_or_else(|| panic!("no status: {head}")),
        head: head.to_owned(),
        body: body.to_owned(),
    }
}
