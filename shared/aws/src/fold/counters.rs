//! The totals as the fold keeps them: what was counted by source, by destination and by cause, as changes that add up in
//! any order, and what happened last. Some may be below nothing for a while, where one shard of the stream is ahead of
//! another.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use switchboard_core::delivery::State;
use switchboard_core::names::{DestinationName, SourceName};
use switchboard_core::views::{DeclinedCount, DestinationTotals, Overview, SourceTotals, Totals};

use super::latest::{self, Latest};

/// What was counted, or by how much it changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counters {
    sources: BTreeMap<SourceName, OfSource>,
    destinations: BTreeMap<DestinationName, OfDestination>,
    declined: BTreeMap<Declined, i64>,
    pub(crate) latest: Latest,
}

/// The source where there is one, the status and the cause.
pub(crate) type Declined = (Option<SourceName>, u16, String);

/// What is counted of a source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct OfSource {
    pub(crate) stored: i64,
    pub(crate) repeats: i64,
    pub(crate) other_bodies: i64,
    pub(crate) refused: i64,
    pub(crate) unrouted: i64,
}

/// What is counted of a destination.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct OfDestination {
    waiting: i64,
    held: i64,
    delivered: i64,
    dead: i64,
    /// Dead letters that nobody redrove while they were kept.
    expired: i64,
}

impl OfSource {
    fn stored(self) -> [i64; 5] {
        [
            self.stored,
            self.repeats,
            self.other_bodies,
            self.refused,
            self.unrouted,
        ]
    }

    fn add(&mut self, other: Self) {
        grow(&mut self.stored, other.stored);
        grow(&mut self.repeats, other.repeats);
        grow(&mut self.other_bodies, other.other_bodies);
        grow(&mut self.refused, other.refused);
        grow(&mut self.unrouted, other.unrouted);
    }
}

impl OfDestination {
    fn of(&mut self, state: State) -> &mut i64 {
        match state {
            State::Waiting => &mut self.waiting,
            State::Held => &mut self.held,
            State::Delivered => &mut self.delivered,
            State::Dead => &mut self.dead,
        }
    }

    fn stored(self) -> [i64; 4] {
        [self.waiting, self.held, self.delivered, self.dead]
    }

    fn add(&mut self, mut other: Self) {
        for state in State::ALL {
            grow(self.of(state), *other.of(state));
        }
        grow(&mut self.expired, other.expired);
    }
}

fn grow(count: &mut i64, by: i64) {
    *count = count.saturating_add(by);
}

impl Counters {
    /// Whether nothing is counted and nothing changes.
    pub(crate) fn is_empty(&self) -> bool {
        self.sources.values().all(|of| *of == OfSource::default())
            && self
                .destinations
                .values()
                .all(|of| *of == OfDestination::default())
            && self.declined.values().all(|count| *count == 0)
            && self.latest.is_empty()
    }

    pub(crate) fn source(&mut self, source: &SourceName, by: OfSource) {
        self.sources.entry(source.clone()).or_default().add(by);
    }

    /// That many deliveries to `destination` came into `state`, or left it.
    pub(crate) fn destination(&mut self, destination: &DestinationName, state: State, by: i64) {
        let of = self.destinations.entry(destination.clone()).or_default();
        grow(of.of(state), by);
    }

    /// A dead letter to `destination` was removed.
    pub(crate) fn expired(&mut self, destination: &DestinationName) {
        let of = self.destinations.entry(destination.clone()).or_default();
        grow(&mut of.expired, 1);
    }

    pub(crate) fn declined(&mut self, declined: Declined, by: i64) {
        grow(self.declined.entry(declined).or_default(), by);
    }

    /// Adds another's counts to these.
    pub(crate) fn add(&mut self, other: &Self) {
        for (source, of) in &other.sources {
            self.source(source, *of);
        }
        for (destination, of) in &other.destinations {
            let mine = self.destinations.entry(destination.clone()).or_default();
            mine.add(*of);
        }
        for (declined, count) in &other.declined {
            self.declined(declined.clone(), *count);
        }
        self.latest.add(&other.latest);
    }

