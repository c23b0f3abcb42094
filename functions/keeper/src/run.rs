//! One run: its budget of time, the one line that tells of it, and whether it failed.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use switchboard_aws::Aws;
use switchboard_aws::keeper::{Budget, Keeper, KeeperIntervals, Kept, Step};
use switchboard_core::configuration::Configuration;
use switchboard_core::deployed::Deployed;
use switchboard_core::time::{Clock, Timestamp};
use switchboard_functions::board::Board;
use switchboard_functions::log::MEASURED;

/// What is left of the platform's limit for the last calls under way, each of which may take some seconds.
const LEFT: Duration = Duration::from_secs(8);
/// The longest run: the next one comes a minute after the one before.
const LONGEST: Duration = Duration::from_secs(45);

/// Steps of a run failed, or did not come to an end in their time. Each is in the log with its reason; this is for whoever
/// counts the function's errors. The next run goes on with them.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Failed(Vec<Step>);

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let steps: Vec<&str> = self.0.iter().map(|step| step.as_str()).collect();
        write!(f, "not done in this run: {}", steps.join(", "))
    }
}

impl std::error::Error for Failed {}

/// What all runs share.
pub(crate) struct Runs {
    aws: Arc<Aws>,
    deployed: Arc<Deployed>,
    clock: Arc<dyn Clock>,
    intervals: KeeperIntervals,
}

impl Runs {
    /// Runs over `board`.
    pub(crate) fn new(board: Board, clock: Arc<dyn Clock>, intervals: KeeperIntervals) -> Self {
        Self {
            aws: Arc::new(board.aws),
            deployed: board.deployed,
            clock,
            intervals,
        }
    }

    /// Makes a run that ends before `deadline`, in milliseconds since 1970. All steps are made, whichever fails.
    pub(crate) async fn one(&self, deadline: u64) -> Result<(), Failed> {
        let (now, ticks) = (self.clock.now(), self.clock.ticks());
        let current = self.deployed.current().await;
        // Without one, what dies is kept as long as by default.
        let keep = current.map_or_else(
            |_| Configuration::empty().keep(),
            |current| current.configuration.keep(),
        );
        let keeper = Keeper::new(Arc::clone(&self.aws), self.intervals, keep);
        let kept = keeper.run(now, budget(now, deadline)).await;
        log(&kept, self.clock.ticks().saturating_sub(ticks));
        if kept.failed.is_empty() {
            return Ok(());
        }
        Err(Failed(kept.failed))
    }
}

/// What a run may do that begins now.
fn budget(now: Timestamp, deadline: u64) -> Budget {
    let deadline = Timestamp::from_millis(i64::try_from(deadline).unwrap_or(i64::MAX));
    let whole = deadline.since(now).saturating_sub(LEFT).min(LONGEST);
    let fold_time = whole / 3;
    Budget {
        time: whole.saturating_sub(fold_time),
        fold_time,
        ..Budget::default()
    }
}

/// The one line of a run; the metric of how far the totals are behind is made of it, so it is written at any level.
fn log(kept: &Kept, took: Duration) {
    tracing::info!(
        target: MEASURED,
        without_record = kept.near.queued.saturating_add(kept.far.queued),
        overdue = kept.overdue,
        returned = kept.returned.sent_back,
        dropped = kept.returned.dropped,
        died = kept.returned.died,
        released = kept.released,
        tickets_put = kept.tickets_put,
        tickets_removed = kept.tickets.removed,
        folded = kept.folded,
        failed = kept.failed.len(),
        totals_behind_s = kept.totals_behind_s,
        duration_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        "kept"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_done_is_named() {
        let failed = Failed(vec![Step::Near, Step::Fold]);
        let told = "not done in this run: events without records, near, the fold";
        assert_eq!(failed.to_string(), told);
    }

    #[test]
    fn a_run_ends_before_the_platform_ends_it_and_before_the_next() {
        let now = Timestamp::from_seconds(1_000);
        let whole = |deadline| {
            let budget = budget(now, deadline);
            assert_eq!(budget.fold_time * 2, budget.time, "the fold has its third");
            budget.time.saturating_add(budget.fold_time)
        };
        assert_eq!(whole(1_055_000), Duration::from_secs(45));
        assert_eq!(whole(1_020_000), Duration::from_secs(12));
        assert_eq!(whole(1_005_000), Duration::ZERO);
    }
}
