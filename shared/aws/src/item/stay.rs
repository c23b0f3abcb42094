//! How long an event stays, as its item has it.

use std::ops::Range;

use switchboard_core::time::Timestamp;

use super::{Attributes, Reading, Unreadable, names};
use crate::life;
use crate::prolong::Longer;
use crate::token::Token;

/// It.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stay {
    pub(crate) life: Token,
    /// When its life ends.
    pub(crate) until: Timestamp,
    /// When it may be removed, in seconds since 1970.
    pub(crate) ttl: i64,
    /// How many parts its body has.
    pub(crate) parts: u32,
    /// When they may be removed, in seconds since 1970; not known of events that older programs stored.
    pub(crate) parts_ttl: Option<i64>,
}

/// What is asked for of an event.
pub(crate) const STAY: [&str; 6] = [
    names::VERSION,
    names::TOKEN,
    names::UNTIL,
    names::TTL,
    names::PARTS,
    names::PARTS_TTL,
];

impl Stay {
    /// Reads it from an event.
    pub(crate) fn read(attributes: &Attributes) -> Result<Self, Unreadable> {
        let reading = Reading::of("event", attributes)?;
        Ok(Self {
            life: reading.token(names::TOKEN)?,
            until: reading.moment(names::UNTIL)?,
            ttl: reading.number(names::TTL)?,
            parts: reading.number_if_any(names::PARTS)?.unwrap_or_default(),
            parts_ttl: reading.number_if_any(names::PARTS_TTL)?,
        })
    }

    /// So much longer, and never less.
    pub(crate) fn longer(&self, longer: Longer) -> Self {
        let (until, ttl) = match longer {
            Longer::Until(until) => (self.until.max(until), life::of_event(until)),
            Longer::For(due) => (self.until, life::of_event(life::respite(due))),
        };
        let mut after = Self {
            until,
            ttl: self.ttl.max(ttl),
            ..self.clone()
        };
        if after.parts > 0 {
            after.parts_ttl = after.parts_ttl.max(Some(after.belongings()));
        }
        after
    }

    /// When what belongs to it may be removed, in seconds since 1970.
    pub(crate) fn belongings(&self) -> i64 {
        life::behind_event(self.ttl)
    }

    /// The parts of its body that have to stay longer for it to stay as `after`.
    pub(crate) fn parts_before(&self, after: &Self) -> Range<u32> {
        if self.parts_ttl == after.parts_ttl {
            0..0
        } else {
            0..self.parts
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::event::{Body, tests::sample};
    use super::*;

    #[test]
    fn a_stay_only_grows_and_its_parts_with_it() {
        let mut stored = sample(None);
        stored.body = Body::Parts(3);
        let end = stored.head.until;
        let letter = life::longest(end);
        stored.parts_ttl = Some(life::of_belongings(letter));
        let stay = Stay::read(&stored.write()).expect("read");
        assert_eq!(stay.ttl, life::of_event(end));
        let dead = stay.longer(Longer::Until(letter));
        assert_eq!((dead.until, dead.ttl), (letter, life::of_event(letter)));
        assert_eq!(stay.parts_before(&dead), 0..0, "they stay so long anyway");
        assert_eq!(dead.longer(Longer::Until(end)), dead);
        assert_eq!(dead.longer(Longer::For(end)), dead);
        let due = letter.plus(Duration::from_hours(24));
        let late = dead.longer(Longer::For(due));
        assert_eq!(late.until, letter, "no life grows by a wait");
        assert_eq!(late.ttl, life::of_event(life::respite(due)));
        assert_eq!(dead.parts_before(&late), 0..3);
        assert!(late.parts_ttl >= Some(late.belongings()));
    }
}
