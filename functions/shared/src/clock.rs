//! The one place of the functions where the present comes from. Debug builds may live ahead of it: `SWITCHBOARD_CLOCK_AHEAD`
//! says by how many seconds, so that a test need not wait for what is due then.

use std::time::{Duration, Instant, SystemTime};

use switchboard_core::time::{Clock, Timestamp};

use crate::environment::Environment;

/// By how much a debug build's clock is ahead.
const AHEAD: &str = "SWITCHBOARD_CLOCK_AHEAD";

/// The machine's own clock.
#[derive(Debug)]
pub struct SystemClock {
    started: Instant,
    ahead: Duration,
}

/// How far ahead of the machine's clock this process is to live: not at all in a release build.
pub(crate) fn ahead(environment: &Environment) -> Duration {
    if !cfg!(debug_assertions) || environment.given(AHEAD).is_none() {
        return Duration::ZERO;
    }
    let seconds = environment.parsed(AHEAD, "a number of seconds", |value| value.parse().ok());
    Duration::from_secs(seconds.unwrap_or_default())
}

impl SystemClock {
    /// A clock whose ticks begin now, and whose present is so far ahead of the machine's.
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the functions' clock file"
    )]
    pub fn new(ahead: Duration) -> Self {
        Self {
            started: Instant::now(),
            ahead,
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
        let since = since.saturating_add(self.ahead);
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
    fn a_debug_build_lives_ahead_as_it_is_told_and_what_is_no_number_is_a_fault() {
        let told = |value: &str| {
            let variables = [(AHEAD.to_owned(), value.to_owned())];
            variables.into_iter().collect::<Environment>()
        };
        let hour = told("3600");
        assert_eq!(ahead(&hour), Duration::from_hours(1));
        let clocks = [Duration::ZERO, ahead(&hour)].map(SystemClock::new);
        let [present, later] = clocks.map(|clock| clock.now());
        assert!(later.since(present) >= Duration::from_hours(1), "{later:?}");
        assert_eq!(ahead(&Environment::default()), Duration::ZERO);
        let soon = told("soon");
        assert_eq!(ahead(&soon), Duration::ZERO);
        assert!(soon.whole(Some(())).is_err(), "it is told");
    }
}
