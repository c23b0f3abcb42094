//! Lanes: one for each destination, attempting what is due of it. A slow destination fills only its own lane. What is
//! under way is known in memory only, so a restart finds it due again.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use switchboard_core::attempt::{Attempt, Performed, Performer};
use switchboard_core::configuration::Configuration;
use switchboard_core::fail::{self, FailPoint};
use switchboard_core::identity::DeliveryId;
use switchboard_core::names::DestinationName;
use switchboard_core::ports::{Answer, Ledger, SettingsStore, Transport, Views};
use switchboard_core::time::{Clock, Timestamp};
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::store::Store;
use crate::{recovery, rows};

/// Longest time a lane sleeps: a wall clock that was set back cannot strand it.
const LONGEST_SLEEP: Duration = Duration::from_secs(30);
/// Most bytes of bodies that one lane holds in memory; a single longer body goes alone.
const MOST_BYTES: usize = 32 * 1024 * 1024;
/// Pause after the store failed.
pub(crate) const AFTER_FAILURE: Duration = Duration::from_secs(1);
/// Most deliveries moved by one step, so that steps of others get their turn.
pub(crate) const STEP: u32 = 500;

/// Delivers everything that the store says is due.
pub struct Lanes<T> {
    work: Arc<Work<T>>,
    configuration: Arc<Configuration>,
    recover_every: Duration,
}

struct Work<T> {
    store: Arc<Store>,
    performer: Performer<T>,
    configuration: Arc<Configuration>,
    clock: Arc<dyn Clock>,
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
            configuration: Arc::clone(&configuration),
            clock,
        };
        Self {
            work: Arc::new(work),
            configuration,
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
        for destination in &self.configuration.destinations {
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
        fail::reach(FailPoint::BeforeLastWrite);
        // A last write takes with it what could only be counted in memory.
        if let Err(error) = self.work.store.ready().await {
            tracing::error!(error = %error.line(), "the store cannot be written at the end");
        }
    }
}

