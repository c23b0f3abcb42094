//! What happened in which minute: events by source, deliveries and failures by destination, and, by tens of minutes, how
//! fast destinations answered. One item for each hour and name; the fold adds to its numbers. Attributes that are none of
//! these, such as answer times by other edges, are passed over.

use std::collections::BTreeMap;
use std::time::Duration;

use switchboard_core::delivery::{AttemptRecord, Verdict};
use switchboard_core::names::{DestinationName, SourceName};
use switchboard_core::time::Timestamp;
use switchboard_core::views::{AnswerTimes, minute_of};

/// Minutes of an hour.
const HOUR: i64 = 60;
/// Minutes whose answer times are counted together.
pub(crate) const TEN: i64 = 10;

/// Numbers to add, by hour and name and then by what they count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Buckets(BTreeMap<Place, BTreeMap<Count, i64>>);

/// The hour since 1970, and the name of a source or a destination.
pub(crate) type Place = (i64, String);

/// What a number of an item counts, in its hour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Count {
    /// Events stored in this minute.
    Events(i64),
    /// Attempts that delivered in this minute.
    Delivered(i64),
    /// Attempts that failed in this minute.
    Failed(i64),
    /// Answers in one of the hour's tens of minutes that fall into this bin of answer times.
    Answers(i64, usize),
}

impl Count {
    /// The name of its attribute: as short as can be, so that an hour with all of its minutes is one kilobyte.
    pub(crate) fn attribute(self) -> String {
        match self {
            Self::Events(minute) => format!("e{minute}"),
            Self::Delivered(minute) => format!("d{minute}"),
            Self::Failed(minute) => format!("f{minute}"),
            Self::Answers(ten, bin) => format!("t{ten}{bin:x}"),
        }
    }

    /// What an attribute counts; `None` for any other.
    pub(crate) fn of(attribute: &str) -> Option<Self> {
        let (sign, rest) = attribute.split_at_checked(1)?;
        let minute = || {
            rest.parse()
                .ok()
                .filter(|minute| (0..HOUR).contains(minute))
        };
        match sign {
            "e" => minute().map(Self::Events),
            "d" => minute().map(Self::Delivered),
            "f" => minute().map(Self::Failed),
            "t" => {
                let (ten, bin) = rest.split_at_checked(1)?;
                let ten = ten
                    .parse()
                    .ok()
                    .filter(|ten| (0..HOUR / TEN).contains(ten))?;
                let bin = usize::from_str_radix(bin, 16).ok()?;
                (bin < AnswerTimes::BINS).then_some(Self::Answers(ten, bin))
            }
            _ => None,
        }
    }
}

/// The hour that a minute since 1970 is in.
pub(crate) fn hour_of(minute: i64) -> i64 {
    minute.div_euclid(HOUR)
}

/// The minute since 1970 with that number in its hour.
pub(crate) fn minute_in(hour: i64, minute: i64) -> i64 {
    hour.saturating_mul(HOUR).saturating_add(minute)
}

impl Buckets {
    /// An event of `source` was stored.
    pub(crate) fn event(&mut self, source: &SourceName, at: Timestamp) {
        self.add(at, source.as_str(), Count::Events);
    }

    /// An attempt at `destination` ended.
    pub(crate) fn attempt(&mut self, destination: &DestinationName, record: &AttemptRecord) {
        let (at, name) = (record.ended(), destination.as_str());
        match record.outcome {
            Verdict::Delivered => self.add(at, name, Count::Delivered),
            Verdict::Rejected | Verdict::Unanswered => self.add(at, name, Count::Failed),
        }
        if record.status.is_some() {
            let bin = AnswerTimes::bin(Duration::from_millis(record.duration_ms));
            self.add(at, name, |minute| {
                Count::Answers(minute.div_euclid(TEN), bin)
            });
        }
    }

    /// Counts one in the minute of `at`.
    fn add(&mut self, at: Timestamp, name: &str, what: impl FnOnce(i64) -> Count) {
        let minute = minute_of(at);
        let what = what(minute.rem_euclid(HOUR));
        let place = (hour_of(minute), name.to_owned());
        let count = self.0.entry(place).or_default().entry(what).or_default();
        *count = count.saturating_add(1);
    }

    /// Adds another's numbers to these.
    pub(crate) fn merge(&mut self, other: Self) {
        for (place, counts) in other.0 {
            let mine = self.0.entry(place).or_default();
            for (what, by) in counts {
                let count = mine.entry(what).or_default();
                *count = count.saturating_add(by);
            }
        }
    }

    /// How many items they are in, together with those of `other`.
    pub(crate) fn items_with(&self, other: &Self) -> usize {
        let more = other.0.keys().filter(|place| !self.0.contains_key(*place));
        self.0.len().saturating_add(more.count())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Place, &BTreeMap<Count, i64>)> {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_attribute_counts_is_read_as_it_was_named() {
        let minutes = 0..HOUR;
        let tens = (0..HOUR / TEN).flat_map(|ten| (0..AnswerTimes::BINS).map(move |b| (ten, b)));
        let all = minutes
            .flat_map(|m| [Count::Events(m), Count::Delivered(m), Count::Failed(m)])
            .chain(tens.map(|(ten, bin)| Count::Answers(ten, bin)));
        let mut names = std::collections::BTreeSet::new();
        for count in all {
            let name = count.attribute();
            assert_eq!(Count::of(&name), Some(count), "{name}");
            assert!(names.insert(name), "{count:?}");
        }
        for other in [
            "h0", "h9", "e60", "d-1", "t60", "t0g", "t010", "t", "e", "", "v", "pk", "ttl", "é0",
        ] {
            assert_eq!(Count::of(other), None, "{other:?}");
        }
    }

    /// A write pays for each kilobyte of the whole item that is begun.
    #[test]
    fn a_full_hour_of_a_busy_destination_is_one_kilobyte() {
        // Up to 9,999 a minute: a byte for the number itself, and one for each two digits of it.
        let number = 1 + 2;
        let delivered = (0..HOUR).map(Count::Delivered);
        let bins = (0..HOUR / TEN).flat_map(|ten| (1..9).map(move |bin| Count::Answers(ten, bin)));
        let counts: usize = delivered
            .chain(bins)
            .map(|count| count.attribute().len() + number)
            .sum();
        // Failures are few: as many as ninety-nine in every second minute.
        let failed = (0..HOUR).step_by(2).map(Count::Failed);
        let failed: usize = failed.map(|count| count.attribute().len() + 2).sum();
        let keys = "pk".len() + "M#500000".len() + "sk".len() + 20;
        let rest = "v".len() + 2 + "ttl".len() + 6;
        assert!(counts + failed + keys + rest <= 1024);
    }
}
