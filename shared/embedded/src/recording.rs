//! Whether a lane's attempts can be recorded: told once when it begins to fail, for each reason, and once when it holds
//! again, however many attempts wait meanwhile and however long.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use switchboard_core::names::DestinationName;
use switchboard_core::ports::BackendError;

/// What is known of one lane.
#[derive(Debug)]
pub(crate) struct Recording {
    destination: DestinationName,
    failing: Mutex<Failing>,
}

#[derive(Debug, Default)]
struct Failing {
    /// Attempts that could not be recorded so far.
    waiting: usize,
    /// Why, as it was told.
    told: BTreeSet<String>,
}

impl Recording {
    pub(crate) fn new(destination: DestinationName) -> Self {
        Self {
            destination,
            failing: Mutex::default(),
        }
    }

    /// An attempt that is to be recorded.
    pub(crate) fn attempt(&self) -> Unrecorded<'_> {
        Unrecorded {
            recording: self,
            stands: Stands::New,
        }
    }

    fn failing(&self) -> MutexGuard<'_, Failing> {
        self.failing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stands {
    /// Nothing has failed.
    New,
    /// It waits to be recorded again.
    Waiting,
}

/// An attempt until it is recorded, or given up.
#[derive(Debug)]
pub(crate) struct Unrecorded<'a> {
    recording: &'a Recording,
    stands: Stands,
}

impl Unrecorded<'_> {
    /// It could not be recorded this time.
    pub(crate) fn failed(&mut self, error: &BackendError) {
        let mut failing = self.recording.failing();
        if self.stands == Stands::New {
            self.stands = Stands::Waiting;
            failing.waiting = failing.waiting.saturating_add(1);
        }
        let error = error.line();
        if failing.told.insert(error.clone()) {
            tracing::error!(destination = %self.recording.destination, error, "attempts are not recorded; trying again until they are");
        }
    }

    /// It is recorded.
    pub(crate) fn recorded(mut self) {
        if self.leave() {
            tracing::info!(destination = %self.recording.destination, "attempts are recorded again");
        }
    }

    /// Whether it was the last that waited.
    fn leave(&mut self) -> bool {
        if std::mem::replace(&mut self.stands, Stands::New) == Stands::New {
            return false;
        }
        let mut failing = self.recording.failing();
        failing.waiting = failing.waiting.saturating_sub(1);
        if failing.waiting == 0 {
            failing.told.clear();
        }
        failing.waiting == 0
    }
}

impl Drop for Unrecorded<'_> {
    fn drop(&mut self) {
        self.leave();
    }
}
