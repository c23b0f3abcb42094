//! The last hour as operators see it: what happened in each minute, how each destination does, and when something last
//! came from each source.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;

use crate::delivery::{AttemptRecord, Verdict};
use crate::names::{DestinationName, SourceName};
use crate::time::Timestamp;

/// How many minutes are shown, the running one among them.
pub const MINUTES: usize = 60;

/// What happened in one minute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize)]
pub struct Minute {
    /// Events stored.
    pub events: u64,
    /// Attempts that delivered.
    pub deliveries: u64,
    /// Attempts that failed.
    pub failures: u64,
}

/// The last attempt at a destination that failed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct LastFailure {
    /// When it ended.
    pub at: Timestamp,
    /// The answer's status, or why there was none.
    pub why: String,
}

impl LastFailure {
    /// What an attempt tells; `None` when it delivered.
    pub fn of(record: &AttemptRecord) -> Option<Self> {
        let why = match (record.outcome, record.status) {
            (Verdict::Delivered, _) => return None,
            (Verdict::Rejected | Verdict::Unanswered, Some(status)) => format!("answer {status}"),
            (Verdict::Rejected | Verdict::Unanswered, None) => record.detail.clone(),
        };
        let at = record.ended();
        Some(Self { at, why })
    }
}

/// How a destination does. Counts are of the last hour.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize)]
pub struct Health {
    /// Attempts that delivered.
    pub delivered: u64,
    /// Attempts that failed.
    pub failed: u64,
    /// Half of the answers came within so many milliseconds; `None` without an answer.
    pub p50_ms: Option<Bound>,
    /// 95 of 100 answers did.
    pub p95_ms: Option<Bound>,
    /// When the last attempt that delivered ended, however long ago.
    pub last_delivered: Option<Timestamp>,
    /// The last failure there was, however long ago.
    pub last_failure: Option<LastFailure>,
    /// Attempts under way, where this is known for each destination.
    pub in_flight: Option<u64>,
    /// Since when its oldest waiting delivery is due: a moment to come while all of them wait for a pause to end.
    pub oldest_due: Option<Timestamp>,
}

/// When something last came from a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize)]
pub struct SourceHealth {
    /// The last event that was stored.
    pub last_event: Option<Timestamp>,
    /// The last request whose signature did not hold.
    pub last_refusal: Option<Timestamp>,
}

/// How many messages the queue of deliveries holds, as the platform estimates it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize)]
pub struct QueueDepth {
    /// To be received now.
    pub visible: u64,
    /// Received, and neither done nor given back.
    pub in_flight: u64,
    /// To be received later.
    pub delayed: u64,
}

/// The last hour.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize)]
pub struct Recent {
    /// When the first of the minutes began.
    pub since: Timestamp,
    /// [`MINUTES`] of them, the running one last.
    pub minutes: Vec<Minute>,
    /// Every destination that anything is known of.
    pub destinations: BTreeMap<DestinationName, Health>,
    /// Every source that anything is known of.
    pub sources: BTreeMap<SourceName, SourceHealth>,
    /// Only where deliveries wait in a queue of the platform's.
    pub queue: Option<QueueDepth>,
}

impl Recent {
    /// An hour in which nothing happened, up to the minute of `now`.
    pub fn quiet(now: Timestamp) -> Self {
        let running = minute_of(now);
        let before = u64::try_from(MINUTES).unwrap_or_default().saturating_sub(1);
        let before = i64::try_from(before).unwrap_or_default();
        Self {
            since: Timestamp::from_millis(running.saturating_sub(before).saturating_mul(MINUTE)),
            minutes: vec![Minute::default(); MINUTES],
            ..Self::default()
        }
    }

    /// The place of the minute with that number (since 1970) in [`Self::minutes`]; `None` outside them.
    pub fn minute_mut(&mut self, minute: i64) -> Option<&mut Minute> {
        let first = minute_of(self.since);
        let place = usize::try_from(minute.checked_sub(first)?).ok()?;
        self.minutes.get_mut(place)
    }
}

const MINUTE: i64 = 60_000;

/// The minute that a moment is in, counted since 1970.
pub fn minute_of(at: Timestamp) -> i64 {
    at.millis().div_euclid(MINUTE)
}

/// Upper edges, in milliseconds, of the answer times that are counted together; longer ones are in the last, open bin.
const EDGES: [u64; 15] = [
    5, 10, 20, 30, 50, 75, 100, 150, 200, 300, 500, 1000, 2000, 3000, 10_000,
];

/// How answer times are spread: counted in bins, so that it stays small however many there are, and two add up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct AnswerTimes([u64; AnswerTimes::BINS]);

/// What a quantile of answer times is: no longer than the edge of its bin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Bound {
    /// Milliseconds.
    pub ms: u64,
    /// Whether it may also be longer: it is in the open bin.
    pub or_more: bool,
}

