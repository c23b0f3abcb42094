//! The store: one SQLite file that implements every port.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::thread::JoinHandle;

use rusqlite::Connection;
use switchboard_core::attempt::Attempt;
use switchboard_core::delivery::{AttemptRecord, DeathReason, Next};
use switchboard_core::endpoint::{Change, Settings};
use switchboard_core::event::Event;
use switchboard_core::fail::{self, FailPoint};
use switchboard_core::identity::{EventId, Run};
use switchboard_core::names::DestinationName;
use switchboard_core::ports::{
    Accepted, Answer, Begun, Hint, Journal, Keep, Ledger, Moved, Note, Queued, Recorded, Selection,
    SettingsStore, Spread,
};
use switchboard_core::time::Timestamp;

use crate::failure::Failure;
use crate::journal::Unwritten;
use crate::open::{self, Folder, OpenError, StoreFault};
use crate::queue::Whose;
use crate::readers::{self, Readers};
use crate::wakes::Wakes;
use crate::writer::{Step, Writer};
use crate::{accept, expire, journal, moves, record, release, schema, settings};

/// The state of one Switchboard on one machine.
#[derive(Debug)]
pub struct Store {
    writer: Writer,
    thread: Option<JoinHandle<()>>,
    readers: Arc<Readers>,
    lane_readers: Arc<Readers>,
    settings: RwLock<Arc<Settings>>,
    // One change at a time, so that what is remembered is what was stored last.
    changing: tokio::sync::Mutex<()>,
    unwritten: Arc<Mutex<Unwritten>>,
    counting: Arc<tokio::sync::Mutex<()>>,
    pub(crate) wakes: Arc<Wakes>,
    // Dropped last: the lock on the folder.
    folder: Folder,
}

/// The file brought to this version, with what was left in its log, and the settings in it.
fn ready(database: &Path) -> Result<(Connection, Settings), StoreFault> {
    let mut connection = open::writing(database)?;
    schema::migrate(&mut connection)?;
    fail::reach(FailPoint::AfterMigration);
    open::write_ahead(&connection)?;
    open::empty_log(&connection)?;
    fail::reach(FailPoint::StoreOpen);
    let settings = settings::load(&connection)
        .map_err(|failure| StoreFault::Unreadable(failure.to_string()))?;
    Ok((connection, settings))
}

impl Store {
    /// Opens the store in `folder`, made if need be, and brings it to this version. One process at a time.
    pub fn open(folder: &Path) -> Result<Self, OpenError> {
        let folder = Folder::claim(folder)?;
        fail::reach(FailPoint::FolderClaimed);
        let database = folder.database();
        let fault = |cause| OpenError::Store {
            file: folder.database(),
            cause,
        };
        let (connection, settings) = ready(&database).map_err(fault)?;
        let wakes = Arc::new(Wakes::default());
        let (writer, thread) = Writer::start(connection, Arc::clone(&wakes)).map_err(fault)?;
        Ok(Self {
            writer,
            thread: Some(thread),
            readers: Arc::new(Readers::new(database.clone())),
            lane_readers: Arc::new(Readers::new(database)),
            settings: RwLock::new(Arc::new(settings)),
            changing: tokio::sync::Mutex::default(),
            unwritten: Arc::default(),
            counting: Arc::default(),
            wakes,
            folder,
        })
    }

    /// Where the store lies.
    pub fn folder(&self) -> &Path {
        &self.folder.path
    }

    /// Waits until the writer thread has ended. Before the store is dropped that is our own fault: nothing can be stored
    /// any more, and only a new process helps.
    pub async fn ended(&self) {
        self.writer.ended().await;
    }