    /// Every source that anything was counted of.
    pub(crate) fn sources(&self) -> impl Iterator<Item = &SourceName> {
        self.sources.keys()
    }

    /// Every destination that anything was counted of, and how many deliveries to it wait.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = (&DestinationName, u64)> {
        let waiting = self.destinations.iter();
        waiting.map(|(name, of)| (name, seen(of.waiting)))
    }

    /// The totals as operators see them.
    pub(crate) fn overview(&self) -> Overview {
        let mut totals = Totals::default();
        let mut overview = Overview::default();
        for (name, of) in &self.sources {
            let of = SourceTotals {
                stored: seen(of.stored),
                repeats: seen(of.repeats),
                repeats_with_other_body: seen(of.other_bodies),
                refused: seen(of.refused),
                unrouted: seen(of.unrouted),
            };
            totals.stored += of.stored;
            totals.repeats += of.repeats;
            totals.repeats_with_other_body += of.repeats_with_other_body;
            totals.refused += of.refused;
            totals.unrouted += of.unrouted;
            overview.sources.insert(name.clone(), of);
        }
        for (name, of) in &self.destinations {
            let of = DestinationTotals {
                waiting: seen(of.waiting),
                held: seen(of.held),
                delivered: seen(of.delivered),
                dead: seen(of.dead),
                expired: seen(of.expired),
            };
            totals.waiting += of.waiting;
            totals.held += of.held;
            totals.delivered += of.delivered;
            totals.dead += of.dead;
            totals.expired += of.expired;
            overview.destinations.insert(name.clone(), of);
        }
        for ((source, status, cause), count) in &self.declined {
            let count = seen(*count);
            totals.declined += count;
            overview.declined.push(DeclinedCount {
                source: source.clone(),
                status: *status,
                cause: cause.clone(),
                count,
            });
        }
        totals.received = totals.stored + totals.repeats;
        Overview { totals, ..overview }
    }

    /// As text, for the store.
    pub(crate) fn to_text(&self) -> Result<String, serde_json::Error> {
        let sources = self.sources.iter();
        let destinations = self.destinations.iter();
        let expired = self.destinations.iter();
        let expired = expired.filter(|(_, of)| of.expired != 0);
        let declined = self.declined.iter();
        serde_json::to_string(&Stored {
            s: sources
                .map(|(name, of)| (name.as_str().into(), of.stored()))
                .collect(),
            d: destinations
                .map(|(name, of)| (name.as_str().into(), of.stored()))
                .collect(),
            g: expired
                .map(|(name, of)| (name.as_str().into(), of.expired))
                .collect(),
            x: declined
                .map(|((source, status, cause), count)| {
                    let source = source.as_ref().map(|source| source.as_str().to_owned());
                    (source, *status, cause.clone(), *count)
                })
                .collect(),
            l: self.latest.stored(),
        })
    }

    /// What [`Self::to_text`] wrote, also before it told what happened last; `None` for anything else.
    pub(crate) fn from_text(text: &str) -> Option<Self> {
        let stored: Stored = serde_json::from_str(text).ok()?;
        let mut counters = Self::default();
        for (name, [stored, repeats, other_bodies, refused, unrouted]) in stored.s {
            let of = OfSource {
                stored,
                repeats,
                other_bodies,
                refused,
                unrouted,
            };
            counters.sources.insert(SourceName::parse(&name).ok()?, of);
        }
        for (name, [waiting, held, delivered, dead]) in stored.d {
            let of = OfDestination {
                waiting,
                held,
                delivered,
                dead,
                expired: stored.g.get(&name).copied().unwrap_or(0),
            };
            let name = DestinationName::parse(&name).ok()?;
            counters.destinations.insert(name, of);
        }
        for (source, status, cause, count) in stored.x {
            let source = source
                .map(|name| SourceName::parse(&name))
                .transpose()
                .ok()?;
            counters.declined.insert((source, status, cause), count);
        }
        counters.latest = stored.l.read()?;
        Some(counters)
    }
}

