//! The keeper: finds each minute what a crash left behind. Every step runs, also where an earlier one failed or took all the
//! time it could; any of them may run twice at once and die between any two calls.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use switchboard_core::ports::{Answer, BackendError, Keep, Ledger};
use switchboard_core::time::Timestamp;
use tokio::time::timeout;
use tracing::{error, warn};

use crate::Aws;
use crate::fold::Behind;

use self::cursor::Walk;
pub use self::kept::{Budget, Kept, Returned, Step, Tickets, Walked};

mod cursor;
mod inbox;
mod kept;
mod overdue;
mod owed;
mod records;
mod returned;
mod tickets;
mod turns;
mod walk;
mod whole;

/// How often in one step a call may fail before the step is left to the next run: one delivery that cannot be dealt with
/// must not hold up the others, and a table that is away must not be asked for each of them.
const FAILURES: u32 = 3;

/// Distances and pauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeeperIntervals {
    /// How far behind the present the first walk over recent events is.
    pub near: Duration,
    /// How far behind it the second one is: what an index showed too late for the first is found by it.
    pub far: Duration,
    /// When a delivery is looked at whose record a walk has put.
    pub first_look: Duration,
    /// When one is looked at again whose hint was queued; then after twice as long each time.
    pub next_look: Duration,
    /// The longest of these pauses.
    pub longest_look: Duration,
    /// How often a delivery's return is counted at most.
    pub count_returns: Duration,
    /// How long what nobody can read is left alone: the service hides nothing for more than 12 hours from its receipt on.
    pub hide_unreadable: Duration,
    /// How long what is taken from a queue stays hidden: longer than a run takes, so that nothing comes twice in it.
    pub hide_taken: Duration,
    /// How long tickets that were looked at are left alone while there are more than the budget covers.
    pub hide_tickets: Duration,
}

impl Default for KeeperIntervals {
    fn default() -> Self {
        Self {
            near: Duration::from_mins(3),
            far: Duration::from_hours(1),
            first_look: Duration::from_hours(1),
            next_look: Duration::from_mins(10),
            longest_look: Duration::from_hours(24),
            count_returns: Duration::from_hours(1),
            hide_unreadable: Duration::from_mins(12 * 60 - 10),
            hide_taken: Duration::from_mins(2),
            hide_tickets: Duration::from_mins(5),
        }
    }
}

/// The keeper of a backend.
pub struct Keeper {
    pub(crate) aws: Arc<Aws>,
    pub(crate) intervals: KeeperIntervals,
    pub(crate) keep: Keep,
}

impl Keeper {
    /// A keeper; `keep` is how long events are kept, for those that it makes dead letters.
    pub fn new(aws: Arc<Aws>, intervals: KeeperIntervals, keep: Keep) -> Self {
        Self {
            aws,
            intervals,
            keep,
        }
    }

    /// One run: all steps, each within its budget and its turn. What is left comes with the next run. A failure is logged and
    /// counted. Whatever there is to do, the fold gets its time: totals that are a day behind could never be mended.
    pub async fn run(&self, now: Timestamp, budget: Budget) -> Kept {
        let mut kept = Kept::default();
        let came_to = self.steps(now, budget, &mut kept).await;
        for (step, came_to) in came_to {
            kept.after(step, came_to);
        }
        let folding = self.fold(now, budget.reads, &mut kept);
        let folded = timeout(budget.fold_time, folding).await;
        kept.after(Step::Fold, folded.unwrap_or_else(|_| Err(late())));
        kept.after(Step::Journal, self.aws.flush().await);
        for (reason, count) in &kept.returned.unreadable {
            warn!(
                keeper.reason = reason,
                keeper.count = count,
                "messages that nobody can read are kept"
            );
        }
        kept
    }

    /// The steps before the fold, one after the other, and what each came to.
    async fn steps(
        &self,
        now: Timestamp,
        budget: Budget,
        kept: &mut Kept,
    ) -> Vec<(Step, Answer<()>)> {
        let Kept {
            near,
            far,
            overdue,
            returned,
            released,
            tickets_put,
            tickets,
            ..
        } = kept;
        let steps = vec![
            (
                Step::Near,
                self.walk(Walk::Near, now, budget.events, near).boxed(),
            ),
            (
                Step::Far,
                self.walk(Walk::Far, now, budget.events, far).boxed(),
            ),
            (
                Step::Overdue,
                self.queue_overdue(now, budget.deliveries, overdue).boxed(),
            ),
            (
                Step::Returned,
                self.sort_returned(now, budget.returned, returned).boxed(),
            ),
            (
                Step::Held,
                self.release(now, budget.deliveries, released).boxed(),
            ),
            (
                Step::Owed,
                self.put_tickets(now, budget.deliveries, tickets_put)
                    .boxed(),
            ),
            (
                Step::Tickets,
                self.clear_tickets(budget.tickets, tickets).boxed(),
            ),
        ];
        turns::take(steps, budget.time, &*self.aws.clock).await
    }

    async fn fold(&self, now: Timestamp, reads: u32, kept: &mut Kept) -> Answer<()> {
        let mut last = now;
        if let Some(whole) = self.whole_since().await? {
            last = whole;
        } else {
            // A new table, whose totals have nothing to be behind of; or a table that lost it, whose totals may be far behind.
            // It is counted from here on: totals that do not become whole are told of before the stream forgets.
            self.set_whole(now).await?;
        }
        kept.totals_behind_s = Some(now.since(last).as_secs());
        let folded = self.aws.fold(reads).await?;
        kept.folded = folded.records;
        if folded.behind == Behind::No {
            self.set_whole(now).await?;
            kept.totals_behind_s = Some(0);
        }
        Ok(())
    }

    async fn release(&self, now: Timestamp, limit: u32, released: &mut u32) -> Answer<()> {
        *released = self.aws.recover(now, limit).await?.done;
        Ok(())
    }
}

impl Kept {
    /// Counts what a step came to.
    fn after(&mut self, step: Step, came_to: Answer<()>) {
        if let Err(failure) = came_to {
            error!(
                keeper.step = step.as_str(),
                error = failure.line(),
                "a step of the keeper failed; the next run goes on with it"
            );
            self.failed.push(step);
        }
    }
}

fn late() -> BackendError {
    BackendError::new("a run of the keeper", "its time was over")
}
