//! A client's side of one HTTP/1.1 connection, as thin as can be: what it takes is taken from what is measured.

use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// One connection, used for one request after the other.
pub(crate) struct Wire {
    stream: TcpStream,
    read: Vec<u8>,
    /// Where the body begins in what was read.
    head: usize,
}

impl Wire {
    pub(crate) async fn connect(address: &str) -> io::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            read: Vec::with_capacity(1024),
            head: 0,
        })
    }

    /// Sends a request and reads the whole answer; its status.
    pub(crate) async fn ask(&mut self, request: &[u8]) -> io::Result<u16> {
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
        let length = text
            .lines()
            .filter_map(|line| line.split_once(':'))
            .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
            .and_then(|(_, value)| value.trim().parse::<usize>().ok());
        let (Some(status), Some(length)) = (status, length) else {
            return Err(io::ErrorKind::InvalidData.into());
        };
        while self.read.len() < head + length {
            self.more().await?;
        }
        self.head = head;
        Ok(status)
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
