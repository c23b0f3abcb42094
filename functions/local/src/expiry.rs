//! Removes events past their life, a few at a time, while everything else goes on.

use std::sync::Arc;
use std::time::Duration;

use switchboard_core::ports::Ledger;
use switchboard_core::time::Clock;
use tokio::sync::watch;
use tokio::time::timeout;

/// How often it looks.
const EVERY: Duration = Duration::from_secs(60);
/// Most events removed by one step.
const STEP: u32 = 200;

/// Runs until `stop` says so.
pub(crate) async fn run<L: Ledger>(ledger: Arc<L>, clock: Arc<dyn Clock>, mut stop: watch::Receiver<bool>) {
    while !*stop.borrow() {
        match ledger.expire(clock.now(), STEP).await {
            // A full step: there may be more.
            Ok(removed) if removed == STEP => continue,
            Ok(0) => {}
            Ok(removed) => tracing::info!(removed, "events past their life removed"),
            Err(error) => tracing::error!(error = %error.line(), "expiry failed; trying again"),
        }
        drop(timeout(EVERY, stop.changed()).await);
    }
}
