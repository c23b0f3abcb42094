//! Alerts: what is told to the `alert_url` about a destination. Each trouble of a destination is told once, and once
//! that it has recovered. Decided from how the destination stands and what was told of it; nothing else is remembered.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::identity::AlertId;
use crate::names::DestinationName;
use crate::time::Timestamp;

mod kept;
mod message;
mod teller;

pub use message::Message;
pub use teller::Teller;

/// How long a delivery may wait before it is told of, unless the configuration says otherwise.
pub const ALERT_AFTER: Duration = Duration::from_mins(10);

/// What can be wrong with a destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Trouble {
    /// It has a dead letter.
    DeadLetter,
    /// Its oldest waiting delivery waits for longer than `alert_after`.
    WaitingTooLong,
}

impl Trouble {
    /// All there are.
    pub const ALL: [Self; 2] = [Self::DeadLetter, Self::WaitingTooLong];

    /// Its name, in alerts and in stores.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::DeadLetter => "dead-letter",
            Self::WaitingTooLong => "waiting-too-long",
        }
    }

    /// The trouble of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.as_str() == name)
    }
}

/// How a destination stands, as far as alerts need it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Which.
    pub destination: DestinationName,
    /// Its dead letters that are still kept, counted up to [`Standing::COUNTED`].
    pub dead_letters: u32,
    /// Whether a redriven or replayed delivery waits after an attempt: it will be delivered or be a dead letter.
    pub has_redriven: bool,
    /// Deliveries that wait.
    pub waiting: u64,
    /// Since when the oldest of them waits: one that failed, of the first run and never redriven, since its event was
    /// received, any other since it was due. `None` when nothing waits.
    pub waiting_since: Option<Timestamp>,
    /// Deliveries that are held.
    pub held: u64,
    /// Whether an operator holds the destination now.
    pub is_on_hold: bool,
}

impl Standing {
    /// How far dead letters are counted: a count costs as much as what it counts.
    pub const COUNTED: u32 = 1000;

    /// A destination that nothing is wrong with.
    pub fn well(destination: DestinationName) -> Self {
        Self {
            destination,
            dead_letters: 0,
            has_redriven: false,
            waiting: 0,
            waiting_since: None,
            held: 0,
            is_on_hold: false,
        }
    }
}

/// Whether the receiver of alerts knows of a trouble.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Known {
    /// Telling was begun and not answered, or what was told of it since may have arrived.
    Perhaps,
    /// It answered.
    Surely,
}

/// Whether a destination was held: what waited meanwhile did so on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Hash)]
pub enum Hold {
    /// Not since something waits.
    #[default]
    No,
    /// It is.
    Now,
    /// It was, until this moment.
    Until(Timestamp),
}

/// A trouble that is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Recovered {
    /// When it began.
    pub raised_at: Timestamp,
    /// When it was over.
    pub at: Timestamp,
}

/// What is kept of a destination's alerts; the default is what nothing has to be kept of.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Record {
    /// The troubles that were raised and are not over, and when.
    pub raised: BTreeMap<Trouble, Timestamp>,
    /// What the receiver of alerts knows.
    pub known: BTreeMap<Trouble, Known>,
    /// Set while it has to be told that all is well again.
    pub recovered: Option<Recovered>,
    /// Whether the destination is or was held.
    pub hold: Hold,
}

/// Something to be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Alert {
    /// A trouble was raised, at that moment.
    Raised(Trouble, Timestamp),
    /// All is well again.
    Recovered(Recovered),
}

impl Alert {
    /// Its kind, as it is told.
    pub const fn kind(self) -> &'static str {
        match self {
            Self::Raised(trouble, _) => trouble.as_str(),
            Self::Recovered(_) => "recovered",
        }
    }

    /// Its id, the same however often it is told.
    pub fn id(self, destination: &DestinationName) -> AlertId {
        let at = match self {
            Self::Raised(_, at) => at,
            Self::Recovered(recovered) => recovered.at,
        };
        AlertId::of(destination, self.kind(), at)
    }
}

impl Record {
    /// What is to be kept now that the destination stands like this.
    ///
    /// A trouble is raised once, until all is well: no dead letter is left, no redriven delivery is still waiting, and
    /// nothing waits for longer than half of `after` (the other half keeps alerts from following each other where a
    /// backlog moves around the limit). While a destination is held, nothing of it waits too long, and it is not well
    /// either.
    #[must_use]
    pub fn judged(mut self, standing: &Standing, now: Timestamp, after: Duration) -> Self {
        self.hold = match (standing.is_on_hold, self.hold) {
            (true, _) => Hold::Now,
            (false, Hold::Now) => Hold::Until(now),
            (false, Hold::Until(_)) if standing.waiting_since.is_none() => Hold::No,
            (false, hold @ (Hold::No | Hold::Until(_))) => hold,
        };
        let waited = waited(standing, self.hold, now);
        if standing.dead_letters > 0 {
            self.raised.entry(Trouble::DeadLetter).or_insert(now);
        }
        if waited > after && self.hold != Hold::Now {
            self.raised.entry(Trouble::WaitingTooLong).or_insert(now);
        }
        let is_well = standing.dead_letters == 0
            && !standing.has_redriven
            && waited <= after / 2
            && self.hold != Hold::Now;
        if is_well && let Some(raised_at) = self.raised.values().min().copied() {
            self.raised.clear();
            self.recovered = Some(Recovered { raised_at, at: now });
        }
        // What nobody can have heard of, nobody is told the end of; and an end is no news once there is new trouble.
        if self.known.is_empty() || !self.raised.is_empty() {
            self.recovered = None;
        }
        self
    }

    /// What is to be told, in this order.
    pub fn pending(&self) -> Vec<Alert> {
        let is_untold = |trouble| self.known.get(trouble) != Some(&Known::Surely);
        let raised = self.raised.iter();
        let untold = raised
            .filter(|(trouble, _)| is_untold(*trouble))
            .map(|(trouble, at)| Alert::Raised(*trouble, *at));
        let recovered = self.recovered.map(Alert::Recovered);
        recovered.into_iter().chain(untold).collect()
    }

    /// What is to be kept before `alert` is sent: from now on it may have arrived.
    #[must_use]
    pub fn begun(mut self, alert: Alert) -> Self {
        match alert {
            Alert::Raised(trouble, _) => {
                self.known.insert(trouble, Known::Perhaps);
            }
            Alert::Recovered(_) => {
                for known in self.known.values_mut() {
                    *known = Known::Perhaps;
                }
            }
        }
        self
    }

    /// What is to be kept once the receiver has answered `alert` in the 200s.
    #[must_use]
    pub fn told(mut self, alert: Alert) -> Self {
        match alert {
            Alert::Raised(trouble, _) => {
                self.known.insert(trouble, Known::Surely);
            }
            Alert::Recovered(_) => {
                self.known.clear();
                self.recovered = None;
            }
        }
        self
    }
}

/// How long the oldest waiting delivery has waited, the time of a hold left out.
fn waited(standing: &Standing, hold: Hold, now: Timestamp) -> Duration {
    let since = match (standing.waiting_since, hold) {
        (Some(since), Hold::Until(released)) => Some(since.max(released)),
        (since, Hold::No | Hold::Now | Hold::Until(_)) => since,
    };
    since.map(|since| now.since(since)).unwrap_or_default()
}

#[cfg(test)]
mod tests;
