//! The one place where the present comes from.

use std::time::{Duration, Instant, SystemTime};

use switchboard_core::time::{Clock, Timestamp};

/// The machine's own clock.
#[derive(Debug)]
pub(crate) struct SystemClock {
    started: Instant,
}

impl SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the binary's clock file")]
    pub(crate) fn new() -> Self {
        Self {
            started: Instant::now(),
        }
    }
}

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the binary's clock file")]
    fn now(&self) -> Timestamp {
        let since = SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap_or_default();
        Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }

    fn ticks(&self) -> Duration {
        self.started.elapsed()
    }
}
