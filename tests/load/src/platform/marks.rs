//! Moments of one start of a function: what reached the platform or a service, and when.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::clock;
use crate::lock::locked;

/// Something that reached the platform, a service or a destination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    /// What it is.
    pub(crate) what: String,
    /// How long after the beginning.
    pub(crate) after: Duration,
}

/// The marks since a beginning.
pub(crate) struct Marks(Mutex<Noted>);

struct Noted {
    since: Instant,
    marks: Vec<Mark>,
}

impl Marks {
    /// None yet; the beginning is now.
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Noted {
            since: clock::started(),
            marks: Vec::new(),
        }))
    }

    /// This is the beginning, and there are no marks yet.
    pub(crate) fn begin(&self) {
        *locked(&self.0) = Noted {
            since: clock::started(),
            marks: Vec::new(),
        };
    }

    /// This happens now.
    pub(crate) fn note(&self, what: impl Into<String>) {
        let mut noted = locked(&self.0);
        let after = noted.since.elapsed();
        let what = what.into();
        noted.marks.push(Mark { what, after });
    }

    /// The marks so far, in the order in which they came.
    pub(crate) fn take(&self) -> Vec<Mark> {
        std::mem::take(&mut locked(&self.0).marks)
    }
}
