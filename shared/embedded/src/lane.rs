//! One destination's lane. It attempts what it was told of as it was stored, and otherwise what it finds due in the
//! store; each delivery is under way once at a time. What it forgets, the store still has.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use switchboard_core::attempt::Attempt;
use switchboard_core::fail::{self, FailPoint};
use switchboard_core::names::DestinationName;
use switchboard_core::ports::{Answer, Ledger, SettingsStore, Transport};
use switchboard_core::time::Timestamp;
use tokio::sync::watch;
use tokio::task::{Id, JoinError, JoinSet};

use crate::lanes::{AFTER_FAILURE, LONGEST_SLEEP, STEP, Work, pause};
use crate::recording::Recording;
use crate::rows::{self, Spot};
use crate::wakes::{Bell, Fresh, Look};

/// Most bytes of bodies that one lane holds in memory; a single longer body goes alone.
const MOST_BYTES: usize = 32 * 1024 * 1024;
/// How many attempts a lane keeps ready beyond those under way, so that it seldom asks the store.
const MOST_READY: usize = 1024;
/// How many attempts may wait to be recorded beyond those whose requests are under way.
const MOST_UNRECORDED: usize = 256;

/// An attempt that can be made at once.
#[derive(Debug)]
pub(crate) struct Ready {
    /// Its event's place in the order of receipt.
    pub(crate) seq: i64,
    pub(crate) attempt: Attempt,
}

impl Ready {
    fn spot(&self) -> Spot {
        let key = &self.attempt.key;
        Spot {
            event: self.seq,
            run: key.run.0,
            action: key.action.clone(),
        }
    }
}

/// A place among the requests that a destination gets at once. Given back when it has answered: the next request need not
/// wait until that is recorded.
pub(crate) struct Place {
    requests: Arc<AtomicUsize>,
    bell: Arc<Bell>,
}

impl Place {
    fn take(requests: &Arc<AtomicUsize>, bell: &Arc<Bell>) -> Self {
        requests.fetch_add(1, Ordering::Relaxed);
        bell.begins();
        Self {
            requests: Arc::clone(requests),
            bell: Arc::clone(bell),
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.requests.fetch_sub(1, Ordering::Relaxed);
        self.bell.ends();
        self.bell.ring();
    }
}

/// What the store had for a lane.
struct Found {
    ready: Vec<Ready>,
    /// When there is more.
    look: Look,
    /// The place of the newest event that could be seen.
    seen: i64,
}

/// One destination's lane.
pub(crate) struct Lane<T> {
    work: Arc<Work<T>>,
    destination: DestinationName,
    bell: Arc<Bell>,
    /// What can be attempted as soon as there is a place.
    ready: VecDeque<Ready>,
    /// What is ready or under way, with the length of its body.
    mine: BTreeMap<Spot, usize>,
    bytes: usize,
    attempts: JoinSet<Look>,
    /// Which delivery each of them is of: one that breaks off cannot say it.
    under_way: HashMap<Id, Spot>,
    recording: Arc<Recording>,
    /// How many requests are under way.
    requests: Arc<AtomicUsize>,
    /// When the store has to be looked into.
    look: Look,
    /// The newest event that was there when the store was last looked into. What is told late of it or an older one
    /// was found there.
    seen: i64,
}

impl<T: Transport> Lane<T> {
    pub(crate) fn new(work: Arc<Work<T>>, destination: DestinationName) -> Self {
        let bell = work.store.wakes.bell(&destination);
        Self {
            work,
            recording: Arc::new(Recording::new(destination.clone())),
            destination,
            bell,
            ready: VecDeque::new(),
            mine: BTreeMap::new(),
            bytes: 0,
            attempts: JoinSet::new(),
            under_way: HashMap::new(),
            requests: Arc::default(),
            look: Look::Now,
            seen: 0,
        }
    }

    pub(crate) async fn run(mut self, mut stop: watch::Receiver<bool>) {
        while !*stop.borrow() {
            let sleep = match self.turn(&stop).await {
                Ok(sleep) => sleep,
                Err(error) => {
                    tracing::error!(destination = %self.destination, error = %error.line(), "lane failed; trying again");
                    self.look = Look::Now;
                    AFTER_FAILURE
                }
            };
            tokio::select! {
                () = self.bell.rung() => {}
                Some(done) = self.attempts.join_next_with_id() => self.settle(done),
                _ = stop.changed() => {}
                () = pause(sleep) => {
                    if sleep >= LONGEST_SLEEP {
                        self.look = Look::Now;
                    }
                }
            }
            while let Some(done) = self.attempts.try_join_next_with_id() {
                self.settle(done);
            }
        }
        while self.attempts.join_next().await.is_some() {}
    }

    fn settle(&mut self, done: Result<(Id, Look), JoinError>) {
        match done {
            Ok((id, look)) => {
                if let Some(spot) = self.under_way.remove(&id) {
                    let length = self.mine.remove(&spot).unwrap_or(0);
                    self.bytes = self.bytes.saturating_sub(length);
                }
                // Whoever looked while it was still the lane's passed it over.
                self.look = self.look.or(look);
            }
            Err(error) => {
                tracing::error!(destination = %self.destination, error = %error, "an attempt broke off");
                if let Some(spot) = self.under_way.remove(&error.id()) {
                    // It is due still, and stays the lane's for a rest: it may break off every time.
                    self.begin(spot, async {
                        pause(AFTER_FAILURE).await;
                        Look::Now
                    });
                }
            }
        }
    }

    fn begin(&mut self, spot: Spot, attempt: impl Future<Output = Look> + Send + 'static) {
        let id = self.attempts.spawn(attempt).id();
        self.under_way.insert(id, spot);
    }

