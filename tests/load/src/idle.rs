//! Connections that rest between two requests.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::clock;
use crate::lock::locked;
use crate::wire::Wire;

/// How long one may rest and be used again: well below the half minute after which the server closes it, since a request
/// that meets the closing gets no answer.
const REST: Duration = Duration::from_secs(10);

/// What rests, the last used at the end.
#[derive(Default)]
pub(crate) struct Idle(Mutex<Vec<(Wire, Instant)>>);

impl Idle {
    /// One to use again, if there is one; those that rested too long are closed.
    pub(crate) fn take(&self) -> Option<Wire> {
        let mut resting = locked(&self.0);
        let (wire, since) = resting.pop()?;
        if since.elapsed() < REST {
            return Some(wire);
        }
        // The others have rested longer.
        resting.clear();
        None
    }

    /// One rests from now on.
    pub(crate) fn give(&self, wire: Wire) {
        locked(&self.0).push((wire, clock::started()));
    }
}
