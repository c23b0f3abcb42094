//! The one place that reads a clock, and how a length of time is written for a person.

use std::time::{Duration, Instant};

/// A running stopwatch.
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts one.
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the clock file of the tool; nothing is decided by it"
    )]
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    /// The time since its start.
    pub(crate) fn read(&self) -> Duration {
        self.0.elapsed()
    }
}

/// `0.4 s`, or `2 min 03 s` from a minute on.
pub(crate) fn written(time: Duration) -> String {
    let seconds = time.as_secs();
    if seconds < 60 {
        format!("{:.1} s", time.as_secs_f64())
    } else {
        format!("{} min {:02} s", seconds / 60, seconds % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minute_and_more_is_written_in_minutes() {
        assert_eq!(written(Duration::from_millis(420)), "0.4 s");
        assert_eq!(written(Duration::from_secs(59)), "59.0 s");
        assert_eq!(written(Duration::from_secs(123)), "2 min 03 s");
    }
}
