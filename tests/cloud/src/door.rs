//! The front door for whoever runs it: whether it can be opened, and what is needed behind it.

use std::fmt::Write as _;
use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener};

use crate::aws::{ACCOUNT, REGION};
use crate::deployed::Deployed;

/// Whether it can be opened there; else why not, and what to do.
pub fn is_free(listen: SocketAddr) -> Result<(), String> {
    match TcpListener::bind(listen) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AddrInUse => Err(format!(
            "{listen} is taken, perhaps by another run of this: end that first, or see what it has to show at http://{listen}/"
        )),
        Err(error) => Err(format!("{listen} cannot be listened on: {error}")),
    }
}

/// Where everything is, and what opens it.
pub async fn told(deployed: &Deployed) -> String {
    let url = deployed.url();
    let mut text = format!("It stays until it is told to stop (ctrl-c).\npage         {url}\n");
    let (token, emulator) = (deployed.token().await, deployed.emulator());
    let _ = writeln!(text, "admin token  {token}");
    let _ = writeln!(
        text,
        "emulator     {emulator} (AWS_ACCESS_KEY_ID={ACCOUNT}, any secret, AWS_REGION={REGION})"
    );
    let _ = write!(text, "log          {}", deployed.log_file().display());
    text
}
