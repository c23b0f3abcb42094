//! What a run of the keeper may do, and what it had to.

use std::collections::BTreeMap;
use std::time::Duration;

/// How much one run does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Events that each walk looks at.
    pub events: u32,
    /// Deliveries that each step over them looks at.
    pub deliveries: u32,
    /// Messages that are taken of those that the queue gave back.
    pub returned: u32,
    /// Tickets that are looked at; each one is read about again in every run.
    pub tickets: u32,
    /// Reads of the table's stream.
    pub reads: u32,
    /// How long everything before the fold may take. No step takes all of it.
    pub time: Duration,
    /// How long the fold may take.
    pub fold_time: Duration,
}

impl Budget {
    /// The same for every step.
    pub const fn each(number: u32) -> Self {
        Self {
            events: number,
            deliveries: number,
            returned: number,
            tickets: number,
            reads: number,
            time: Duration::from_mins(10),
            fold_time: Duration::from_mins(10),
        }
    }
}

/// What a run comes to the end of within some seconds: the walks hold out against 300 events a second, and after a failure of
/// the queue 10,000 deliveries are queued again in each run.
impl Default for Budget {
    fn default() -> Self {
        Self {
            events: 20_000,
            deliveries: 10_000,
            returned: 1_000,
            tickets: 100,
            reads: 200,
            time: Duration::from_secs(30),
            fold_time: Duration::from_secs(15),
        }
    }
}

/// A part of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// The walk close behind the present.
    Near,
    /// The walk far behind it.
    Far,
    /// Waiting deliveries whose hint seems lost.
    Overdue,
    /// Messages that the queue gave back.
    Returned,
    /// Held deliveries of destinations that are not.
    Held,
    /// Tickets that deaths owe.
    Owed,
    /// Tickets of deliveries that are dead no more.
    Tickets,
    /// Adding to the totals.
    Fold,
    /// Counts that this process kept in memory.
    Journal,
}

impl Step {
    /// Its name in the log.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Near => "events without records, near",
            Self::Far => "events without records, far",
            Self::Overdue => "overdue deliveries",
            Self::Returned => "returned messages",
            Self::Held => "held deliveries",
            Self::Owed => "owed tickets",
            Self::Tickets => "tickets",
            Self::Fold => "the fold",
            Self::Journal => "the journal",
        }
    }
}

/// What a walk over recent events came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Walked {
    /// Events that were looked at.
    pub events: u32,
    /// Deliveries without a record that were queued.
    pub queued: u32,
    /// Events that this program cannot read; they were passed over.
    pub unreadable: u32,
}

/// What became of the messages that the queue gave back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Returned {
    /// Hints that went back to the deliveries.
    pub sent_back: u32,
    /// Hints that were out of date.
    pub dropped: u32,
    /// Deliveries that came back too often and are dead now.
    pub died: u32,
    /// Tickets that went back to the dead letters.
    pub tickets: u32,
    /// Messages that nobody can read, by the reason.
    pub unreadable: BTreeMap<String, u32>,
}

/// What became of the tickets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tickets {
    /// Removed: their delivery is not dead any more, or died again later.
    pub removed: u32,
    /// Left, since their delivery is dead.
    pub left: u32,
    /// Messages beside them that are no tickets; they stay.
    pub unreadable: u32,
}

/// What a run had to do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// Close behind the present.
    pub near: Walked,
    /// Far behind it.
    pub far: Walked,
    /// Overdue deliveries whose hint was queued again, and far ones whose one hint was queued.
    pub overdue: u32,
    /// Messages that the queue gave back.
    pub returned: Returned,
    /// Held deliveries that were put back to waiting.
    pub released: u32,
    /// Tickets that were put, since a death owed them for some minutes.
    pub tickets_put: u32,
    /// Tickets.
    pub tickets: Tickets,
    /// Records of the table's stream that were read.
    pub folded: u64,
    /// How old the present totals may be, in seconds; none when they could not be looked at.
    pub totals_behind_s: Option<u64>,
    /// The steps that failed.
    pub failed: Vec<Step>,
}

impl Kept {
    /// Whether there was nothing to do, and nothing failed.
    pub fn is_idle(&self) -> bool {
        let seen = Self {
            near: Walked {
                events: self.near.events,
                ..Walked::default()
            },
            far: Walked {
                events: self.far.events,
                ..Walked::default()
            },
            tickets: Tickets {
                left: self.tickets.left,
                unreadable: self.tickets.unreadable,
                ..Tickets::default()
            },
            folded: self.folded,
            totals_behind_s: self.totals_behind_s,
            ..Self::default()
        };
        *self == seen
    }
}
