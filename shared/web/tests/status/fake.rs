//! A backend in memory that does as much as operators need, keeps what was asked of it, and fails on demand.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use switchboard_core::alert::{Record, Standing};
use switchboard_core::attempt::Attempt;
use switchboard_core::delivery::{AttemptRecord, DeathReason, Next};
use switchboard_core::endpoint::{Change, Settings};
use switchboard_core::event::Event;
use switchboard_core::identity::{DeliveryId, EventId, Run};
use switchboard_core::names::DestinationName;
use switchboard_core::ports::{
    Accepted, AlertStore, Answer, BackendError, Begun, Hint, Journal, Keep, Ledger, Moved, Note,
    Queued, Recorded, Selection, SettingsStore, Spread, Views,
};
use switchboard_core::time::Timestamp;
use switchboard_core::views::{
    Cursor, DeadLetter, DeadLetterGroups, DeadLetterSearch, Declined, EventRow, EventSearch,
    EventView, Looked, Overview, Page, PageAsk, Recent, RefusalRow, Searched,
};

use crate::desk::NOW;

/// What was asked of the backend, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    Requeue(Selection, Spread, u32),
    Release(DestinationName, Timestamp, u32),
    Bury(DestinationName, u32),
    Change(Change),
    Events(EventSearch, PageAsk),
    List(PageAsk),
    DeadLetters(DeadLetterSearch, PageAsk),
    Replay(EventId, Run, Vec<Queued>),
    Stored,
    Overview,
    Recent(Timestamp),
    Ready,
}

/// What it shows.
#[derive(Default)]
pub(crate) struct Shown {
    pub(crate) overview: Overview,
    pub(crate) recent: Recent,
    /// The event as it was stored.
    pub(crate) stored: Option<Event>,
    pub(crate) groups: DeadLetterGroups,
    pub(crate) events: Vec<EventRow>,
    pub(crate) event: Option<EventView>,
    pub(crate) dead_letters: Vec<DeadLetter>,
    pub(crate) refusals: Vec<RefusalRow>,
    pub(crate) declined: Vec<Declined>,
    pub(crate) alerts: BTreeMap<DestinationName, Record>,
}

pub(crate) struct Fake {
    pub(crate) dead: Mutex<Vec<(DeliveryId, DestinationName)>>,
    pub(crate) held: Mutex<Vec<DestinationName>>,
    /// Copies to your endpoint that wait.
    pub(crate) copies: AtomicU32,
    pub(crate) settings: Mutex<Arc<Settings>>,
    pub(crate) calls: Mutex<Vec<Call>>,
    /// Calls that still work before all fail.
    pub(crate) works_for: AtomicU32,
    /// How often anything was asked of it.
    pub(crate) asked: AtomicU32,
    pub(crate) shown: Shown,
}

/// What the cause of every failure says; for the log only.
pub(crate) const CAUSE: &str = "disk gone at row 17";

impl Fake {
    pub(crate) fn new(shown: Shown) -> Self {
        Self {
            dead: Mutex::default(),
            held: Mutex::default(),
            copies: AtomicU32::new(0),
            settings: Mutex::default(),
            calls: Mutex::default(),
            works_for: AtomicU32::new(u32::MAX),
            asked: AtomicU32::new(0),
            shown,
        }
    }

    pub(crate) fn calls(&self) -> Vec<Call> {
        self.calls.lock().expect("calls").clone()
    }

    /// What was asked of it that changes something.
    pub(crate) fn changes(&self) -> Vec<Call> {
        let changes = |call: &Call| match call {
            Call::Requeue(..)
            | Call::Release(..)
            | Call::Bury(..)
            | Call::Change(_)
            | Call::Replay(..) => true,
            Call::Events(..)
            | Call::List(_)
            | Call::DeadLetters(..)
            | Call::Stored
            | Call::Overview
            | Call::Recent(_)
            | Call::Ready => false,
        };
        self.calls().into_iter().filter(changes).collect()
    }

    fn works(&self) -> Answer<()> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        self.works_for
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| {
                left.checked_sub(1)
            })
            .map(|_| ())
            .map_err(|_| BackendError::new("write", CAUSE))
    }

    fn asked(&self, call: Call) -> Answer<()> {
        self.calls.lock().expect("calls").push(call);
        self.works()
    }

    fn page<T: Clone>(&self, ask: &PageAsk, items: &[T]) -> Answer<Page<T>> {
        self.asked(Call::List(ask.clone()))?;
        Ok(Page {
            items: items.to_vec(),
            next: None,
        })
    }
}

/// Takes at most `limit` of those that are meant.
fn take<T>(all: &mut Vec<T>, limit: u32, meant: impl Fn(&T) -> bool) -> Moved {
    let mut done = 0;
    all.retain(|one| {
        let stays = done == limit || !meant(one);
        done += u32::from(!stays);
        stays
    });
    let left = all.iter().filter(|one| meant(one)).count();
    Moved {
        done,
        left: u32::try_from(left).expect("few"),
    }
}

impl Ledger for Fake {
    async fn requeue(&self, selection: &Selection, spread: Spread, limit: u32) -> Answer<Moved> {
        self.asked(Call::Requeue(selection.clone(), spread, limit))?;
        let mut dead = self.dead.lock().expect("dead");
        Ok(match selection {
            Selection::AllDead => take(&mut dead, limit, |_| true),
            Selection::DeadOf(name) => take(&mut dead, limit, |(_, of)| of == name),
            Selection::Dead(ids) => take(&mut dead, limit, |(id, _)| ids.contains(id)),
        })
    }

