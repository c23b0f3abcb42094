//! The sample receivers: five destinations on one port, each of which keeps a small book, applies a delivery once per
//! idempotency key, and can be told to be slow, late, failing or down.

use std::fs::OpenOptions;
use std::future::Future;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;

use switchboard_core::fail::{self, FailPoint};
use switchboard_core::failure::line;
use switchboard_core::time::Clock;
use tokio::net::TcpListener;

use crate::command;
use crate::end::{Failed, say};
use crate::signals;

mod body;
mod book;
mod connection;
mod delivery;
mod guard;
mod keys;
mod mode;
mod page;
mod router;
mod store;
#[cfg(test)]
mod tests;

pub(crate) use keys::Keys;
use mode::Pauses;
use router::Desk;
use store::Store;

/// The file in the data folder that holds the books, the kept keys and the switches.
const FILE: &str = "receivers.sqlite";

/// The books of the receivers, open.
pub(crate) struct Books(Store);

/// Opens the books in `folder`, made if need be, for their owner only.
pub(crate) fn open(folder: &Path) -> Result<Books, Failed> {
    let path = folder.join(FILE);
    let made = std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder);
    let private = || {
        OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)
    };
    made.and_then(|()| private())
        .map_err(|error| Failed::new(format_args!("{} cannot be made: {error}", path.display())))?;
    fail::reach(FailPoint::ReceiversClaimed);
    let store = Store::open(&path).map_err(|fault| Failed::new(line(&fault)))?;
    Ok(Books(store))
}

/// Serves the receivers until `shutdown`. `keys` are those that your endpoint's stand-in checks copies with.
pub(crate) async fn serve(
    listener: TcpListener,
    books: Books,
    keys: impl Into<Keys>,
    clock: Arc<dyn Clock>,
    shutdown: impl Future<Output = ()> + Send,
) {
    let hosts = listener
        .local_addr()
        .map_or(guard::Hosts::Loopback, |address| {
            guard::Hosts::of(address.ip())
        });
    let desk = Desk::new(books.0, keys.into(), clock, Pauses::default(), hosts);
    connection::serve(listener, router::router(desk), shutdown).await;
}

/// The command `receivers`: only the receivers. Your endpoint's stand-in knows no secret then and refuses every copy.
pub(crate) async fn alone(
    command: command::Receivers,
    clock: Arc<dyn Clock>,
) -> Result<(), Failed> {
    let mut end = signals::End::new().map_err(Failed::new)?;
    let books = open(&command.data.folder)?;
    let listener = TcpListener::bind(command.listen).await.map_err(|error| {
        Failed::new(format_args!("cannot listen on {}: {error}", command.listen))
    })?;
    say(&format!(
        "receivers  http://{}/",
        listener.local_addr().map_err(Failed::new)?
    ));
    serve(listener, books, Keys::none(), clock, end.asked()).await;
    Ok(())
}
