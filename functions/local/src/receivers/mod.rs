//! The sample receivers: five destinations on one port, each of which keeps a small book, applies a delivery once per
//! idempotency key, and can be told to be slow, late, failing or down.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;

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
use store::{Store, StoreFault};

/// The file in the data folder that holds the books, the kept keys and the switches.
const FILE: &str = "receivers.sqlite";

/// Serves the receivers beside a Switchboard until `shutdown`, over the books in `folder`. `keys` are those that your
/// endpoint's stand-in checks copies with. Nobody waits for its end, so a failure is logged here.
pub(crate) async fn serve(
    listener: TcpListener,
    folder: PathBuf,
    keys: impl Into<Keys>,
    clock: Arc<dyn Clock>,
    shutdown: impl Future<Output = ()> + Send,
) {
    if let Err(error) = run(listener, &folder, keys.into(), clock, shutdown).await {
        tracing::error!("the sample receivers cannot run: {}", store::line(&error));
    }
}

/// The command `receivers`: only the receivers. Your endpoint's stand-in knows no secret then and refuses every copy.
pub(crate) async fn alone(
    command: command::Receivers,
    clock: Arc<dyn Clock>,
) -> Result<(), Failed> {
    let mut end = signals::End::new().map_err(Failed::new)?;
    let folder = command.data.folder;
    std::fs::create_dir_all(&folder).map_err(|error| {
        Failed::new(format_args!("{} cannot be made: {error}", folder.display()))
    })?;
    let listener = TcpListener::bind(command.listen).await.map_err(|error| {
        Failed::new(format_args!("cannot listen on {}: {error}", command.listen))
    })?;
    say(&format!(
        "receivers  http://{}/",
        listener.local_addr().map_err(Failed::new)?
    ));
    run(listener, &folder, Keys::none(), clock, end.asked())
        .await
        .map_err(|error| Failed::new(store::line(&error)))
}

async fn run(
    listener: TcpListener,
    folder: &Path,
    keys: Keys,
    clock: Arc<dyn Clock>,
    shutdown: impl Future<Output = ()> + Send,
) -> Result<(), StoreFault> {
    let store = Store::open(&folder.join(FILE))?;
    let only_this_machine = listener
        .local_addr()
        .is_ok_and(|address| address.ip().is_loopback());
    let desk = Desk::new(
        store,
        keys,
        clock,
        Pauses::default(),
        guard::Hosts::of(only_this_machine),
    );
    connection::serve(listener, router::router(desk), shutdown).await;
    Ok(())
}
