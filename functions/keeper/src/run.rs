//! One run: its budget of time, and the one line that tells of it.

use std::sync::Arc;
use std::time::Duration;

use switchboard_aws::keeper::{Distances, Keeper, Kept};
use switchboard_core::configuration::Configuration;
use switchboard_core::time::{Clock, Timestamp};
use switchboard_functions::board::Board;

/// What is left of the platform's limit for the last calls under way, each of which may take some seconds.
const LEFT: Duration = Duration::from_secs(8);
/// The longest run: the next one comes a minute after the one before.
const LONGEST: Duration = Duration::from_secs(45);

/// What all runs share.
pub(crate) struct Runs {
    board: Board,
    returned: String,
    clock: Arc<dyn Clock>,
}

impl Runs {
    /// Runs over `board`; what came back is in the queue `returned`.
    pub(crate) const fn new(board: Board, returned: String, clock: Arc<dyn Clock>) -> Self {
        Self {
            board,
            returned,
            clock,
        }
    }

    /// Makes a run that ends before `deadline`, in milliseconds since 1970.
    pub(crate) async fn one(&self, deadline: u64) {
        let ticks = self.clock.ticks();
        let ends = ends(self.clock.now(), deadline);
        let current = self.board.deployed.current().await;
        // Without one, what dies is kept as long as by default.
        let keep = current.map_or_else(
            |_| Configuration::empty().keep(),
            |current| current.configuration.keep(),
        );
        let keeper = Keeper::new(
            &self.board.aws,
            &self.returned,
            Distances::default(),
            keep,
            ends,
        );
        let kept = keeper.run().await;
        log(&kept, self.clock.ticks().saturating_sub(ticks));
    }
}

/// When a run has to have ended that begins now.
fn ends(now: Timestamp, deadline: u64) -> Timestamp {
    let left = i64::try_from(LEFT.as_millis()).unwrap_or(i64::MAX);
    let deadline = i64::try_from(deadline).unwrap_or(i64::MAX);
    let last = Timestamp::from_millis(deadline.saturating_sub(left));
    last.min(now.plus(LONGEST))
}

/// The one line of a run; the metric of how far the totals are behind is made of it.
fn log(kept: &Kept, took: Duration) {
    for (why, messages) in &kept.unreadable {
        tracing::warn!(why, messages, "unreadable messages came back; they stay");
    }
    tracing::info!(
        recorded = kept.recorded,
        overdue = kept.overdue,
        returned = kept.returned,
        dropped = kept.dropped,
        died = kept.died,
        released = kept.released,
        tickets = kept.tickets,
        folded = kept.folded,
        failed = kept.failed,
        totals_behind_s = kept.totals_behind_s,
        duration_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        "kept"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_ends_before_the_platform_ends_it_and_before_the_next() {
        let now = Timestamp::from_seconds(1_000);
        let ends_at = |deadline| ends(now, deadline).since(now);
        assert_eq!(ends_at(1_055_000), Duration::from_secs(45));
        assert_eq!(ends_at(1_020_000), Duration::from_secs(12));
        assert_eq!(ends_at(1_005_000), Duration::ZERO);
    }
}
