//! A backend of events and runs in memory, which fails when a test wants it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use switchboard_core::address::{Address, Networks};
use switchboard_core::attempt::Attempt;
use switchboard_core::delivery::{AttemptRecord, DeathReason, Next};
use switchboard_core::endpoint::{Change, KEY_BYTES, Settings, fresh_secret};
use switchboard_core::event::Event;
use switchboard_core::identity::{EventId, Run};
use switchboard_core::names::{DestinationName, Kind, SenderId, SourceName};
use switchboard_core::ports::{
    Accepted, Answer, BackendError, Begun, Hint, Keep, Ledger, Moved, Queued, Recorded, Selection,
    SettingsStore, Spread, Views,
};
use switchboard_core::time::Timestamp;
use switchboard_core::views::{
    Cursor, DeadLetter, DeadLetterGroups, DeadLetterSearch, Declined, EventRow, EventSearch,
    EventView, Looked, Overview, Page, PageAsk, Recent, RefusalRow, Searched,
};

/// The runs of each event, as they were first planned.
pub(crate) type Runs = BTreeMap<(EventId, Run), Vec<Queued>>;

#[derive(Default)]
pub(crate) struct Kept {
    /// Newest first.
    events: Mutex<Vec<EventRow>>,
    runs: Mutex<Runs>,
    gone: Mutex<BTreeSet<EventId>>,
    /// How many runs are stored before it fails.
    left: Mutex<Option<u32>>,
    settings: Mutex<Arc<Settings>>,
}

impl Kept {
    /// Stores an event, newer than those before.
    pub(crate) fn event(&self, from: &str, id: &str, kind: &str, at: Timestamp) -> EventId {
        let source = SourceName::parse(from).expect("a name");
        let event = EventId::of(&source, &SenderId::new(id).expect("an id"));
        let row = EventRow {
            event: event.clone(),
            source,
            sender_id: id.to_owned(),
            kind: Kind::new(kind).expect("a kind"),
            at,
            body_length: 0,
            repeats: 0,
            deliveries: BTreeMap::new(),
        };
        self.events.lock().expect("a lock").insert(0, row);
        event
    }

    pub(crate) fn runs(&self) -> Runs {
        self.runs.lock().expect("a lock").clone()
    }

    /// The deliveries of all runs.
    pub(crate) fn planned(&self) -> Vec<Queued> {
        self.runs().into_values().flatten().collect()
    }

    /// The life of an event ends once it was listed.
    pub(crate) fn ends(&self, event: &EventId) {
        self.gone.lock().expect("a lock").insert(event.clone());
    }

    /// From the run after so many on it fails, or works again.
    pub(crate) fn fails_after(&self, runs: Option<u32>) {
        *self.left.lock().expect("a lock") = runs;
    }

    pub(crate) fn set_endpoint(&self) {
        let change = Change::SetEndpoint {
            address: Address::parse("https://example.com/", Networks::Public).expect("an address"),
            fresh: fresh_secret(&[7; KEY_BYTES]).expect("a secret"),
        };
        *self.settings.lock().expect("a lock") = Arc::new(Settings::default().after(change));
    }
}

/// Cursors are as long as can be, and hold what separates the parts of a progress.
fn cursor(place: usize) -> Option<Cursor> {
    Cursor::new(&format!("{place}.{}", ".".repeat(200))[..100])
}

impl Views for Kept {
    async fn events(&self, search: &EventSearch, ask: &PageAsk) -> Answer<Searched<EventRow>> {
        let meant = |row: &&EventRow| {
            search.source.as_ref().is_none_or(|of| row.source == *of)
                && search.from.is_none_or(|from| row.at >= from)
                && search.until.is_none_or(|until| row.at < until)
        };
        let place = ask.after.as_ref().map_or(0, |after| {
            let number = after.as_str().split('.').next().expect("a first part");
            number.parse().expect("a place")
        });
        let all: Vec<_> = {
            let events = self.events.lock().expect("a lock");
            events.iter().filter(meant).cloned().collect()
        };
        let end = all.len().min(place + ask.limit as usize);
        let items = all.get(place..end).unwrap_or_default().to_vec();
        let looked = Looked {
            at: u32::try_from(items.len()).expect("few"),
            back_to: None,
        };
        let next = (end < all.len()).then(|| cursor(end)).flatten();
        Ok(Searched {
            page: Page { items, next },
            looked,
        })
    }

    async fn overview(&self) -> Answer<Overview> {
        unreachable!()
    }
    async fn recent(&self, _: Timestamp) -> Answer<Recent> {
        unreachable!()
    }
    async fn event(&self, _: &EventId) -> Answer<Option<EventView>> {
        unreachable!()
    }
    async fn stored(&self, _: &EventId) -> Answer<Option<Event>> {
        unreachable!()
    }
    async fn dead_letters(&self, _: &DeadLetterSearch, _: &PageAsk) -> Answer<Page<DeadLetter>> {
        unreachable!()
    }
    async fn dead_letter_groups(&self) -> Answer<DeadLetterGroups> {
        unreachable!()
    }
    async fn refusals(&self, _: &PageAsk) -> Answer<Page<RefusalRow>> {
        unreachable!()
    }
    async fn declined(&self, _: &PageAsk) -> Answer<Page<Declined>> {
        unreachable!()
    }
    async fn ready(&self) -> Answer<()> {
        unreachable!()
    }
}

impl SettingsStore for Kept {
    async fn settings(&self) -> Answer<Arc<Settings>> {
        Ok(Arc::clone(&self.settings.lock().expect("a lock")))
    }
    async fn change(&self, _: Change) -> Answer<Arc<Settings>> {
        unreachable!()
    }
}

impl Ledger for Kept {
    async fn replay(&self, event: &EventId, run: Run, plan: &[Queued]) -> Answer<bool> {
        let mut left = self.left.lock().expect("a lock");
        if *left == Some(0) {
            return Err(BackendError::new("replaying an event", "as told"));
        }
        *left = left.map(|left| left - 1);
        if self.gone.lock().expect("a lock").contains(event) {
            return Ok(false);
        }
        let mut runs = self.runs.lock().expect("a lock");
        let plan = || plan.to_vec();
        runs.entry((event.clone(), run)).or_insert_with(plan);
        Ok(true)
    }

    async fn accept(&self, _: &Event, _: &[Queued], _: Keep) -> Answer<Accepted> {
        unreachable!()
    }
    async fn begin(&self, _: &Hint, _: Timestamp) -> Answer<Begun> {
        unreachable!()
    }
    async fn record(&self, _: &Attempt, _: &AttemptRecord, _: Next, _: Keep) -> Answer<Recorded> {
        unreachable!()
    }
    async fn bury(
        &self,
        _: &DestinationName,
        _: DeathReason,
        _: Timestamp,
        _: Keep,
        _: u32,
    ) -> Answer<Moved> {
        unreachable!()
    }
    async fn shelve(&self, _: &DestinationName, _: Timestamp, _: Keep, _: u32) -> Answer<Moved> {
        unreachable!()
    }
    async fn requeue(&self, _: &Selection, _: Spread, _: u32) -> Answer<Moved> {
        unreachable!()
    }
    async fn release(&self, _: &DestinationName, _: Timestamp, _: u32) -> Answer<Moved> {
        unreachable!()
    }
    async fn recover(&self, _: Timestamp, _: u32) -> Answer<Moved> {
        unreachable!()
    }
    async fn expire(&self, _: Timestamp, _: u32) -> Answer<Moved> {
        unreachable!()
    }
}
