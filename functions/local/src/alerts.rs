//! Tells alerts beside everything else: a receiver that is slow or gone holds up nothing but its own alerts.

use std::time::Duration;

use switchboard_core::alert::Teller;
use switchboard_core::ports::{AlertStore, Transport};
use tokio::sync::watch;
use tokio::time::timeout;

/// How often it looks.
const EVERY: Duration = Duration::from_secs(1);

/// Runs until `stop` says so; what is being told then is told to its end.
pub(crate) async fn run<B: AlertStore, T: Transport>(
    mut teller: Teller<B, T>,
    mut stop: watch::Receiver<bool>,
) {
    let mut failing = false;
    while !*stop.borrow() {
        let failed = teller.round().await.err();
        if let Some(error) = failed.as_ref().filter(|_| !failing) {
            tracing::error!(error = %error.line(), "alerts cannot be looked after; trying again");
        }
        failing = failed.is_some();
        drop(timeout(EVERY, stop.changed()).await);
    }
}
