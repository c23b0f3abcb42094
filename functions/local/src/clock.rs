//! The one place where the present comes from.

use std::time::{Duration, Instant, SystemTime};

use switchboard_core::time::{Clock, Timestamp};

use crate::end::Failed;

/// Refuses to serve by a clock that is wrong by centuries. The HTTP library writes each answer's date by the machine's
/// clock, also where the header is turned off, and breaks off at one that has no date: every request would be reset.
pub(crate) fn check(now: Timestamp) -> Result<(), Failed> {
    if now.can_be_a_date() {
        return Ok(());
    }
    Err(Failed::new(
        "the clock of this machine is not between the years 1970 and 9999: set it right",
    ))
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_has_no_date_is_refused_by_name() {
        for millis in [0, 253_402_300_800_000] {
            let Err(Failed::Command(line)) = check(Timestamp::from_millis(millis)) else {
                panic!("{millis} is no date");
            };
            assert!(line.contains("the clock of this machine"), "{line}");
        }
        assert_eq!(check(SystemClock::new().now()), Ok(()));
    }
}
