//! One hint: its delivery is attempted and the attempt recorded, or what stands in the way of that is.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use switchboard_aws::client::RECORDING;
use switchboard_core::attempt::{Attempt, Performed};
use switchboard_core::delivery::DeathReason;
use switchboard_core::fail::{self, FailPoint};
use switchboard_core::ports::{Answer, BackendError, Begun, Keep};
use switchboard_core::time::Timestamp;
use tokio::time::timeout;

use crate::back::{ENDING, Settled};
use crate::batch::{Means, Time, Worker};
use crate::desk::{Configured, Desk, Meant, Queue};

/// How long is read on behind an answer's head.
const READING_ON: Duration = Duration::from_millis(500);
/// What an attempt takes beside its destination's time limit. Of an invocation's 90 seconds an attempt with the longest time
/// limit, a minute, leaves 6 for what comes before it.
pub(crate) const BESIDE: Duration = RECORDING.saturating_add(READING_ON).saturating_add(ENDING);
/// How long is waited out for a delivery that is not due yet.
const WAITED_OUT: Duration = Duration::from_secs(1);
/// How often an attempt is recorded that could not be; making it again instead would be worse.
const RECORDS: u32 = 3;
/// How long between two of these.
const BETWEEN: Duration = Duration::from_millis(200);
/// How far the clocks of two functions are apart at most.
const APART: Duration = Duration::from_secs(5);
/// How old a look at the configuration may be by which a delivery is given up that was due long before it.
const RECENT: Duration = Duration::from_secs(1);

/// A hint that was received so often, in an invocation with so much time.
pub(crate) struct Asked<'a, H> {
    pub(crate) hint: &'a H,
    pub(crate) meant: &'a Meant,
    pub(crate) receives: u32,
    pub(crate) time: Time,
}

/// Whether the newest configuration was looked at for this hint.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Looked {
    No,
    Yes,
}

impl<D: Desk + Queue> Worker<D> {
    /// Deals with a hint. Nothing is begun that may not end in time.
    ///
    /// A delivery whose destination the configuration lacks is buried by the newest one only: whoever planned it may have
    /// known of a destination that was added a moment ago, or again. Where that cannot be read the hint is given back.
    /// A plan by an older configuration than the worker's names what is there no more, and is buried as well.
    ///
    /// Held it is by the newest settings only: what was released a moment ago goes.
    pub(crate) async fn hint<C: Configured>(
        &self,
        configured: &C,
        mut means: Arc<Means<C::Transport>>,
        asked: Asked<'_, D::Hint>,
    ) -> Answer<Settled> {
        let (hint, receives, ends) = (asked.hint, asked.receives, asked.time.ends);
        let destination = &asked.meant.destination;
        let mut looked = Looked::No;
        loop {
            // Before the read, and without a place: the queue counts in whole seconds.
            let early = asked.meant.due.since(self.clock.now());
            if !early.is_zero() && early <= WAITED_OUT {
                pause(early).await;
            }
            let keep = means.configuration.keep();
            let limits = means.configuration.limits(destination);
            let takes = limits.time_limit.saturating_add(BESIDE);
            // What is left before an attempt would have to be begun.
            let left = ends.since(self.clock.now().plus(takes));
            let place = means.places.take(destination, limits.max_in_flight);
            let Ok(Some(place)) = timeout(left, place).await else {
                return Ok(Settled::Back(self.again(receives)));
            };
            let mut settings = self.desk.settings().await?;
            if settings.held.contains(destination) {
                settings = self.desk.newest_settings().await?;
            }
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
                return Ok(Settled::Back(self.elsewhere(receives)));
            }
            let performing = means.performer.perform(&attempt, &settings);
            let performed = match AssertUnwindSafe(performing).catch_unwind().await {
                Ok(Ok(performed)) => performed,
                Ok(Err(DeathReason::NoDestination)) if looked == Looked::No => {
                    drop(place);
                    means = configured.newest(self.since(&asked)).await?;
                    looked = Looked::Yes;
                    continue;
                }
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

    /// Since when a look at the configuration counts for a hint, in ticks. Whoever made the hint had read the configuration
    /// before it was due, so what a look finds behind that is as new; but by the clock of another machine. Where it was due
    /// long ago any recent look does, so that a queue of them shares one; else it has to begin in this invocation.
    fn since(&self, asked: &Asked<'_, D::Hint>) -> Duration {
        let began = asked.time.began;
        if asked.meant.due.plus(APART) <= self.clock.now() {
            return began.saturating_sub(RECENT);
        }
        began
    }

    /// Records an attempt, if need be more than once: all of them come to the same. Together they end before the
    /// invocation does; what they left then is given back, and the attempt made again under its own number.
    async fn record(
        &self,
        attempt: &Attempt,
        performed: &Performed,
        keep: Keep,
        ends: Timestamp,
    ) -> Answer<()> {
        const DOING: &str = "recording an attempt";
        fail::reach(FailPoint::BeforeRecord);
        let recording = self.record_until_it_holds(attempt, performed, keep);
        let recorded = timeout(self.left(ends), recording).await;
        recorded.unwrap_or_else(|_| {
            let why = "the invocation's time was over";
            Err(BackendError::new(DOING, why))
        })?;
        fail::reach(FailPoint::AfterRecord);
        Ok(())
    }

    async fn record_until_it_holds(
        &self,
        attempt: &Attempt,
        performed: &Performed,
        keep: Keep,
    ) -> Answer<()> {
        let mut tries: u32 = 1;
        loop {
            match self.desk.record(attempt, performed, keep).await {
                Ok(_) => return Ok(()),
                Err(error) if tries >= RECORDS => return Err(error),
                Err(_) => pause(BETWEEN).await,
            }
            tries = tries.saturating_add(1);
        }
    }
}

/// Lets the other work go on for so long.
pub(crate) async fn pause(pause: Duration) {
    let _ = timeout(pause, std::future::pending::<()>()).await;
}