    async fn release(&self, name: &DestinationName, now: Timestamp, limit: u32) -> Answer<Moved> {
        self.asked(Call::Release(name.clone(), now, limit))?;
        let mut held = self.held.lock().expect("held");
        Ok(take(&mut held, limit, |of| of == name))
    }

    async fn bury(
        &self,
        destination: &DestinationName,
        reason: DeathReason,
        _: Timestamp,
        _: Keep,
        limit: u32,
    ) -> Answer<Moved> {
        assert_eq!(reason, DeathReason::EndpointCleared);
        self.asked(Call::Bury(destination.clone(), limit))?;
        let open = self.copies.load(Ordering::SeqCst);
        let done = open.min(limit);
        self.copies.store(open - done, Ordering::SeqCst);
        Ok(Moved {
            done,
            left: open - done,
        })
    }

    async fn accept(&self, _: &Event, _: &[Queued], _: Keep) -> Answer<Accepted> {
        unreachable!("operators accept nothing")
    }

    async fn begin(&self, _: &Hint, _: Timestamp) -> Answer<Begun> {
        unreachable!("operators attempt nothing")
    }

    async fn record(&self, _: &Attempt, _: &AttemptRecord, _: Next, _: Keep) -> Answer<Recorded> {
        unreachable!("operators attempt nothing")
    }

    async fn shelve(&self, _: &DestinationName, _: Timestamp, _: Keep, _: u32) -> Answer<Moved> {
        unreachable!("the worker shelves")
    }

    async fn replay(&self, event: &EventId, run: Run, plan: &[Queued]) -> Answer<bool> {
        self.asked(Call::Replay(event.clone(), run, plan.to_vec()))?;
        Ok(true)
    }

    async fn recover(&self, _: Timestamp, _: u32) -> Answer<Moved> {
        unreachable!("nothing is recovered here")
    }

    async fn expire(&self, _: Timestamp, _: u32) -> Answer<Moved> {
        unreachable!("nothing expires here")
    }
}

impl Journal for Fake {
    async fn note(&self, _: Timestamp, _: Note) -> Answer<()> {
        unreachable!("operators are not noted")
    }
}

impl SettingsStore for Fake {
    async fn settings(&self) -> Answer<Arc<Settings>> {
        self.works()?;
        Ok(Arc::clone(&self.settings.lock().expect("settings")))
    }

    async fn change(&self, change: Change) -> Answer<Arc<Settings>> {
        self.asked(Call::Change(change.clone()))?;
        let mut settings = self.settings.lock().expect("settings");
        *settings = Arc::new(Settings::clone(&settings).after(change));
        Ok(Arc::clone(&settings))
    }
}

impl AlertStore for Fake {
    async fn standings(&self) -> Answer<Vec<Standing>> {
        unreachable!("operators are not alerted here")
    }

    async fn alerts(&self) -> Answer<BTreeMap<DestinationName, Record>> {
        self.works()?;
        Ok(self.shown.alerts.clone())
    }

    async fn keep_alert(&self, _: &DestinationName, _: &Record) -> Answer<()> {
        unreachable!("operators are not alerted here")
    }
}

impl Views for Fake {
    async fn overview(&self) -> Answer<Overview> {
        self.asked(Call::Overview)?;
        Ok(self.shown.overview.clone())
    }

    async fn recent(&self, now: Timestamp) -> Answer<Recent> {
        self.asked(Call::Recent(now))?;
        Ok(self.shown.recent.clone())
    }

    /// One page, and one more behind it.
    async fn events(&self, search: &EventSearch, ask: &PageAsk) -> Answer<Searched<EventRow>> {
        self.asked(Call::Events(search.clone(), ask.clone()))?;
        let (items, next) = match &ask.after {
            None => (self.shown.events.clone(), Cursor::new("older")),
            Some(_) => (Vec::new(), None),
        };
        let looked = Looked {
            at: 7,
            back_to: next.as_ref().map(|_| NOW),
        };
        let page = Page { items, next };
        Ok(Searched { page, looked })
    }

    async fn event(&self, id: &EventId) -> Answer<Option<EventView>> {
        self.works()?;
        let shown = self.shown.event.clone();
        Ok(shown.filter(|view| view.row.event == *id))
    }

    async fn stored(&self, id: &EventId) -> Answer<Option<Event>> {
        self.asked(Call::Stored)?;
        let stored = self.shown.stored.clone();
        Ok(stored.filter(|event| event.id == *id))
    }

    async fn dead_letters(
        &self,
        search: &DeadLetterSearch,
        ask: &PageAsk,
    ) -> Answer<Page<DeadLetter>> {
        self.asked(Call::DeadLetters(search.clone(), ask.clone()))?;
        Ok(Page {
            items: self.shown.dead_letters.clone(),
            next: None,
        })
    }

    async fn dead_letter_groups(&self) -> Answer<DeadLetterGroups> {
        self.works()?;
        Ok(self.shown.groups.clone())
    }

    async fn refusals(&self, ask: &PageAsk) -> Answer<Page<RefusalRow>> {
        self.page(ask, &self.shown.refusals)
    }

    async fn declined(&self, ask: &PageAsk) -> Answer<Page<Declined>> {
        self.page(ask, &self.shown.declined)
    }

    async fn ready(&self) -> Answer<()> {
        self.asked(Call::Ready)
    }
}
