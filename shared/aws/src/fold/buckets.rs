//! What happened in which minute: events by source, deliveries and failures by destination, and how fast destinations
//! answered. One item for each hour and name; the fold adds to its numbers.

use std::collections::BTreeMap;
use std::time::Duration;

use switchboard_core::delivery::{AttemptRecord, Verdict};
use switchboard_core::names::{DestinationName, SourceName};
use switchboard_core::time::Timestamp;

/// Upper edges, in milliseconds, of the answer times that are counted together; a longer one is in the last, open bin.
pub(crate) const EDGES: [u64; 9] = [10, 20, 50, 100, 200, 500, 1000, 2000, 3000];

const HOUR: i64 = 3_600_000;
const MINUTE: i64 = 60_000;

/// Numbers to add, by hour and name and then by attribute.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Buckets(BTreeMap<Place, BTreeMap<String, i64>>);

/// The hour since 1970, and the name of a source or a destination.
pub(crate) type Place = (i64, String);

impl Buckets {
    /// An event of `source` was stored.
    pub(crate) fn event(&mut self, source: &SourceName, at: Timestamp) {
        self.add(at, source.as_str(), format!("e{}", minute(at)));
    }

    /// An attempt at `destination` ended.
    pub(crate) fn attempt(&mut self, destination: &DestinationName, record: &AttemptRecord) {
        let at = record.at.plus(Duration::from_millis(record.duration_ms));
        let (sign, is_answered) = match record.outcome {
            Verdict::Delivered => ("d", true),
            Verdict::Rejected => ("f", true),
            Verdict::Unanswered => ("f", false),
        };
        let name = destination.as_str();
        self.add(at, name, format!("{sign}{}", minute(at)));
        if is_answered {
            self.add(at, name, format!("h{}", bin(record.duration_ms)));
        }
    }

    fn add(&mut self, at: Timestamp, name: &str, attribute: String) {
        let place = (at.millis().div_euclid(HOUR), name.to_owned());
        let count = self
            .0
            .entry(place)
            .or_default()
            .entry(attribute)
            .or_default();
        *count = count.saturating_add(1);
    }

    /// Adds another's numbers to these.
    pub(crate) fn merge(&mut self, other: Self) {
        for (place, counts) in other.0 {
            let mine = self.0.entry(place).or_default();
            for (attribute, by) in counts {
                let count = mine.entry(attribute).or_default();
                *count = count.saturating_add(by);
            }
        }
    }

    /// How many items they are in, together with those of `other`.
    pub(crate) fn items_with(&self, other: &Self) -> usize {
        let more = other.0.keys().filter(|place| !self.0.contains_key(*place));
        self.0.len().saturating_add(more.count())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Place, &BTreeMap<String, i64>)> {
        self.0.iter()
    }
}

/// The minute of its hour.
fn minute(at: Timestamp) -> i64 {
    at.millis().rem_euclid(HOUR).div_euclid(MINUTE)
}

/// Which answer times it is counted with.
fn bin(duration_ms: u64) -> usize {
    EDGES.partition_point(|edge| *edge < duration_ms)
}
