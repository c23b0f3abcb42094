//! A destination written by hand: every byte that it says is the test's.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

/// What a connection runs over: plain or TLS.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// A request as it came.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Seen {
    /// Every value of a header.
    pub(crate) fn values(&self, name: &str) -> Vec<&str> {
        self.head
            .lines()
            .filter_map(|line| line.split_once(": "))
            .filter(|(n, _)| n.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
            .collect()
    }
}

/// One connection to the destination.
pub(crate) struct Connection {
    pub(crate) stream: Box<dyn Stream>,
    /// Its number, from 1.
    pub(crate) number: usize,
    seen: mpsc::UnboundedSender<Seen>,
}

impl Connection {
    /// Reads one request whole; `None` when the connection was closed before it.
    pub(crate) async fn request(&mut self) -> Option<()> {
        let head = self.head().await?;
        let length = head
            .lines()
            .find_map(|line| {
                line.to_ascii_lowercase()
                    .strip_prefix("content-length: ")?
                    .parse()
                    .ok()
            })
            .unwrap_or(0);
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).await.ok()?;
        self.seen.send(Seen { head, body }).ok()
    }

    /// Reads a request's head only.
    pub(crate) async fn head(&mut self) -> Option<String> {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(self.stream.read_u8().await.ok()?);
        }
        Some(String::from_utf8_lossy(&head).into_owned())
    }

    /// Says these bytes; `None` when nobody listens any more.
    pub(crate) async fn say(&mut self, bytes: impl AsRef<[u8]>) -> Option<()> {
        self.stream.write_all(bytes.as_ref()).await.ok()?;
        self.stream.flush().await.ok()
    }

    /// Waits until the other side has closed the connection.
    pub(crate) async fn closed(&mut self) {
        let mut rest = [0; 1024];
        while matches!(self.stream.read(&mut rest).await, Ok(n) if n > 0) {}
    }
}

/// A destination, listening.
pub(crate) struct Destination {
    pub(crate) at: SocketAddr,
    connections: Arc<AtomicUsize>,
    seen: mpsc::UnboundedReceiver<Seen>,
}

impl Destination {
    /// Listens on a free port; each connection is handled by `talk`.
    pub(crate) async fn start<F, T>(talk: F) -> Self
    where
        F: Fn(Connection) -> T + Send + 'static,
        T: Future<Output = Option<()>> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        Self::on(
            listener,
            |stream| async { Some(Box::new(stream) as _) },
            talk,
        )
    }

    /// Listens on `listener`; `wrap` makes of each socket what is talked over.
    pub(crate) fn on<W, V, F, T>(listener: TcpListener, wrap: W, talk: F) -> Self
    where
        W: Fn(tokio::net::TcpStream) -> V + Send + Sync + 'static,
        V: Future<Output = Option<Box<dyn Stream>>> + Send + 'static,
        F: Fn(Connection) -> T + Send + 'static,
        T: Future<Output = Option<()>> + Send + 'static,
    {
        let at = listener.local_addr().expect("an address");
        let connections = Arc::new(AtomicUsize::new(0));
        let (sender, seen) = mpsc::unbounded_channel();
        let count = Arc::clone(&connections);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let number = count.fetch_add(1, Ordering::SeqCst) + 1;
                let Some(stream) = wrap(stream).await else {
                    continue;
                };
                let seen = sender.clone();
                tokio::spawn(talk(Connection {
                    stream,
                    number,
                    seen,
                }));
            }
        });
        Self {
            at,
            connections,
            seen,
        }
    }

    /// Answers every request with these bytes and keeps the connection.
    pub(crate) async fn answering(answer: impl Into<Vec<u8>>) -> Self {
        let answer = Arc::new(answer.into());
        Self::start(move |mut connection| {
            let answer = Arc::clone(&answer);
            async move {
                loop {
                    connection.request().await?;
                    connection.say(&*answer).await?;
                }
            }
        })
        .await
    }

    /// Answers the first request of each connection with these bytes and closes it.
    pub(crate) async fn answering_once(answer: impl Into<Vec<u8>>) -> Self {
        let answer = Arc::new(answer.into());
        Self::start(move |mut connection| {
            let answer = Arc::clone(&answer);
            async move {
                connection.request().await?;
                connection.say(&*answer).await
            }
        })
        .await
    }

    /// How many connections there were.
    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// The next request that came.
    pub(crate) async fn next(&mut self) -> Seen {
        super::soon(self.seen.recv()).await.expect("a request")
    }

    /// Its address as a URL, with this host instead.
    pub(crate) fn url(&self, scheme: &str, host: &str) -> String {
        format!("{scheme}://{host}:{}/hook", self.at.port())
    }
}
