//! Whether an emulator that was started answers.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::Child;
use std::time::Duration;

/// How often it is asked, and how long between two asks; it takes about half a second on a machine that does nothing else.
const ASKS: u32 = 600;
const BETWEEN: Duration = Duration::from_millis(50);

/// What became of a start.
pub(super) enum Ready {
    /// It answers.
    Yes,
    /// It runs and does not answer.
    Silent,
    /// It ended, in the way that is said.
    Ended(String),
}

/// Asks until it answers or ends.
pub(super) fn wait(address: SocketAddr, folder: &Path, holder: &mut Child) -> Ready {
    // Written when it has found the port free: before that another process may answer there.
    let claimed = folder.join(format!("ministack-{}.pid", address.port()));
    for _ in 0..ASKS {
        let answers = claimed.exists() && answers(address).unwrap_or(false);
        match holder.try_wait() {
            Ok(None) if answers => return Ready::Yes,
            Ok(None) => std::thread::sleep(BETWEEN),
            Ok(Some(status)) => return Ready::Ended(status.to_string()),
            Err(cause) => return Ready::Ended(cause.to_string()),
        }
    }
    Ready::Silent
}

fn answers(address: SocketAddr) -> io::Result<bool> {
    let mut stream = TcpStream::connect_timeout(&address, BETWEEN)?;
    stream.set_read_timeout(Some(Duration::from_secs(1)))?;
    write!(
        stream,
        "GET /_ministack/health HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n"
    )?;
    let mut status = [0; 12];
    stream.read_exact(&mut status)?;
    Ok(status == *b"HTTP/1.1 200")
}
