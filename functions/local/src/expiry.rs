//! Removes events past their life, a few at a time, while everything else goes on.

use std::sync::Arc;
use std::time::Duration;

use switchboard_core::fail::{self, FailPoint};
use switchboard_core::ports::{Ledger, Moved};
use switchboard_core::time::Clock;
use tokio::sync::watch;
use tokio::time::timeout;

/// How often it looks.
const EVERY: Duration = Duration::from_mins(1);
/// Most events removed by one step.
const STEP: u32 = 200;

/// Runs until `stop` says so.
pub(crate) async fn run<L: Ledger>(
    ledger: Arc<L>,
    clock: Arc<dyn Clock>,
    mut stop: watch::Receiver<bool>,
) {
    while !*stop.borrow() {
        fail::reach(FailPoint::BeforeExpiry);
        let expired = ledger.expire(clock.now(), STEP).await;
        fail::reach(FailPoint::AfterExpiry);
        match expired {
            Ok(Moved { left, .. }) if left > 0 => continue,
            Ok(_) => {}
            Err(error) => tracing::error!(error = %error.line(), "expiry failed; trying again"),
        }
        drop(timeout(EVERY, stop.changed()).await);
    }
}