/// The counts as they are stored, in the order of the fields.
#[derive(Serialize, Deserialize)]
struct Stored {
    s: BTreeMap<String, [i64; 5]>,
    d: BTreeMap<String, [i64; 4]>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    g: BTreeMap<String, i64>,
    x: Vec<(Option<String>, u16, String, i64)>,
    #[serde(default, skip_serializing_if = "latest::Stored::is_empty")]
    l: latest::Stored,
}

/// A count as operators see it: below nothing it is a matter of which shard was read first, and over soon.
fn seen(count: i64) -> u64 {
    u64::try_from(count).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use switchboard_core::time::Timestamp;
    use switchboard_core::views::LastFailure;

    use super::*;

    fn sample() -> Counters {
        let shop = SourceName::parse("shop").expect("a name");
        let chat = DestinationName::parse("chat").expect("a name");
        let mut counters = Counters::default();
        let of = OfSource {
            stored: 5,
            repeats: 4,
            other_bodies: 3,
            refused: 2,
            unrouted: 1,
        };
        counters.source(&shop, of);
        for (state, count) in State::ALL.into_iter().zip([-1, 2, 3, 4]) {
            counters.destination(&chat, state, count);
        }
        counters.declined((None, 404, "no \"source\"".to_owned()), 7);
        counters.declined((Some(shop.clone()), 413, "too large".to_owned()), 8);
        counters.latest.event(&shop, Timestamp::from_millis(5));
        counters.latest.refusal(&shop, Timestamp::from_millis(7));
        let failure = LastFailure {
            at: Timestamp::from_millis(9),
            why: "answer \"500\"".to_owned(),
        };
        counters.latest.failure(&chat, &failure);
        counters
    }

    #[test]
    fn counts_come_back_as_they_were_written() {
        let counters = sample();
        let text = counters.to_text().expect("text");
        assert_eq!(Counters::from_text(&text), Some(counters));
        assert_eq!(Counters::from_text("{}"), None);
    }

    #[test]
    fn counts_are_read_that_were_written_before_it_was_told_what_happened_last() {
        let before = r#"{"s":{"shop":[5,4,3,2,1]},"d":{"chat":[-1,2,3,4]},"x":[[null,404,"no \"source\"",7],["shop",413,"too large",8]]}"#;
        let mut expected = sample();
        expected.latest = Latest::default();
        assert_eq!(Counters::from_text(before), Some(expected.clone()));
        assert_eq!(
            expected.to_text().expect("text"),
            before,
            "and it costs nothing"
        );
        // A program of before passes over what it does not know.
        assert!(
            sample()
                .to_text()
                .expect("text")
                .starts_with(before.trim_end_matches('}'))
        );
    }

    #[test]
    fn counts_add_up_and_a_change_taken_back_leaves_nothing() {
        let mut twice = sample();
        twice.add(&sample());
        let totals = twice.overview().totals;
        assert_eq!(
            (totals.received, totals.stored, totals.repeats),
            (18, 10, 8)
        );
        assert_eq!((totals.repeats_with_other_body, totals.refused), (6, 4));
        assert_eq!((totals.unrouted, totals.declined), (2, 30));
        assert_eq!((totals.held, totals.delivered, totals.dead), (4, 6, 8));
        let mut none = Counters::default();
        let chat = DestinationName::parse("chat").expect("a name");
        none.destination(&chat, State::Waiting, 3);
        assert!(!none.is_empty());
        none.destination(&chat, State::Waiting, -3);
        assert!(none.is_empty());
        let shop = SourceName::parse("shop").expect("a name");
        none.latest.event(&shop, Timestamp::default());
        assert!(!none.is_empty(), "when the last came is something");
    }

    #[test]
    fn a_count_below_nothing_is_shown_as_nothing_and_kept_as_it_is() {
        let counters = sample();
        let overview = counters.overview();
        assert_eq!(overview.totals.waiting, 0);
        let mut rest = counters;
        let chat = DestinationName::parse("chat").expect("a name");
        rest.destination(&chat, State::Waiting, 3);
        assert_eq!(rest.overview().totals.waiting, 2);
    }
}
