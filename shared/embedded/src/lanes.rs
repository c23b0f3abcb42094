//! Lanes: one for each destination, attempting what is due of it. A slow destination fills only its own lane. What is
//! under way is known in memory only, so a restart finds it due again.

use std::collections::BTreeSet;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use switchboard_core::attempt::{Attempt, Performed, Performer};
use switchboard_core::configuration::Configuration;
use switchboard_core::identity::DeliveryId;
use switchboard_core::names::DestinationName;
use switchboard_core::ports::{Answer, Ledger, SettingsStore, Transport};
use switchboard_core::time::{Clock, Timestamp};
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::rows;
use crate::store::Store;
use crate::writer::Failure;

/// Longest time a lane sleeps: a wall clock that was set back cannot strand it.
const LONGEST_SLEEP: Duration = Duration::from_secs(30);
/// Pause after the store failed.
const AFTER_FAILURE: Duration = Duration::from_secs(1);
/// Most deliveries moved by one step, so that steps of others get their turn.
const STEP: u32 = 500;

/// Delivers everything that the store says is due.
pub struct Lanes<T> {
    work: Arc<Work<T>>,
    configuration: Arc<Configuration>,
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
        }
    }

    /// Recovers what a crash left, then delivers until `stop` says so, then waits for the attempts under way.
    pub async fn run(self, mut stop: watch::Receiver<bool>) {
        let wakes = Arc::clone(&self.work.store.wakes);
        for destination in &self.configuration.destinations {
            wakes.bell(&destination.name);
        }
        wakes.bell(&DestinationName::your_endpoint());
        self.work.recover(&mut stop).await;
        let mut lanes = JoinSet::new();
        let mut started: BTreeSet<DestinationName> = BTreeSet::new();
        while !*stop.borrow() {
            for destination in wakes.destinations() {
                if started.insert(destination.clone()) {
                    let lane = Lane::new(Arc::clone(&self.work), destination);
                    lanes.spawn(lane.run(stop.clone()));
                }
            }
            tokio::select! {
                () = wakes.more.notified() => {}
                _ = stop.changed() => {}
            }
        }
        while lanes.join_next().await.is_some() {}
    }
}

impl<T: Transport> Work<T> {
    /// Queues what a crash left half-way, and finds destinations that only old deliveries name.
    async fn recover(&self, stop: &mut watch::Receiver<bool>) {
        while !*stop.borrow() {
            let recovered = self.store.recover(self.clock.now(), STEP).await;
            let open = self
                .store
                .read("finding open deliveries", open_destinations)
                .await;
            match (recovered, open) {
                (Ok(moved), Ok(open)) => {
                    self.store.wakes.wake(open);
                    if moved.left == 0 {
                        return;
                    }
                }
                (Err(error), _) | (_, Err(error)) => {
                    tracing::error!(error = %error.line(), "recovery failed; trying again");
                    drop(timeout(AFTER_FAILURE, stop.changed()).await);
                }
            }
        }
    }

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
        while let Err(error) = self.store.record(&attempt, &record, next, keep).await {
            tracing::error!(delivery.id = %attempt.key.id, error = %error.line(), "attempt not recorded; trying again");
            drop(timeout(AFTER_FAILURE, stop.changed()).await);
            if *stop.borrow() {
                return;
            }
        }
    }
}

/// The destinations that have waiting or held deliveries.
fn open_destinations(connection: &rusqlite::Connection) -> Result<Vec<DestinationName>, Failure> {
    let sql = "SELECT DISTINCT destination FROM delivery WHERE state = 0 UNION SELECT DISTINCT destination FROM delivery WHERE state = 1";
    let mut statement = connection.prepare_cached(sql)?;
    let names: Vec<String> = statement
        .query_map([], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    names.iter().map(|name| rows::destination(name)).collect()
}

/// What a lane found to do.
struct Due {
    attempts: Vec<Attempt>,
    /// When there is more to do than what is under way.
    next: Option<Timestamp>,
}

/// One destination's lane.
struct Lane<T> {
    work: Arc<Work<T>>,
    destination: DestinationName,
    bell: Arc<Notify>,
    under_way: BTreeSet<DeliveryId>,
    attempts: JoinSet<DeliveryId>,
}

impl<T: Transport> Lane<T> {
    fn new(work: Arc<Work<T>>, destination: DestinationName) -> Self {
        let bell = work.store.wakes.bell(&destination);
        Self {
            work,
            destination,
            bell,
            under_way: BTreeSet::new(),
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
            let moved = store
                .bury(&self.destination, reason, now, keep, STEP)
                .await?;
            return Ok(if moved.left > 0 {
                Duration::ZERO
            } else {
                LONGEST_SLEEP
            });
        }
        if settings.held.contains(&self.destination) {
            let moved = store.shelve(&self.destination, now, keep, STEP).await?;
            if moved.left > 0 {
                return Ok(Duration::ZERO);
            }
            let next = self.due(now, 0).await?.next;
            return Ok(next.map_or(LONGEST_SLEEP, |next| next.since(now)));
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
        let full = due.attempts.len() == free;
        for attempt in due.attempts {
            let (work, id, stop) = (Arc::clone(&self.work), attempt.key.id.clone(), stop.clone());
            self.under_way.insert(id.clone());
            self.attempts.spawn(async move {
                work.attempt(attempt, stop).await;
                id
            });
        }
        // With every place taken the next turn comes when one is free.
        Ok(if full {
            LONGEST_SLEEP
        } else {
            due.next.map_or(LONGEST_SLEEP, |next| next.since(now))
        })
    }

    /// At most `free` attempts that are due and not under way, and when the next one is.
    async fn due(&self, now: Timestamp, free: usize) -> Answer<Due> {
        let destination = self.destination.clone();
        let under_way = self.under_way.clone();
        self.work
            .store
            .read("finding what is due", move |connection| {
                let sql = "SELECT id, due FROM delivery WHERE destination = ?1 AND state = 0 ORDER BY due LIMIT ?2";
                let most = free.saturating_add(under_way.len()).saturating_add(1);
                let mut statement = connection.prepare_cached(sql)?;
                let mut found = statement.query((destination.as_str(), i64::try_from(most).unwrap_or(i64::MAX)))?;
                let mut due = Due { attempts: Vec::new(), next: None };
                while let Some(row) = found.next()? {
                    let (id, at): (String, i64) = (row.get(0)?, row.get(1)?);
                    let at = Timestamp::from_millis(at);
                    if under_way.contains(&rows::delivery_id(&id)?) {
                        continue;
                    }
                    if at > now || due.attempts.len() == free {
                        due.next = Some(at);
                        break;
                    }
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
