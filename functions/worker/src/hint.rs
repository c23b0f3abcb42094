//! One hint: its delivery is attempted and the attempt recorded, or what stands in the way of that is.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt;
use switchboard_core::attempt::{Attempt, Performed};
use switchboard_core::fail::{self, FailPoint};
use switchboard_core::names::DestinationName;
use switchboard_core::ports::{Answer, Begun, Keep, Transport};
use switchboard_core::time::Timestamp;
use tokio::time::timeout;

use crate::batch::{Means, Settled, Worker};
use crate::desk::{Desk, Queue};

/// What an attempt takes beside its destination's time limit: reading on a little, recording, and the next hint.
const BESIDE: Duration = Duration::from_secs(7);
/// How long is waited out for a delivery that is not due yet: the queue counts in whole seconds.
const WAITED_OUT: Duration = Duration::from_secs(1);
/// How often an attempt is recorded that could not be; making it again instead would be worse.
const RECORDS: u32 = 3;
/// How long between two of these.
const BETWEEN: Duration = Duration::from_millis(200);

impl<D: Desk + Queue> Worker<D> {
    /// Deals with a hint. Nothing is begun that may not end before `ends`.
    pub(crate) async fn hint<T: Transport>(
        &self,
        means: &Means<T>,
        hint: &D::Hint,
        destination: &DestinationName,
        receives: u32,
        ends: Timestamp,
    ) -> Answer<Settled> {
        let keep = means.configuration.keep();
        let limits = means.configuration.limits(destination);
        let takes = limits.time_limit.saturating_add(BESIDE);
        loop {
            // What is left before an attempt would have to be begun.
            let left = ends.since(self.clock.now().plus(takes));
            let place = means.places.take(destination, limits.max_in_flight);
            let Ok(Some(place)) = timeout(left, place).await else {
                return Ok(Settled::Back(Duration::ZERO));
            };
            let settings = self.desk.settings().await?;
            let now = self.clock.now();
            if settings.held.contains(destination) {
                self.desk.hold(hint, now, keep).await?;
                return Ok(Settled::Done);
            }
            let attempt = match self.desk.begin(hint, receives, now).await? {
                Begun::Drop => return Ok(Settled::Done),
                Begun::Later(due) if due.since(now) <= WAITED_OUT => {
                    drop(place);
                    pause(due.since(now)).await;
                    continue;
                }
                Begun::Later(due) => return Ok(Settled::Back(due.since(now))),
                Begun::Go(attempt) => attempt,
            };
            if self.clock.now().plus(takes) > ends {
                return Ok(Settled::Back(Duration::ZERO));
            }
            let performing = means.performer.perform(&attempt, &settings);
            let performed = match AssertUnwindSafe(performing).catch_unwind().await {
                Ok(Ok(performed)) => performed,
                Ok(Err(reason)) => {
                    let buried = self.desk.bury(hint, reason, now, keep).await;
                    if buried.is_err() && self.clock.now().plus(BESIDE) <= ends {
                        // It may be dead and have no ticket: a hint that comes again is dropped before it comes to that.
                        self.desk.bury(hint, reason, now, keep).await?;
                    } else {
                        buried?;
                    }
                    return Ok(Settled::Done);
                }
                Err(_) => means.performer.broke_off(&attempt),
            };
            drop(place);
            self.record(&attempt, &performed, keep, ends).await?;
            return Ok(Settled::Done);
        }
    }

    /// Records an attempt, if need be more than once: all of them come to the same.
    async fn record(
        &self,
        attempt: &Attempt,
        performed: &Performed,
        keep: Keep,
        ends: Timestamp,
    ) -> Answer<()> {
        fail::reach(FailPoint::BeforeRecord);
        let mut tries: u32 = 1;
        loop {
            match self.desk.record(attempt, performed, keep).await {
                Ok(_) => {
                    fail::reach(FailPoint::AfterRecord);
                    return Ok(());
                }
                Err(error) if tries >= RECORDS => return Err(error),
                Err(error) if self.clock.now().plus(BESIDE) > ends => return Err(error),
                Err(_) => pause(BETWEEN).await,
            }
            tries = tries.saturating_add(1);
        }
    }
}

/// Lets the other work go on for so long.
async fn pause(pause: Duration) {
    let _ = timeout(pause, std::future::pending::<()>()).await;
}
