//! A store in memory that can be told to wait, fail or break.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use switchboard_core::alert::{Record, Standing};
use switchboard_core::attempt::Attempt;
use switchboard_core::delivery::{AttemptRecord, DeathReason, Next};
use switchboard_core::endpoint::{Change, Settings};
use switchboard_core::event::Event;
use switchboard_core::identity::{EventId, Run};
use switchboard_core::names::DestinationName;
use switchboard_core::ports::{
    Accepted, AlertStore, Answer, BackendError, Begun, Hint, Journal, Keep, Ledger, Moved, Note,
    Queued, Recorded, SameBody, Selection, SettingsStore, Spread, Views,
};
use switchboard_core::refusal::Cause;
use switchboard_core::time::Timestamp;
use switchboard_core::views::{
    DeadLetter, DeadLetterGroups, DeadLetterSearch, Declined, EventRow, EventSearch, EventView,
    Overview, Page, PageAsk, Recent, RefusalRow, Searched,
};
use tokio::sync::Semaphore;

/// How the store behaves when something is to be stored.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Mood {
    #[default]
    Fine,
    /// It waits for a permit of the gate first.
    Slow,
    /// It fails.
    Failing,
    /// It panics.
    Broken,
    /// It takes events, and waits for a permit of the gate before it counts what was declined.
    Uncounted,
}

/// The store.
#[derive(Default)]
pub(crate) struct Store {
    pub(crate) mood: Mutex<Mood>,
    pub(crate) gate: Gate,
    pub(crate) events: Mutex<Vec<Event>>,
    pub(crate) notes: Mutex<Vec<Note>>,
}

/// Where the slow store waits, and where a test learns that it does.
pub(crate) struct Gate {
    pub(crate) arrived: Semaphore,
    pub(crate) open: Semaphore,
}

impl Default for Gate {
    fn default() -> Self {
        Self {
            arrived: Semaphore::new(0),
            open: Semaphore::new(0),
        }
    }
}

impl Store {
    pub(crate) fn set(&self, mood: Mood) {
        *self.mood.lock().expect("lock") = mood;
    }

    pub(crate) fn bodies(&self) -> Vec<Vec<u8>> {
        let events = self.events.lock().expect("lock");
        events.iter().map(|event| event.body.to_vec()).collect()
    }

    /// The causes of all declined requests.
    pub(crate) fn declined(&self) -> Vec<Cause> {
        let notes = self.notes.lock().expect("lock");
        notes
            .iter()
            .filter_map(|note| match note {
                Note::Declined { cause, .. } => Some(*cause),
                Note::Refused { .. } => None,
            })
            .collect()
    }

    /// How many requests were refused.
    pub(crate) fn refused(&self) -> usize {
        let all = self.notes.lock().expect("lock").len();
        all - self.declined().len()
    }
}

impl Ledger for Store {
    async fn accept(&self, event: &Event, _plan: &[Queued], _keep: Keep) -> Answer<Accepted> {
        let mood = *self.mood.lock().expect("lock");
        match mood {
            Mood::Fine | Mood::Uncounted => {}
            Mood::Slow => {
                self.gate.arrived.add_permits(1);
                self.gate.open.acquire().await.expect("open").forget();
            }
            Mood::Failing => return Err(BackendError::new("storing", "out of order")),
            Mood::Broken => panic!("out of order"),
        }
        let mut events = self.events.lock().expect("lock");
        if events.iter().any(|other| other.id == event.id) {
            return Ok(Accepted::Repeat(SameBody::Yes));
        }
        events.push(event.clone());
        Ok(Accepted::New)
    }

    async fn begin(&self, _: &Hint, _: Timestamp) -> Answer<Begun> {
        not_asked()
    }

    async fn record(&self, _: &Attempt, _: &AttemptRecord, _: Next, _: Keep) -> Answer<Recorded> {
        not_asked()
    }

    async fn bury(
        &self,
        _: &DestinationName,
        _: DeathReason,
        _: Timestamp,
        _: Keep,
        _: u32,
    ) -> Answer<Moved> {
        not_asked()
    }

    async fn shelve(&self, _: &DestinationName, _: Timestamp, _: Keep, _: u32) -> Answer<Moved> {
        not_asked()
    }

    async fn requeue(&self, _: &Selection, _: Spread, _: u32) -> Answer<Moved> {
        not_asked()
    }

    async fn release(&self, _: &DestinationName, _: Timestamp, _: u32) -> Answer<Moved> {
        not_asked()
    }

    async fn replay(&self, _: &EventId, _: Run, _: &[Queued]) -> Answer<bool> {
        not_asked()
    }

    async fn recover(&self, _: Timestamp, _: u32) -> Answer<Moved> {
        not_asked()
    }

    async fn expire(&self, _: Timestamp, _: u32) -> Answer<Moved> {
        not_asked()
    }
}

impl Journal for Store {
    async fn note(&self, _at: Timestamp, note: Note) -> Answer<()> {
        let mood = *self.mood.lock().expect("lock");
        match mood {
            Mood::Fine | Mood::Slow | Mood::Failing | Mood::Broken => {}
            Mood::Uncounted => {
                self.gate.arrived.add_permits(1);
                self.gate.open.acquire().await.expect("open").forget();
            }
        }
        self.notes.lock().expect("lock").push(note);
        Ok(())
    }
}

impl SettingsStore for Store {
    async fn settings(&self) -> Answer<Arc<Settings>> {
        Ok(Arc::default())
    }

    async fn change(&self, _: Change) -> Answer<Arc<Settings>> {
        not_asked()
    }
}

impl AlertStore for Store {
    async fn standings(&self) -> Answer<Vec<Standing>> {
        not_asked()
    }

    async fn alerts(&self) -> Answer<BTreeMap<DestinationName, Record>> {
        not_asked()
    }

    async fn keep_alert(&self, _: &DestinationName, _: &Record) -> Answer<()> {
        not_asked()
    }
}

impl Views for Store {
    async fn overview(&self) -> Answer<Overview> {
        not_asked()
    }

    async fn recent(&self, _: Timestamp) -> Answer<Recent> {
        not_asked()
    }

    async fn events(&self, _: &EventSearch, _: &PageAsk) -> Answer<Searched<EventRow>> {
        not_asked()
    }

    async fn event(&self, _: &EventId) -> Answer<Option<EventView>> {
        not_asked()
    }

    async fn stored(&self, _: &EventId) -> Answer<Option<Event>> {
        not_asked()
    }

    async fn dead_letters(&self, _: &DeadLetterSearch, _: &PageAsk) -> Answer<Page<DeadLetter>> {
        not_asked()
    }

    async fn dead_letter_groups(&self) -> Answer<DeadLetterGroups> {
        not_asked()
    }

    async fn refusals(&self, _: &PageAsk) -> Answer<Page<RefusalRow>> {
        not_asked()
    }

    async fn declined(&self, _: &PageAsk) -> Answer<Page<Declined>> {
        not_asked()
    }

    async fn ready(&self) -> Answer<()> {
        not_asked()
    }
}

/// The door asks a store for nothing else; if it did, it would be answered as by a store that fails.
fn not_asked<T>() -> Answer<T> {
    Err(BackendError::new(
        "what the door never asks for",
        "not asked for",
    ))
}
