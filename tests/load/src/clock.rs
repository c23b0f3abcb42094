//! The one place where the present comes from. Processes compare moments, so it is the machine's wall clock.

use std::time::{Duration, Instant, SystemTime};

/// Nanoseconds since 1970.
#[expect(clippy::disallowed_methods, reason = "this is the clock file")]
pub(crate) fn now_ns() -> u64 {
    let since = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// A stopwatch, started now.
#[expect(clippy::disallowed_methods, reason = "this is the clock file")]
pub(crate) fn started() -> Instant {
    Instant::now()
}

/// Waits for a moment of a rate that was planned before.
pub(crate) async fn at(start: Instant, after: Duration) {
    tokio::time::sleep_until(tokio::time::Instant::from_std(start) + after).await;
}
