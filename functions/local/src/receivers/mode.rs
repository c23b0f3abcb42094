//! The switches: how a receiver behaves, for one request or until it is told otherwise.

use std::time::Duration;

/// How a receiver behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Applies and answers at once.
    Ok,
    /// Applies at once and answers late, but within a destination's time limit.
    Slow,
    /// Applies at once and answers when nobody listens any more, as one whose work takes too long. A copy of what was
    /// applied costs no work, so here as in `Slow` it is answered at once.
    Late,
    /// Answers 500 and applies nothing.
    Fail,
    /// Closes the connection without an answer and applies nothing.
    Down,
}

impl Mode {
    /// Every mode, in the order in which the page offers them.
    pub(super) const ALL: [Self; 5] = [Self::Ok, Self::Slow, Self::Late, Self::Fail, Self::Down];

    /// Its name in `?mode=`.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Slow => "slow",
            Self::Late => "late",
            Self::Fail => "fail",
            Self::Down => "down",
        }
    }

    /// The mode of that name.
    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.name() == name)
    }
}

/// How long the two slow modes take to answer what they applied.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pauses {
    /// Within the time limit of a destination, which is 3 s.
    pub(super) slow: Duration,
    /// Over it.
    pub(super) late: Duration,
}

impl Default for Pauses {
    fn default() -> Self {
        Self {
            slow: Duration::from_secs(1),
            late: Duration::from_secs(4),
        }
    }
}

impl Pauses {
    /// Waits as long as `mode` takes with the answer to what it applied.
    pub(super) async fn before_answer(self, mode: Mode) {
        let pause = match mode {
            Mode::Ok | Mode::Fail | Mode::Down => return,
            Mode::Slow => self.slow,
            Mode::Late => self.late,
        };
        drop(tokio::time::timeout(pause, std::future::pending::<()>()).await);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use switchboard_core::configuration::TIME_LIMIT;

    #[test]
    fn slow_is_within_a_destinations_time_limit_and_late_is_over_it() {
        let pauses = Pauses::default();
        assert!(
            pauses.slow < TIME_LIMIT,
            "slow is delivered at the first attempt"
        );
        assert!(
            pauses.late > TIME_LIMIT,
            "late is applied and attempted again"
        );
    }

    #[test]
    fn a_mode_is_known_by_its_name_only() {
        for mode in Mode::ALL {
            assert_eq!(Mode::named(mode.name()), Some(mode));
        }
        assert_eq!(Mode::named("Fail"), None);
        assert_eq!(Mode::named(""), None);
    }
}
