//! What happened last: of each source an event and a refusal, of each destination a failed attempt. The later of two stays,
//! so that they come to the same in whatever order they are told, and however often.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use switchboard_core::names::{DestinationName, SourceName};
use switchboard_core::time::Timestamp;
use switchboard_core::views::LastFailure;

/// How far ahead of now a clock was wrong for certain.
const AHEAD: Duration = Duration::from_hours(24);

/// All of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Latest {
    /// When the last event was received.
    pub(crate) events: BTreeMap<SourceName, Timestamp>,
    /// When a signature last did not hold.
    pub(crate) refusals: BTreeMap<SourceName, Timestamp>,
    /// When an attempt last delivered.
    pub(crate) delivered: BTreeMap<DestinationName, Timestamp>,
    pub(crate) failures: BTreeMap<DestinationName, LastFailure>,
}

/// As it is stored: moments in milliseconds since 1970.
#[derive(Serialize, Deserialize, Default)]
pub(super) struct Stored {
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    e: BTreeMap<String, i64>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    r: BTreeMap<String, i64>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    d: BTreeMap<String, i64>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    f: BTreeMap<String, (i64, String)>,
}

impl Stored {
    pub(super) fn is_empty(&self) -> bool {
        self.e.is_empty() && self.r.is_empty() && self.d.is_empty() && self.f.is_empty()
    }

    /// What [`Latest::stored`] gave; `None` where a name is none.
    pub(super) fn read(self) -> Option<Latest> {
        let mut latest = Latest::default();
        for (of, from) in [(&mut latest.events, self.e), (&mut latest.refusals, self.r)] {
            for (name, at) in from {
                let name = SourceName::parse(&name).ok()?;
                of.insert(name, Timestamp::from_millis(at));
            }
        }
        for (name, at) in self.d {
            let name = DestinationName::parse(&name).ok()?;
            latest.delivered.insert(name, Timestamp::from_millis(at));
        }
        for (name, (at, why)) in self.f {
            let at = Timestamp::from_millis(at);
            let name = DestinationName::parse(&name).ok()?;
            latest.failures.insert(name, LastFailure { at, why });
        }
        Some(latest)
    }
}

impl Latest {
    /// Forgets what a clock told that was wrong for certain, so that it hides nothing that comes.
    pub(super) fn forget_ahead_of(&mut self, now: Timestamp) {
        let end = now.plus(AHEAD);
        self.events.retain(|_, at| *at <= end);
        self.refusals.retain(|_, at| *at <= end);
        self.delivered.retain(|_, at| *at <= end);
        self.failures.retain(|_, failure| failure.at <= end);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.events.is_empty()
            && self.refusals.is_empty()
            && self.delivered.is_empty()
            && self.failures.is_empty()
    }

    /// An event of `source` was received.
    pub(crate) fn event(&mut self, source: &SourceName, at: Timestamp) {
        later(&mut self.events, source, &at);
    }

    /// A request to `source` was refused.
    pub(crate) fn refusal(&mut self, source: &SourceName, at: Timestamp) {
        later(&mut self.refusals, source, &at);
    }

    /// An attempt at `destination` delivered.
    pub(crate) fn delivered(&mut self, destination: &DestinationName, at: Timestamp) {
        later(&mut self.delivered, destination, &at);
    }

    /// An attempt at `destination` failed.
    pub(crate) fn failure(&mut self, destination: &DestinationName, failure: &LastFailure) {
        later(&mut self.failures, destination, failure);
    }

    /// Takes what is later of another.
    pub(super) fn add(&mut self, other: &Self) {
        for (source, at) in &other.events {
            self.event(source, *at);
        }
        for (source, at) in &other.refusals {
            self.refusal(source, *at);
        }
        for (destination, at) in &other.delivered {
            self.delivered(destination, *at);
        }
        for (destination, failure) in &other.failures {
            self.failure(destination, failure);
        }
    }

    pub(super) fn stored(&self) -> Stored {
        let failures = self.failures.iter().map(|(name, failure)| {
            let LastFailure { at, why } = failure;
            (name.as_str().to_owned(), (at.millis(), why.clone()))
        });
        Stored {
            e: moments(&self.events, SourceName::as_str),
            r: moments(&self.refusals, SourceName::as_str),
            d: moments(&self.delivered, DestinationName::as_str),
            f: failures.collect(),
        }
    }
}

fn moments<K>(of: &BTreeMap<K, Timestamp>, name: impl Fn(&K) -> &str) -> BTreeMap<String, i64> {
    let moments = of.iter();
    let moments = moments.map(|(key, at)| (name(key).to_owned(), at.millis()));
    moments.collect()
}

/// Keeps the later of the two.
fn later<K: Clone + Ord, V: Clone + Ord>(known: &mut BTreeMap<K, V>, of: &K, value: &V) {
    match known.get_mut(of) {
        Some(known) if *known >= *value => {}
        Some(known) => known.clone_from(value),
        None => {
            known.insert(of.clone(), value.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(at: i64, why: &str) -> Latest {
        let shop = SourceName::parse("shop").expect("a name");
        let chat = DestinationName::parse("chat").expect("a name");
        let at = Timestamp::from_millis(at);
        let mut latest = Latest::default();
        latest.event(&shop, at);
        latest.refusal(&shop, at);
        let why = why.to_owned();
        latest.delivered(&chat, at);
        latest.failure(&chat, &LastFailure { at, why });
        latest
    }

    #[test]
    fn the_later_stays_in_whatever_order_they_come() {
        let parts = [one(5, "b"), one(7, "a"), one(7, "c"), one(6, "d")];
        for first in 0..parts.len() {
            let mut all = Latest::default();
            for nth in 0..=parts.len() {
                // One of them comes twice.
                all.add(&parts[(first + nth) % parts.len()]);
            }
            assert_eq!(all, one(7, "c"), "beginning with {first}");
        }
    }

    #[test]
    fn what_a_clock_told_that_was_ahead_is_forgotten() {
        let mut all = one(86_400_007, "a");
        all.forget_ahead_of(Timestamp::from_millis(7));
        assert_eq!(all, one(86_400_007, "a"));
        all.forget_ahead_of(Timestamp::from_millis(6));
        assert_eq!(all, Latest::default());
    }
}