    /// Forgets what is ready; the store still has it.
    fn forget(&mut self) {
        for ready in std::mem::take(&mut self.ready) {
            let length = self.mine.remove(&ready.spot()).unwrap_or(0);
            self.bytes = self.bytes.saturating_sub(length);
        }
        self.look = Look::Now;
    }

    /// Starts what can be started now; how long there is nothing more to do.
    async fn turn(&mut self, stop: &watch::Receiver<bool>) -> Answer<Duration> {
        self.listen();
        let (work, now) = (Arc::clone(&self.work), self.work.clock.now());
        let (store, keep) = (&work.store, work.configuration.keep());
        let settings = store.settings().await?;
        let missing =
            switchboard_core::attempt::missing(&work.configuration, &self.destination, &settings);
        if let Some(reason) = missing {
            self.forget();
            fail::reach(FailPoint::BeforeBury);
            let buried = store.bury(&self.destination, reason, now, keep, STEP);
            let left = buried.await?.left;
            fail::reach(FailPoint::AfterBury);
            return Ok(if left > 0 {
                Duration::ZERO
            } else {
                LONGEST_SLEEP
            });
        }
        if settings.held.contains(&self.destination) {
            self.forget();
            fail::reach(FailPoint::BeforeShelve);
            let shelved = store.shelve(&self.destination, now, keep, STEP).await?;
            fail::reach(FailPoint::AfterShelve);
            if shelved.left > 0 {
                return Ok(Duration::ZERO);
            }
            return Ok(sleep(self.find(now, 0).await?.look, now));
        }
        let places = work.configuration.limits(&self.destination).max_in_flight;
        self.start(places, stop);
        if self.look.is_due(now) && self.ready.len() < places && self.bytes < MOST_BYTES {
            let found = self.find(now, MOST_READY).await?;
            (self.look, self.seen) = (found.look, found.seen);
            for ready in found.ready {
                self.take(ready);
            }
            self.start(places, stop);
        }
        Ok(sleep(self.look, now))
    }

    /// Takes in what the lane was told.
    fn listen(&mut self) {
        let told = self.bell.take();
        self.look = self.look.or(told.look);
        for Fresh { seq, event, key } in told.fresh {
            if seq <= self.seen {
                continue;
            }
            if !self.has_room(event.body.len()) || self.ready.len() >= MOST_READY {
                self.look = Look::Now;
            }
            if self.look == Look::Now {
                // Found there, in the order of what is due.
                return;
            }
            let attempt = Attempt {
                key,
                event,
                number: 1,
                in_round: 1,
            };
            self.take(Ready { seq, attempt });
        }
    }

    fn has_room(&self, length: usize) -> bool {
        self.bytes == 0 || self.bytes.saturating_add(length) <= MOST_BYTES
    }

    fn take(&mut self, ready: Ready) {
        let length = ready.attempt.event.body.len();
        self.bytes = self.bytes.saturating_add(length);
        self.mine.insert(ready.spot(), length);
        self.ready.push_back(ready);
    }

    fn start(&mut self, places: usize, stop: &watch::Receiver<bool>) {
        while self.requests.load(Ordering::Relaxed) < places
            && self.attempts.len() < places.saturating_add(MOST_UNRECORDED)
            && let Some(ready) = self.ready.pop_front()
        {
            let (work, spot, stop) = (Arc::clone(&self.work), ready.spot(), stop.clone());
            let place = Place::take(&self.requests, &self.bell);
            let recording = Arc::clone(&self.recording);
            self.begin(spot, async move {
                work.attempt(ready, place, &recording, stop).await
            });
        }
    }

    /// At most `most` attempts that are due and not the lane's yet, as far as there is room for their bodies.
    async fn find(&self, now: Timestamp, most: usize) -> Answer<Found> {
        let (destination, mine) = (self.destination.clone(), self.mine.clone());
        let mut bytes = self.bytes;
        self.work
            .store
            .read_for_lanes("finding what is due", move |connection| {
                let seen = connection
                    .prepare_cached("SELECT coalesce(max(seq), 0) FROM event")?
                    .query_row([], |row| row.get(0))?;
                let mut found = Found { ready: Vec::new(), look: Look::Never, seen };
                let limit = most.saturating_add(mine.len()).saturating_add(1);
                // An index has all of it.
                let sql = "SELECT event, run, action, due FROM delivery WHERE destination = ?1 AND state = 0
                           ORDER BY due LIMIT ?2";
                let mut statement = connection.prepare_cached(sql)?;
                let limit = i64::try_from(limit).unwrap_or(i64::MAX);
                let mut waiting = statement.query((destination.as_str(), limit))?;
                let mut attempts = rows::Attempts::of(connection)?;
                while let Some(row) = waiting.next()? {
                    let spot = Spot::read(row)?;
                    if mine.contains_key(&spot) {
                        continue;
                    }
                    let due = Timestamp::from_millis(row.get(3)?);
                    if due > now {
                        found.look = Look::At(due);
                        break;
                    }
                    if found.ready.len() >= most {
                        found.look = Look::Now;
                        break;
                    }
                    let Some(attempt) = attempts.at(&destination, &spot)? else {
                        continue;
                    };
                    let more = bytes.saturating_add(attempt.event.body.len());
                    if bytes > 0 && more > MOST_BYTES {
                        found.look = Look::Now;
                        break;
                    }
                    bytes = more;
                    found.ready.push(Ready { seq: spot.event, attempt });
                }
                Ok(found)
            })
            .await
    }
}

/// How long a lane sleeps that has to look into the store then. What it has to do at once and does not waits for an
/// attempt under way to end.
fn sleep(look: Look, now: Timestamp) -> Duration {
    match look {
        Look::Never | Look::Now => LONGEST_SLEEP,
        Look::At(due) => due.since(now).min(LONGEST_SLEEP),
    }
}
