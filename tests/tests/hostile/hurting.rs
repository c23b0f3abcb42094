//! A destination that hurts, on a port of its own: what it does is said when it is started.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use switchboard_tests::wait;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// The pause between two drops.
const DROP: Duration = Duration::from_millis(100);

/// One that hurts.
pub(crate) struct Hurting {
    pub(crate) at: SocketAddr,
    connections: Arc<AtomicUsize>,
}

impl Hurting {
    /// One that does this with each connection, which it is given with its number, from 0.
    pub(crate) async fn start<F>(
        does: impl Fn(TcpStream, usize) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Option<()>> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let at = listener.local_addr().expect("an address");
        let connections = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&connections);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(does(stream, count.fetch_add(1, Ordering::SeqCst)));
            }
        });
        Self { at, connections }
    }

    /// How often it was connected to.
    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

/// Reads a request's head and its body; `None` when it does not come whole.
pub(crate) async fn request(stream: &mut TcpStream) -> Option<()> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).await.ok()?;
        head.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&head).to_ascii_lowercase();
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: ")?.parse().ok())?;
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok().map(|_| ())
}

pub(crate) async fn say(stream: &mut TcpStream, text: &str) -> Option<()> {
    stream.write_all(text.as_bytes()).await.ok()
}

/// Says something again and again, with a pause behind each, until nobody takes it.
pub(crate) async fn drip(stream: &mut TcpStream, text: &str) -> Option<()> {
    loop {
        say(stream, text).await?;
        wait::between(DROP).await;
    }
}

/// Says something again and again as fast as it is taken, until nobody takes it.
pub(crate) async fn pour(stream: &mut TcpStream, text: &str) -> Option<()> {
    let much = text.repeat((16 * 1024 / text.len()).max(1));
    loop {
        say(stream, &much).await?;
        // With nobody else running on this thread it would never let the others go on.
        tokio::task::yield_now().await;
    }
}

/// Waits until the other side closes.
pub(crate) async fn until_closed(stream: &mut TcpStream) -> Option<()> {
    let mut buffer = [0; 1024];
    while stream.read(&mut buffer).await.ok()? > 0 {}
    Some(())
}
