//! A port, taken in two steps: bound it is known to be free, and only listening does it take connections.

use std::io;
use std::net::SocketAddr;

use tokio::net::{TcpListener, TcpSocket};

use crate::end::Failed;

/// As many connections may wait to be accepted as the system allows.
const BACKLOG: u32 = u32::MAX;

/// A port that is ours and takes no connection yet.
pub(crate) struct Port {
    socket: TcpSocket,
    address: SocketAddr,
    flag: &'static str,
}

impl Port {
    /// Takes the port of an address, which `flag` gave.
    pub(crate) fn bind(address: SocketAddr, flag: &'static str) -> Result<Self, Failed> {
        bound(address)
            .map(|socket| Self {
                socket,
                address,
                flag,
            })
            .map_err(|error| refused(address, flag, &error))
    }

    /// From here on connections come.
    pub(crate) fn listen(self) -> Result<TcpListener, Failed> {
        let (address, flag) = (self.address, self.flag);
        self.socket
            .listen(BACKLOG)
            .map_err(|error| refused(address, flag, &error))
    }
}

fn bound(address: SocketAddr) -> io::Result<TcpSocket> {
    let socket = if address.is_ipv4() {
        TcpSocket::new_v4()?
    } else {
        TcpSocket::new_v6()?
    };
    // A restart takes the port over from connections that are ending, never from one that listens.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    Ok(socket)
}

fn refused(address: SocketAddr, flag: &str, error: &io::Error) -> Failed {
    Failed::new(format_args!(
        "cannot listen on {address}: {error}; give another address with {flag}"
    ))
}
