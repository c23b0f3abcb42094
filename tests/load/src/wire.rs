//! A client's side of one HTTP/1.1 connection, as thin as can be: what it takes is taken from what is measured.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// What is looked at of an answer's head.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) has_retry_after: bool,
}

/// One connection, used for one request after the other.
pub(crate) struct Wire {
    stream: TcpStream,
    read: Vec<u8>,
    /// Where the body begins in what was read.
    head: usize,
}

impl Wire {
    async fn connect(address: &str) -> io::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            read: Vec::with_capacity(1024),
            head: 0,
        })
    }

    /// Asks over a connection that is there already, or over a new one to `address`: the connection, which can be used
    /// again, and the answer. `None` when it did not come whole within `patience`.
    pub(crate) async fn asked(
        wire: Option<Self>,
        address: &str,
        request: &[u8],
        patience: Duration,
    ) -> Option<(Self, Answer)> {
        let asked = timeout(patience, async {
            let mut wire = match wire {
                Some(wire) => wire,
                None => Self::connect(address).await?,
            };
            let answer = wire.ask(request).await?;
            io::Result::Ok((wire, answer))
        });
        asked.await.ok()?.ok()
    }

    /// Sends a request and reads the whole answer.
    async fn ask(&mut self, request: &[u8]) -> io::Result<Answer> {
        self.stream.write_all(request).await?;
        self.read.clear();
        let head = loop {
            if let Some(end) = self.read.windows(4).position(|four| four == b"\r\n\r\n") {
                break end + 4;
            }
            self.more().await?;
        };
        let text = String::from_utf8_lossy(self.read.get(..head).unwrap_or_default());
        let status = text.get(9..12).and_then(|digits| digits.parse().ok());
        let header = |wanted: &str| {
            let mut lines = text.lines().filter_map(|line| line.split_once(':'));
            lines
                .find(|(name, _)| name.eq_ignore_ascii_case(wanted))
                .map(|(_, value)| value.trim())
        };
        let length = header("content-length").and_then(|value| value.parse::<usize>().ok());
        let (Some(status), Some(length)) = (status, length) else {
            return Err(io::ErrorKind::InvalidData.into());
        };
        let answer = Answer {
            status,
            // Looked for where it is promised only: this is time that is taken from what is measured.
            has_retry_after: status == 503
                && header("retry-after").is_some_and(|value| value.parse::<u32>().is_ok()),
        };
        while self.read.len() < head + length {
            self.more().await?;
        }
        self.head = head;
        Ok(answer)
    }

    /// The id of the event in the last answer.
    pub(crate) fn event(&self) -> Option<&str> {
        let body = std::str::from_utf8(self.body()).ok()?;
        let (_, rest) = body.split_once(r#""event":""#)?;
        rest.split_once('"').map(|(event, _)| event)
    }

    /// The body of the last answer.
    pub(crate) fn body(&self) -> &[u8] {
        self.read.get(self.head..).unwrap_or_default()
    }

    async fn more(&mut self) -> io::Result<()> {
        match self.stream.read_buf(&mut self.read).await? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }
}
