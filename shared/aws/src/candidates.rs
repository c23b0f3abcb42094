//! Deliveries that a step is to move, as they were found: by their rows of the index, or by their plans.

use switchboard_core::ports::Keep;
use switchboard_core::time::Timestamp;

use crate::accept::planned;
use crate::change::{Known, Seen};
use crate::find::Found;
use crate::item::delivery::Delivery;
use crate::life;
use crate::unrecorded::{Step, Unrecorded};

/// A delivery that is to be moved, as it was found.
#[derive(Clone, Debug)]
pub(crate) enum Candidate {
    /// By its row of the index.
    Row(Box<Delivery>),
    /// By its plan: it has no record.
    Planned(Box<Unrecorded>),
}

impl Candidate {
    /// How it stands, and what its change is conditional on.
    pub(crate) fn seen(&self, now: Timestamp, keep: Keep) -> (Delivery, Seen, Known) {
        match self {
            Self::Row(row) => {
                let seen = Seen::LeftBy(row.token.clone());
                (Delivery::clone(row), seen, Known::Row)
            }
            Self::Planned(one) => {
                let token = one.head.life.clone();
                let longest = life::with_dead_letter(&one.head, keep);
                let record = planned(&one.head, &one.queued, token, now, longest);
                (record, Seen::Absent, Known::Whole)
            }
        }
    }
}

/// What is found for a step, and how much more there is.
#[derive(Debug, Default)]
pub(crate) struct Candidates {
    pub(crate) found: Vec<Candidate>,
    pub(crate) left: u32,
}

impl Candidates {
    pub(crate) fn add_rows(&mut self, found: Found, limit: u32) {
        let rows = found.rows.into_iter().map(Box::new).map(Candidate::Row);
        self.found.extend(rows);
        let most = usize::try_from(limit).unwrap_or(usize::MAX);
        let surplus = self.found.len().saturating_sub(most);
        self.found.truncate(most);
        self.left = self
            .left
            .saturating_add(found.left)
            .saturating_add(u32::try_from(surplus).unwrap_or(u32::MAX));
    }

    /// How many more a step takes.
    pub(crate) fn room(&self, limit: u32) -> u32 {
        limit.saturating_sub(number(&self.found))
    }

    pub(crate) fn add_planned(&mut self, step: &Step<'_>) {
        let found = step.given().iter().cloned().map(Box::new);
        self.found.extend(found.map(Candidate::Planned));
        self.left = self.left.saturating_add(step.left());
    }
}

/// How many they are.
pub(crate) fn number<T>(list: &[T]) -> u32 {
    u32::try_from(list.len()).unwrap_or(u32::MAX)
}
