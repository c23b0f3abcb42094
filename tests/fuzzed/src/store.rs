//! A store in memory that takes everything and has nothing to show.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use switchboard_core::alert::{Record, Standing};
use switchboard_core::attempt::Attempt;
use switchboard_core::delivery::{AttemptRecord, DeathReason, Next};
use switchboard_core::endpoint::{Change, Settings};
use switchboard_core::event::Event;
use switchboard_core::identity::{EventId, Run};
use switchboard_core::names::DestinationName;
use switchboard_core::ports::{
    Accepted, AlertStore, Answer, BackendError, Begun, Hint, Journal, Keep, Ledger, Moved, Note,
    Queued, Recorded, Selection, SettingsStore, Spread, Views,
};
use switchboard_core::release::Release;
use switchboard_core::time::Timestamp;
use switchboard_core::views::{
    DeadLetter, DeadLetterGroups, DeadLetterSearch, Declined, EventRow, EventSearch, EventView,
    Overview, Page, PageAsk, Recent, RefusalRow, Searched,
};

/// What came of one request.
#[derive(Clone, Debug, Default)]
pub struct Kept {
    /// The events that were stored.
    pub events: Vec<Event>,
    /// What was counted beside them.
    pub notes: Vec<Note>,
    /// What operators set.
    pub settings: Arc<Settings>,
    /// Which lists were read.
    pub asked: Vec<PageAsk>,
}

/// The store.
#[derive(Debug, Default)]
pub struct Store(Mutex<Kept>);

impl Store {
    /// What came of it since it was last asked.
    pub fn take(&self) -> Kept {
        std::mem::take(&mut *self.kept())
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn page<T>(&self, ask: &PageAsk) -> Page<T> {
        self.kept().asked.push(ask.clone());
        Page {
            items: Vec::new(),
            next: ask.after.clone(),
        }
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

impl Ledger for Store {
    async fn accept(&self, event: &Event, _: &[Queued], _: Keep) -> Answer<Accepted> {
        self.kept().events.push(event.clone());
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
        Ok(Moved::default())
    }

    async fn shelve(&self, _: &DestinationName, _: Timestamp, _: Keep, _: u32) -> Answer<Moved> {
        not_asked()
    }

    async fn requeue(&self, _: &Selection, spread: Spread, limit: u32) -> Answer<Moved> {
        // Whatever was asked for, the last due time can be told.
        let _ = spread.due(limit);
        Ok(Moved::default())
    }

    async fn replay(&self, _: &EventId, _: Run, _: &[Queued]) -> Answer<bool> {
        not_asked()
    }

    async fn release(&self, _: &DestinationName, _: Timestamp, _: u32) -> Answer<Moved> {
        Ok(Moved::default())
    }

    async fn recover(&self, _: Timestamp, _: u32) -> Answer<Moved> {
        not_asked()
    }

    async fn expire(&self, _: Timestamp, _: u32) -> Answer<Moved> {
        not_asked()
    }
}

impl Journal for Store {
    async fn note(&self, _: Timestamp, note: Note) -> Answer<()> {
        self.kept().notes.push(note);
        Ok(())
    }
}

impl SettingsStore for Store {
    async fn settings(&self) -> Answer<Arc<Settings>> {
        Ok(Arc::clone(&self.kept().settings))
    }

    async fn change(&self, change: Change) -> Answer<Arc<Settings>> {
        if let Change::Release(_, spread) = &change {
            // However many are to start each second, their due times can be told.
            Release::new(*spread).put_back(spread.start, 10);
        }
        let mut kept = self.kept();
        kept.settings = Arc::new(Settings::clone(&kept.settings).after(change));
        Ok(Arc::clone(&kept.settings))
    }
}

impl Views for Store {
    async fn overview(&self) -> Answer<Overview> {
        Ok(Overview::default())
    }

    async fn recent(&self, now: Timestamp) -> Answer<Recent> {
        Ok(Recent::quiet(now))
    }

    async fn events(&self, _: &EventSearch, ask: &PageAsk) -> Answer<Searched<EventRow>> {
        Ok(Searched {
            page: self.page(ask),
            ..Searched::nothing()
        })
    }

    async fn event(&self, _: &EventId) -> Answer<Option<EventView>> {
        Ok(None)
    }

    async fn stored(&self, _: &EventId) -> Answer<Option<Event>> {
        Ok(None)
    }

    async fn dead_letters(&self, _: &DeadLetterSearch, ask: &PageAsk) -> Answer<Page<DeadLetter>> {
        Ok(self.page(ask))
    }

    async fn dead_letter_groups(&self) -> Answer<DeadLetterGroups> {
        Ok(DeadLetterGroups::default())
    }

    async fn refusals(&self, ask: &PageAsk) -> Answer<Page<RefusalRow>> {
        Ok(self.page(ask))
    }

    async fn declined(&self, ask: &PageAsk) -> Answer<Page<Declined>> {
        Ok(self.page(ask))
    }

    async fn ready(&self) -> Answer<()> {
        Ok(())
    }
}

/// Neither senders nor operators ask for the rest.
fn not_asked<T>() -> Answer<T> {
    Err(BackendError::new("what nobody asks for", "not asked for"))
}
