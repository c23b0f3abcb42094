//! Giving messages back: what is decided on one, and when the queue shows it again.

use std::sync::PoisonError;
use std::time::Duration;

use switchboard_core::retry::jittered;
use switchboard_core::time::Timestamp;
use tokio::time::timeout;

use crate::batch::Worker;
use crate::desk::Queue;
use crate::event::{Named, Received};

/// How long a message is left alone that comes to nothing now; as much longer each time it comes again.
const PAUSE: Duration = Duration::from_secs(10);
/// The longest of those pauses.
const LONGEST: Duration = Duration::from_mins(10);
/// How far chance moves them, as a part of them.
const JITTER: f64 = 0.2;
/// What is kept of an invocation's time for giving messages back and for the answer.
pub(crate) const ENDING: Duration = Duration::from_secs(2);
/// What of that is for the answer alone.
const ANSWER: Duration = Duration::from_millis(500);

/// What becomes of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Settled {
    /// The queue may forget it.
    Done,
    /// The queue gets it back, and shows it again after this pause.
    Back(Duration),
}

impl<D> Worker<D> {
    /// How long a message is left alone that was received so often: ten seconds for each time, ten minutes at most, and up to
    /// a fifth longer or shorter by chance, since those that are given back together would come back together.
    ///
    /// This holds for what failed and for what found no place with its destination. After fifty times the queue gives a
    /// message up, and the keeper counts that; so it has to stay far from fifty for as long as a destination with a long
    /// queue may be busy. With these pauses the fifty take three hours and a half. Whoever comes new waits less than
    /// whoever came often, which takes turns away from the latter, but a pause that stayed short would use them up.
    /// To be given back costs one call; only the attempt that is made in the end reads what a first one need not.
    pub(crate) fn again(&self, receives: u32) -> Duration {
        let mut rng = self.rng.lock().unwrap_or_else(PoisonError::into_inner);
        jittered(
            PAUSE.saturating_mul(receives).min(LONGEST),
            JITTER,
            &mut **rng,
        )
    }

    /// How long a message is left alone that came too late in its invocation: another one has all of its time, so it is
    /// shown at once. Only the first time: what no invocation has the time for must not come fifty times in a row.
    pub(crate) fn elsewhere(&self, receives: u32) -> Duration {
        if receives <= 1 {
            return Duration::ZERO;
        }
        self.again(receives)
    }

    /// What is left until the messages are to be given back that nothing was decided on.
    pub(crate) fn left(&self, ends: Timestamp) -> Duration {
        ends.since(self.clock.now().plus(ENDING))
    }
}

impl<D: Queue> Worker<D> {
    /// Says when the queue is to show a message again; without that it does so after its own time.
    pub(crate) async fn give_back(
        &self,
        message: &Received,
        pause: Duration,
        ends: Timestamp,
    ) -> Named {
        let left = ends.since(self.clock.now().plus(ANSWER));
        let hidden = timeout(left, self.desk.hide(&message.receipt_handle, pause)).await;
        let why = match hidden {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(error.line()),
            Err(_) => Some("the invocation's time was over".to_owned()),
        };
        if let Some(why) = why {
            tracing::warn!(message.id = message.message_id, error = %why, "given back for longer");
        }
        Named {
            id: message.message_id.clone(),
        }
    }
}
