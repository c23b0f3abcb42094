//! Lanes: one for each destination, attempting what is due of it. A slow destination fills only its own lane. What is
//! under way is known in memory only, so a restart finds it due again.

use std::collections::BTreeSet;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use switchboard_core::attempt::{Performed, Performer};
use switchboard_core::configuration::Configuration;
use switchboard_core::delivery::Next;
use switchboard_core::fail::{self, FailPoint};
use switchboard_core::names::DestinationName;
use switchboard_core::ports::{SettingsStore, Transport};
use switchboard_core::time::Clock;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::lane::{Lane, Place, Ready};
use crate::recording::Recording;
use crate::recovery;
use crate::store::Store;
use crate::wakes::Look;

/// Longest time a lane sleeps: a wall clock that was set back cannot strand it.
pub(crate) const LONGEST_SLEEP: Duration = Duration::from_secs(30);
/// Pause after the store failed.
pub(crate) const AFTER_FAILURE: Duration = Duration::from_secs(1);
/// Most deliveries moved by one step, so that steps of others get their turn.
pub(crate) const STEP: u32 = 500;

/// Delivers everything that the store says is due.
pub struct Lanes<T> {
    work: Arc<Work<T>>,
    recover_every: Duration,
}

/// What every lane works with.
pub(crate) struct Work<T> {
    pub(crate) store: Arc<Store>,
    performer: Performer<T>,
    pub(crate) configuration: Arc<Configuration>,
    pub(crate) clock: Arc<dyn Clock>,
}

impl<T: Transport> Lanes<T> {
    /// Lanes over `store` for the destinations of a configuration and any other that has open deliveries.
    pub fn new(
        store: Arc<Store>,
        performer: Performer<T>,
        configuration: Arc<Configuration>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let work = Work {
            store,
            performer,
            configuration,
            clock,
        };
        Self {
            work: Arc::new(work),
            recover_every: LONGEST_SLEEP,
        }
    }

    /// The same, looking this often for a release that was cut; every half minute otherwise.
    #[must_use]
    pub fn recovering_every(self, recover_every: Duration) -> Self {
        Self {
            recover_every,
            ..self
        }
    }

    /// Recovers what a crash left, then delivers until `stop` says so, then waits for the attempts under way.
    pub async fn run(self, mut stop: watch::Receiver<bool>) {
        let wakes = Arc::clone(&self.work.store.wakes);
        for destination in &self.work.configuration.destinations {
            wakes.bell(&destination.name);
        }
        wakes.bell(&DestinationName::your_endpoint());
        recovery::recover(&self.work.store, &*self.work.clock, &mut stop).await;
        let mut lanes = JoinSet::new();
        let mut started: BTreeSet<DestinationName> = BTreeSet::new();
        while !*stop.borrow() {
            for destination in wakes.destinations() {
                if started.insert(destination.clone()) {
                    lanes.spawn(lane(Arc::clone(&self.work), destination, stop.clone()));
                }
            }
            tokio::select! {
                () = wakes.more.notified() => {}
                Some(Ok(ended)) = lanes.join_next() => {
                    started.remove(&ended);
                }
                // A release that was cut between its steps is finished while everything runs, too.
                () = pause(self.recover_every) => {
                    recovery::recover(&self.work.store, &*self.work.clock, &mut stop).await;
                }
                _ = stop.changed() => {}
            }
        }
        while lanes.join_next().await.is_some() {}
    }
}

impl<T: Transport> Work<T> {
    /// Makes one attempt and keeps what it came to. A record that fails is made again until it holds: the attempt was
    /// made, and making it again instead would be a seventh. When the lane has to look for the delivery again: until
    /// the attempt has ended it passes it over, and may have done so at its due time.
    pub(crate) async fn attempt(
        &self,
        ready: Ready,
        place: Place,
        recording: &Recording,
        mut stop: watch::Receiver<bool>,
    ) -> Look {
        let Ready { seq, attempt } = ready;
        let attempt = Arc::new(attempt);
        let settings = match self.store.settings().await {
            Ok(settings) => settings,
            Err(error) => {
                tracing::error!(error = %error.line(), "settings not read");
                return Look::Now;
            }
        };
        let performed = match AssertUnwindSafe(self.performer.perform(&attempt, &settings))
            .catch_unwind()
            .await
        {
            Ok(performed) => performed,
            // Counted as an attempt, so that what breaks our code ends as a dead letter instead of coming for ever.
            Err(_) => Ok(self.performer.broke_off(&attempt)),
        };
        drop(place);
        let Ok(Performed { record, next }) = performed else {
            return Look::Now;
        };
        let keep = self.configuration.keep();
        fail::reach(FailPoint::BeforeRecord);
        let mut unrecorded = recording.attempt();
        while let Err(error) = self.store.settle(seq, &attempt, &record, next, keep).await {
            unrecorded.failed(&error);
            drop(timeout(AFTER_FAILURE, stop.changed()).await);
            if *stop.borrow() {
                return Look::Now;
            }
        }
        unrecorded.recorded();
        fail::reach(FailPoint::AfterRecord);
        match next {
            Next::Delivered => Look::Never,
            Next::Waiting(due) => Look::At(due),
            // It may have been redriven meanwhile.
            Next::Dead(_) => Look::Now,
        }
    }
}

/// Runs a destination's lane until the stop, or until our own code breaks off: then its name comes back after a pause,
/// for the lane to be started again. What was under way is due again, as after a crash.
async fn lane<T: Transport>(
    work: Arc<Work<T>>,
    destination: DestinationName,
    mut stop: watch::Receiver<bool>,
) -> DestinationName {
    let run = async { Lane::new(work, destination.clone()).run(stop.clone()).await };
    if AssertUnwindSafe(run).catch_unwind().await.is_err() {
        tracing::error!(destination = %destination, "a lane broke off; starting it again");
        drop(timeout(AFTER_FAILURE, stop.changed()).await);
    }
    destination
}

/// Lets time pass, as one of the things a lane waits for.
pub(crate) async fn pause(time: Duration) {
    drop(timeout(time.min(LONGEST_SLEEP), std::future::pending::<()>()).await);
}