impl<T: Transport> Work<T> {
    /// Makes one attempt and keeps what it came to. A record that fails is made again until it holds: the attempt was
    /// made, and making it again instead would be a seventh.
    async fn attempt(&self, attempt: Attempt, mut stop: watch::Receiver<bool>) {
        let settings = match self.store.settings().await {
            Ok(settings) => settings,
            Err(error) => return tracing::error!(error = %error.line(), "settings not read"),
        };
        let performed = match AssertUnwindSafe(self.performer.perform(&attempt, &settings))
            .catch_unwind()
            .await
        {
            Ok(performed) => performed,
            // Counted as an attempt, so that what breaks our code ends as a dead letter instead of coming for ever.
            Err(_) => Ok(self.performer.broke_off(&attempt)),
        };
        let Ok(Performed { record, next }) = performed else {
            return;
        };
        let keep = self.configuration.keep();
        fail::reach(FailPoint::BeforeRecord);
        while let Err(error) = self.store.record(&attempt, &record, next, keep).await {
            tracing::error!(delivery.id = %attempt.key.id, error = %error.line(), "attempt not recorded; trying again");
            drop(timeout(AFTER_FAILURE, stop.changed()).await);
            if *stop.borrow() {
                return;
            }
        }
        fail::reach(FailPoint::AfterRecord);
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

/// What a lane found to do now, and what comes then.
struct Due {
    attempts: Vec<Attempt>,
    then: Then,
}

/// When there is more to do.
enum Then {
    /// Nothing is known of.
    Nothing,
    /// Not before this moment.
    At(Timestamp),
    /// When an attempt under way has ended: every place is taken, or there is no room for another body.
    OneEnds,
}

impl Then {
    fn sleep(&self, now: Timestamp) -> Duration {
        match self {
            Self::Nothing | Self::OneEnds => LONGEST_SLEEP,
            Self::At(due) => due.since(now),
        }
    }
}

/// One destination's lane.
struct Lane<T> {
    work: Arc<Work<T>>,
    destination: DestinationName,
    bell: Arc<Notify>,
    /// The deliveries under way, with the length of their bodies.
    under_way: BTreeMap<DeliveryId, usize>,
    attempts: JoinSet<DeliveryId>,
}

impl<T: Transport> Lane<T> {
    fn new(work: Arc<Work<T>>, destination: DestinationName) -> Self {
        let bell = work.store.wakes.bell(&destination);
        Self {
            work,
            destination,
            bell,
            under_way: BTreeMap::new(),
            attempts: JoinSet::new(),
        }
    }

    async fn run(mut self, mut stop: watch::Receiver<bool>) {
        while !*stop.borrow() {
            let sleep = match self.turn(&stop).await {
                Ok(sleep) => sleep,
                Err(error) => {
                    tracing::error!(destination = %self.destination, error = %error.line(), "lane failed; trying again");
                    AFTER_FAILURE
                }
            };
            tokio::select! {
                () = self.bell.notified() => {}
                Some(done) = self.attempts.join_next() => self.settle(done),
                _ = stop.changed() => {}
                () = pause(sleep) => {}
            }
            while let Some(done) = self.attempts.try_join_next() {
                self.settle(done);
            }
        }
        while self.attempts.join_next().await.is_some() {}
    }

    fn settle(&mut self, done: Result<DeliveryId, tokio::task::JoinError>) {
        match done {
            Ok(delivery) => {
                self.under_way.remove(&delivery);
            }
            Err(error) => {
                // Which one is not known any more; the others finish, then all that is due is found again.
                tracing::error!(destination = %self.destination, error = %error, "an attempt broke off");
                if self.attempts.is_empty() {
                    self.under_way.clear();
                }
            }
        }
    }

    /// Starts what can be started now; how long there is nothing more to do.
    async fn turn(&mut self, stop: &watch::Receiver<bool>) -> Answer<Duration> {
        let (store, now) = (&self.work.store, self.work.clock.now());
        let keep = self.work.configuration.keep();
        let settings = store.settings().await?;
        if let Some(reason) = switchboard_core::attempt::missing(
            &self.work.configuration,
            &self.destination,
            &settings,
        ) {
            fail::reach(FailPoint::BeforeBury);
            let moved = store
                .bury(&self.destination, reason, now, keep, STEP)
                .await?;
            fail::reach(FailPoint::AfterBury);
            return Ok(if moved.left > 0 {
                Duration::ZERO
            } else {
                LONGEST_SLEEP
            });
        }
        if settings.held.contains(&self.destination) {
            fail::reach(FailPoint::BeforeShelve);
            let moved = store.shelve(&self.destination, now, keep, STEP).await?;
            fail::reach(FailPoint::AfterShelve);
            if moved.left > 0 {
                return Ok(Duration::ZERO);
            }
            return Ok(self.due(now, 0).await?.then.sleep(now));
        }
        let places = self
            .work
            .configuration
            .limits(&self.destination)
            .max_in_flight;
        let free = places.saturating_sub(self.under_way.len());
        if free == 0 {
            return Ok(LONGEST_SLEEP);
        }
        let due = self.due(now, free).await?;
        for attempt in due.attempts {
            let (work, id, stop) = (Arc::clone(&self.work), attempt.key.id.clone(), stop.clone());
            self.under_way.insert(id.clone(), attempt.event.body.len());
            self.attempts.spawn(async move {
                work.attempt(attempt, stop).await;
                id
            });
        }
        Ok(due.then.sleep(now))
    }

    /// At most `free` attempts that are due and not under way, as far as there is room for their bodies.
    async fn due(&self, now: Timestamp, free: usize) -> Answer<Due> {
        let destination = self.destination.clone();
        let under_way = self.under_way.clone();
        self.work
            .store
            .read_for_lanes("finding what is due", move |connection| {
                let sql = "SELECT d.id, d.due, length(e.body) FROM delivery d JOIN event e ON e.seq = d.event
                           WHERE d.destination = ?1 AND d.state = 0 ORDER BY d.due LIMIT ?2";
                let mut held: usize = under_way.values().sum();
                let most = free.saturating_add(under_way.len()).saturating_add(1);
                let mut statement = connection.prepare_cached(sql)?;
                let mut found = statement.query((destination.as_str(), i64::try_from(most).unwrap_or(i64::MAX)))?;
                let mut due = Due { attempts: Vec::new(), then: Then::Nothing };
                while let Some(row) = found.next()? {
                    let (id, at, length): (String, i64, usize) = (row.get(0)?, row.get(1)?, row.get(2)?);
                    let at = Timestamp::from_millis(at);
                    if under_way.contains_key(&rows::delivery_id(&id)?) {
                        continue;
                    }
                    if at > now {
                        due.then = Then::At(at);
                        break;
                    }
                    let more = held.saturating_add(length);
                    if due.attempts.len() == free || (held > 0 && more > MOST_BYTES) {
                        due.then = Then::OneEnds;
                        break;
                    }
                    held = more;
                    due.attempts.extend(rows::attempt_of(connection, &id)?);
                }
                Ok(due)
            })
            .await
    }
}

/// Lets time pass, as one of the things a lane waits for.
async fn pause(time: Duration) {
    drop(timeout(time.min(LONGEST_SLEEP), std::future::pending::<()>()).await);
}