impl AnswerTimes {
    /// How many bins there are.
    pub const BINS: usize = EDGES.len() + 1;

    /// The bin of an answer that took so long.
    pub fn bin(took: Duration) -> usize {
        let millis = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        EDGES.partition_point(|edge| *edge < millis)
    }

    /// Adds `count` answers to a bin; what is no bin is passed over.
    pub fn add(&mut self, bin: usize, count: u64) {
        if let Some(sum) = self.0.get_mut(bin) {
            *sum = sum.saturating_add(count);
        }
    }

    /// Within what `percent` of 100 answers came; `None` without any.
    pub fn quantile(&self, percent: u64) -> Option<Bound> {
        let all = self.0.iter().copied().fold(0, u64::saturating_add);
        let wanted = all.saturating_mul(percent).div_ceil(100).max(1);
        let mut sum: u64 = 0;
        for (bin, count) in self.0.iter().enumerate() {
            sum = sum.saturating_add(*count);
            if sum >= wanted {
                let longest = EDGES.last().copied().unwrap_or_default();
                return Some(EDGES.get(bin).map_or(
                    Bound {
                        ms: longest,
                        or_more: true,
                    },
                    |edge| Bound {
                        ms: *edge,
                        or_more: false,
                    },
                ));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delivery::{Outcome, Unanswered};
    use crate::piece::Piece;

    fn within(ms: u64) -> Bound {
        Bound { ms, or_more: false }
    }

    #[test]
    fn a_quantile_is_the_edge_of_the_bin_that_it_falls_into() {
        let mut times = AnswerTimes::default();
        assert_eq!(times.quantile(50), None, "no answers");
        for millis in 1..=100 {
            times.add(AnswerTimes::bin(Duration::from_millis(millis)), 1);
        }
        assert_eq!(times.quantile(1), Some(within(5)));
        assert_eq!(times.quantile(5), Some(within(5)));
        assert_eq!(times.quantile(6), Some(within(10)));
        assert_eq!(times.quantile(50), Some(within(50)));
        assert_eq!(times.quantile(51), Some(within(75)));
        assert_eq!(times.quantile(95), Some(within(100)));
        times.add(AnswerTimes::bin(Duration::from_secs(11)), 900);
        let more = Some(Bound {
            ms: 10_000,
            or_more: true,
        });
        assert_eq!(times.quantile(50), more);
    }

    #[test]
    fn a_minute_has_its_place_while_it_is_among_the_last_sixty() {
        let now = Timestamp::from_millis(1_800_000_059_999);
        let mut recent = Recent::quiet(now);
        assert_eq!(recent.minutes.len(), MINUTES);
        let running = minute_of(now);
        recent.minute_mut(running).expect("the running one").events = 7;
        recent
            .minute_mut(running - 59)
            .expect("the first one")
            .events = 1;
        assert_eq!(recent.minutes.last().map(|minute| minute.events), Some(7));
        assert_eq!(recent.minutes.first().map(|minute| minute.events), Some(1));
        assert_eq!(recent.minute_mut(running - 60), None);
        assert_eq!(recent.minute_mut(running + 1), None);
        assert_eq!(
            recent.since,
            Timestamp::from_millis((running - 59) * 60_000)
        );
    }

    #[test]
    fn a_bin_ends_at_its_edge_and_what_is_no_bin_is_passed_over() {
        let bin = |millis| AnswerTimes::bin(Duration::from_millis(millis));
        assert_eq!([bin(0), bin(5), bin(6), bin(10), bin(11)], [0, 0, 1, 1, 2]);
        let longest = AnswerTimes::BINS - 1;
        assert_eq!([bin(10_000), bin(10_001)], [longest - 1, longest]);
        assert_eq!(AnswerTimes::bin(Duration::MAX), longest);
        let mut times = AnswerTimes::default();
        times.add(AnswerTimes::BINS, 7);
        assert_eq!(times, AnswerTimes::default());
        times.add(0, u64::MAX);
        times.add(0, 1);
        assert_eq!(times.quantile(95), Some(within(5)), "it stops at the end");
    }

    #[test]
    fn a_failure_is_told_by_its_status_or_by_why_there_was_none() {
        let at = Timestamp::from_seconds(1_800_000_000);
        let answered = |status| Outcome::Answered {
            status,
            piece: Piece::clean(b"what the destination says"),
        };
        let told = |outcome: &Outcome| {
            let took = Duration::from_millis(250);
            LastFailure::of(&AttemptRecord::new(1, at, took, outcome))
        };
        assert_eq!(told(&answered(204)), None);
        let failure = told(&answered(503)).expect("a failure");
        assert_eq!(failure.why, "answer 503", "not in the destination's words");
        assert_eq!(failure.at.millis(), at.millis() + 250, "when it ended");
        let silent = told(&Outcome::Unanswered(Unanswered::TimeLimit));
        assert_eq!(silent.expect("a failure").why, "no answer in time");
    }
}
