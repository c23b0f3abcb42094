//! Connects, past the address guard: a name is resolved, every address of it judged, and the connection made to one
//! of exactly those addresses. One forbidden address refuses them all.

use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt};
use http::Uri;
use hyper_util::rt::TokioIo;
use switchboard_core::address::{Forbidden, Networks, judge};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tower::Service;

use super::resolve::Resolver;

/// Most addresses of one name that are tried.
const MOST_ADDRESSES: usize = 8;

/// Why no connection was made. Quotes no address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ConnectFault {
    #[error("the name does not resolve")]
    Unresolved,
    #[error("the address is not allowed")]
    Forbidden(#[source] Forbidden),
    #[error("no address of it takes connections")]
    NoConnection,
}

/// Where connections may go, and how they are made.
pub(super) struct Guard {
    pub(super) resolver: Arc<dyn Resolver>,
    pub(super) networks: Networks,
    pub(super) platform: Vec<SocketAddr>,
    pub(super) next_address: Duration,
    pub(super) connect_time: Duration,
}

impl Guard {
    async fn connect(&self, uri: &Uri) -> Result<TcpStream, ConnectFault> {
        let host = uri.host().ok_or(ConnectFault::Unresolved)?;
        let port = uri.port_u16().unwrap_or_else(|| default_port(uri));
        let addresses = self.judged(host, port).await?;
        let stream = self.first_to_stand(&addresses).await?;
        // A request is written at once; waiting for more to send would only hold it up.
        let _ = stream.set_nodelay(true);
        Ok(stream)
    }

    /// Every address of `host`, all of them allowed.
    async fn judged(&self, host: &str, port: u16) -> Result<Vec<SocketAddr>, ConnectFault> {
        let found = match literal(host) {
            Some(found) => found,
            None => self
                .resolver
                .resolve(host)
                .await
                .map_err(|_| ConnectFault::Unresolved)?,
        };
        if found.is_empty() {
            return Err(ConnectFault::Unresolved);
        }
        let addresses: Vec<_> = found
            .into_iter()
            .map(|ip| SocketAddr::new(ip, port))
            .collect();
        for address in &addresses {
            judge(*address, self.networks, &self.platform).map_err(ConnectFault::Forbidden)?;
        }
        Ok(addresses)
    }

    /// The first connection that stands. Each address waits a moment for the one before it, or until that has failed,
    /// so that one which swallows everything does not use up the time limit.
    async fn first_to_stand(&self, addresses: &[SocketAddr]) -> Result<TcpStream, ConnectFault> {
        let mut left: VecDeque<_> = addresses.iter().copied().take(MOST_ADDRESSES).collect();
        let mut under_way = FuturesUnordered::new();
        loop {
            if let Some(address) = left.pop_front() {
                under_way.push(TcpStream::connect(address));
            } else if under_way.is_empty() {
                return Err(ConnectFault::NoConnection);
            }
            if let Ok(Some(Ok(stream))) = timeout(self.next_address, under_way.next()).await {
                return Ok(stream);
            }
        }
    }
}

fn default_port(uri: &Uri) -> u16 {
    if uri.scheme_str() == Some("https") {
        443
    } else {
        80
    }
}

/// The addresses of a host that needs no resolving: an address itself, or a name of this machine (RFC 6761).
fn literal(host: &str) -> Option<Vec<IpAddr>> {
    let bare = host
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .unwrap_or(host);
    if let Ok(ip) = bare.parse() {
        return Some(vec![ip]);
    }
    let name = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
    (name == "localhost" || name.ends_with(".localhost"))
        .then(|| vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()])
}

/// The guard, as what a client connects with.
#[derive(Clone)]
pub(super) struct Connector(Arc<Guard>);

impl Connector {
    pub(super) fn new(guard: Guard) -> Self {
        Self(Arc::new(guard))
    }
}

impl Service<Uri> for Connector {
    type Response = TokioIo<TcpStream>;
    type Error = ConnectFault;
    type Future = BoxFuture<'static, Result<Self::Response, ConnectFault>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ConnectFault>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let guard = Arc::clone(&self.0);
        Box::pin(async move {
            timeout(guard.connect_time, guard.connect(&uri))
                .await
                .unwrap_or(Err(ConnectFault::NoConnection))
                .map(TokioIo::new)
        })
    }
}
