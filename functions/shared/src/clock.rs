//! The one place of the functions where the present comes from.

use std::time::{Duration, Instant, SystemTime};

use switchboard_core::time::{Clock, Timestamp};

/// The machine's own clock.
#[derive(Debug)]
pub struct SystemClock {
    started: Instant,
}

impl SystemClock {
    /// A clock whose ticks begin now.
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the functions' clock file"
    )]
    #[expect(
        clippy::new_without_default,
        reason = "a clock is made once, by whoever starts the process"
    )]
    pub fn new() -> Self {
        Self {
            started: Instant::now(),
        }
    }
}

impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the functions' clock file"
    )]
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