    pub(crate) async fn step<T, F>(&self, doing: &'static str, step: F) -> Answer<T>
    where
        T: Send + 'static,
        F: FnMut(&mut Step<'_>) -> Result<T, Failure> + Send + 'static,
    {
        self.step_of(Whose::Inside, doing, step).await
    }

    async fn step_of<T, F>(&self, whose: Whose, doing: &'static str, step: F) -> Answer<T>
    where
        T: Send + 'static,
        F: FnMut(&mut Step<'_>) -> Result<T, Failure> + Send + 'static,
    {
        let answer = self.writer.step(whose, doing, step).await;
        if answer.is_ok() {
            self.count_unwritten().await;
        }
        answer
    }

    /// Writes what could only be counted in memory, now that the store takes steps again. In a task of its own: whoever
    /// waits here may go away, and what is being written then is kept nowhere else.
    async fn count_unwritten(&self) {
        if self.unwritten().is_empty() {
            return;
        }
        // One at a time: in a flood every answered step would find new ones, and the store would mostly be counting.
        let Ok(one_at_a_time) = Arc::clone(&self.counting).try_lock_owned() else {
            return;
        };
        let (writer, unwritten) = (self.writer.clone(), Arc::clone(&self.unwritten));
        let counting = tokio::spawn(async move {
            count(&writer, &unwritten).await;
            drop(one_at_a_time);
        });
        // One that breaks off has told why.
        drop(counting.await);
    }

    /// [`Self::read`], for deliveries: what people look at does not hold them up.
    pub(crate) async fn read_for_lanes<T, F>(&self, doing: &'static str, read: F) -> Answer<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, Failure> + Send + 'static,
    {
        readers::read(&self.lane_readers, doing, read).await
    }

    pub(crate) async fn read<T, F>(&self, doing: &'static str, read: F) -> Answer<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, Failure> + Send + 'static,
    {
        readers::read(&self.readers, doing, read).await
    }

    /// [`Ledger::record`], for a lane: it knows its event's place in the order of receipt, and shares the attempt.
    pub(crate) async fn settle(
        &self,
        seq: i64,
        attempt: &Arc<Attempt>,
        record: &AttemptRecord,
        next: Next,
        keep: Keep,
    ) -> Answer<Recorded> {
        let (attempt, record) = (Arc::clone(attempt), record.clone());
        self.step("recording an attempt", move |step| {
            record::record(step, Some(seq), &attempt, &record, next, keep)
        })
        .await
    }

    pub(crate) fn unwritten(&self) -> MutexGuard<'_, Unwritten> {
        lock(&self.unwritten)
    }
}

/// Writes what is unwritten; it stays so where it cannot be written this time either.
async fn count(writer: &Writer, unwritten: &Mutex<Unwritten>) {
    if lock(unwritten).is_empty() {
        return;
    }
    fail::reach(FailPoint::BeforeEarlierCounts);
    let earlier = std::mem::take(&mut *lock(unwritten));
    let again = earlier.clone();
    let count = move |step: &mut Step<'_>| {
        earlier.count(step);
        Ok(())
    };
    let counted = writer.step(Whose::Inside, "writing earlier counts", count);
    if counted.await.is_err() {
        lock(unwritten).merge(again);
    }
}

fn lock(unwritten: &Mutex<Unwritten>) -> MutexGuard<'_, Unwritten> {
    unwritten.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Store {
    /// Waits for the steps under way, so that a folder that is opened again at once is free.
    fn drop(&mut self) {
        self.writer.close();
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

impl Ledger for Store {
    async fn accept(&self, event: &Event, plan: &[Queued], keep: Keep) -> Answer<Accepted> {
        let (event, plan) = (Arc::new(event.clone()), plan.to_vec());
        let digest = event.body_digest();
        self.step_of(Whose::Outside, "storing an event", move |step| {
            accept::accept(step, &event, &digest, &plan, keep)
        })
        .await
    }

    async fn begin(&self, hint: &Hint, now: Timestamp) -> Answer<Begun> {
        let hint = hint.clone();
        self.read("beginning an attempt", move |connection| {
            record::begin(connection, &hint, now)
        })
        .await
    }

    async fn record(
        &self,
        attempt: &Attempt,
        record: &AttemptRecord,
        next: Next,
        keep: Keep,
    ) -> Answer<Recorded> {
        let (attempt, record) = (attempt.clone(), record.clone());
        self.step("recording an attempt", move |step| {
            record::record(step, None, &attempt, &record, next, keep)
        })
        .await
    }

    async fn bury(
        &self,
        destination: &DestinationName,
        reason: DeathReason,
        now: Timestamp,
        keep: Keep,
        limit: u32,
    ) -> Answer<Moved> {
        let destination = destination.clone();
        self.step("burying deliveries", move |step| {
            moves::bury(step, &destination, reason, now, keep, limit)
        })
        .await
    }

    async fn shelve(
        &self,
        destination: &DestinationName,
        now: Timestamp,
        keep: Keep,
        limit: u32,
    ) -> Answer<Moved> {
        let destination = destination.clone();
        self.step("holding deliveries", move |step| {
            moves::shelve(step, &destination, now, keep, limit)
        })
        .await
    }

    async fn requeue(&self, selection: &Selection, spread: Spread, limit: u32) -> Answer<Moved> {
        let selection = selection.clone();
        self.step("requeueing deliveries", move |step| {
            moves::requeue(step, &selection, spread, limit)
        })
        .await
    }

    async fn release(
        &self,
        destination: &DestinationName,
        now: Timestamp,
        limit: u32,
    ) -> Answer<Moved> {
        let destination = destination.clone();
        self.step("releasing deliveries", move |step| {
            release::release(step, &destination, now, limit)
        })
        .await
    }

    async fn replay(&self, event: &EventId, run: Run, plan: &[Queued]) -> Answer<bool> {
        let (event, plan) = (event.clone(), plan.to_vec());
        self.step("replaying an event", move |step| {
            accept::replay(step, &event, run, &plan)
        })
        .await
    }

    async fn recover(&self, now: Timestamp, limit: u32) -> Answer<Moved> {
        self.step("recovering", move |step| release::recover(step, now, limit))
            .await
    }

    async fn expire(&self, now: Timestamp, limit: u32) -> Answer<Moved> {
        self.step("removing events past their life", move |step| {
            expire::expire(step, now, limit)
        })
        .await
    }
}

impl Journal for Store {
    async fn note(&self, at: Timestamp, note: Note) -> Answer<()> {
        let kept = note.clone();
        let whose = if note.is_listed() {
            Whose::Outside
        } else {
            Whose::Count
        };
        let written = self
            .step_of(whose, "writing to the journal", move |step| {
                journal::note(step, at, &note)
            })
            .await;
        if written.is_err() {
            self.unwritten().add(at, &kept);
        }
        written
    }
}

impl SettingsStore for Store {
    async fn settings(&self) -> Answer<Arc<Settings>> {
        Ok(Arc::clone(
            &self.settings.read().unwrap_or_else(PoisonError::into_inner),
        ))
    }

    async fn change(&self, change: Change) -> Answer<Arc<Settings>> {
        let _one_at_a_time = self.changing.lock().await;
        let after = self
            .step("changing a setting", move |step| {
                if let Change::Release(destination, spread) = &change {
                    release::ask(step, destination, *spread)?;
                }
                let after = settings::load(step)?.after(change.clone());
                settings::store(step, &after)?;
                step.forget_held();
                Ok(after)
            })
            .await?;
        fail::reach(FailPoint::AfterSetting);
        let after = Arc::new(after);
        *self
            .settings
            .write()
            .unwrap_or_else(PoisonError::into_inner) = Arc::clone(&after);
        self.wakes.look_all();
        Ok(after)
    }
}
