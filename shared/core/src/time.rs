//! Moments, as milliseconds since 1970 in UTC, and the clock port that makes them.

use std::fmt;
use std::time::Duration;

use serde::{Serialize, Serializer};

/// The first moment of the year 10000.
const YEAR_10000: i64 = 253_402_300_800_000;

/// A moment: milliseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The moment `millis` milliseconds after 1970.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// The moment `seconds` seconds after 1970.
    pub const fn from_seconds(seconds: i64) -> Self {
        Self(seconds.saturating_mul(1000))
    }

    /// Milliseconds since 1970.
    pub const fn millis(self) -> i64 {
        self.0
    }

    /// Whether the moment can stand in a `Date` header: after the beginning of 1970, where a clock that goes wrong downwards
    /// stops, and before the year 10000 (RFC 9110, four digits).
    pub const fn can_be_a_date(self) -> bool {
        0 < self.0 && self.0 < YEAR_10000
    }

    /// Reads a moment as it is shown, and any other spelling of ISO 8601 that says its distance from UTC; what is
    /// finer than a millisecond is cut off. `None` for anything else, and for what [can be no date](Self::can_be_a_date).
    pub fn parse(text: &str) -> Option<Self> {
        let read: jiff::Timestamp = text.parse().ok()?;
        Some(Self(read.as_millisecond())).filter(|moment| moment.can_be_a_date())
    }

    /// Whole seconds since 1970, rounded down: the unit of every sender's signed time.
    pub const fn seconds(self) -> i64 {
        self.0.div_euclid(1000)
    }

    /// This moment and `pause` more; stops at the end of time rather than wrapping.
    #[must_use]
    pub fn plus(self, pause: Duration) -> Self {
        let millis = i64::try_from(pause.as_millis()).unwrap_or(i64::MAX);
        Self(self.0.saturating_add(millis))
    }

    /// How long after `earlier` this is; nothing when it is not after it.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

impl fmt::Display for Timestamp {
    /// ISO 8601 in UTC with milliseconds, as in `2026-01-31T09:00:00.250Z`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(moment) => write!(f, "{moment:.3}"),
            Err(_) => write!(f, "{} ms", self.0),
        }
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A span of time as a configuration writes it: `7d`, `1m 30s`.
pub(crate) fn span(span: Duration) -> String {
    let text = humantime::format_duration(span).to_string();
    text.replace("days", "d").replace("day", "d")
}

/// Where moments come from: the binary's one clock file, or a test's hand.
pub trait Clock: Send + Sync + 'static {
    /// The present, by the wall clock.
    fn now(&self) -> Timestamp;

    /// Time since some fixed point, never going back: for durations only.
    fn ticks(&self) -> Duration;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_shown_in_utc_with_milliseconds() {
        assert_eq!(
            Timestamp::from_millis(1_764_446_400_250).to_string(),
            "2025-11-29T20:00:00.250Z"
        );
    }

    #[test]
    fn a_moment_is_read_as_it_is_shown_and_in_another_zone() {
        let shown = "2025-11-29T20:00:00.250Z";
        let moment = Timestamp::from_millis(1_764_446_400_250);
        for text in [
            shown,
            "2025-11-29T20:00:00.2509Z",
            "2025-11-29T21:00:00.25+01:00",
        ] {
            assert_eq!(Timestamp::parse(text), Some(moment), "{text}");
        }
        for text in [
            "",
            "yesterday",
            "2025-11-29",
            "2025-11-29T20:00:00",
            "2025-13-29T20:00:00Z",
            "1764446400250",
            "1969-12-31T23:59:59Z",
            "-000001-01-01T00:00:00Z",
        ] {
            assert_eq!(Timestamp::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_date_is_after_the_beginning_of_1970_and_of_four_digits() {
        for (millis, can) in [
            (i64::MIN, false),
            (0, false),
            (1, true),
            (253_402_300_799_999, true),
            (253_402_300_800_000, false),
            (i64::MAX, false),
        ] {
            let moment = Timestamp::from_millis(millis);
            assert_eq!(moment.can_be_a_date(), can, "{moment}");
        }
    }

    #[test]
    fn a_span_is_written_as_a_configuration_writes_it() {
        for text in ["0s", "1d", "7d", "6d 23h 59m 59s", "12m", "10ms"] {
            let read = humantime::parse_duration(text).expect("a span");
            assert_eq!(span(read), text);
        }
    }

    #[test]
    fn moments_stop_at_the_end_of_time_instead_of_wrapping() {
        let last = Timestamp::from_millis(i64::MAX);
        assert_eq!(last.plus(Duration::from_secs(9)), last);
        assert_eq!(Timestamp::from_millis(0).since(last), Duration::ZERO);
        assert_eq!(Timestamp::from_millis(-1).seconds(), -1);
    }
}
