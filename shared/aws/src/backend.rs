//! The backend: its clients, where its table and its queues are, and the ledger's steps, each in a file of its own.

use std::sync::Arc;
use std::time::Duration;

use rand::Rng;
use switchboard_core::attempt::Attempt;
use switchboard_core::delivery::{AttemptRecord, DeathReason, Next};
use switchboard_core::event::Event;
use switchboard_core::identity::{EventId, Run};
use switchboard_core::names::DestinationName;
use switchboard_core::ports::{
    Accepted, Answer, Begun, Hint, Keep, Ledger, Moved, Queued, Recorded, Selection, Spread,
};
use switchboard_core::time::{Clock, Timestamp};
use switchboard_core::views::Recent;

use crate::client::Clients;
use crate::fold::Fold;
use crate::fold::counters::Counters;
use crate::fold::kept::Totals;
use crate::fold::stream::TableStream;
use crate::journal::Book;
use crate::memory::Memory;
use crate::repeat::Budget;
use crate::settings;
use crate::token::Tokens;
use crate::unrecorded::Ways;
use crate::views::oldest::Oldest;
use crate::views::shared::Shared;

/// Where the state lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The table's name.
    pub table: String,
    /// The address of the queue of hints.
    pub deliveries: String,
    /// The address of the queue of what was received too often, and of what was set aside.
    pub returned: String,
    /// The address of the queue of tickets.
    pub dead_letters: String,
}

/// How often a process looks and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// How long it goes by the settings that it has read.
    pub settings_for: Duration,
    /// How many repeats it counts a second; `None` for all.
    pub repeats_per_second: Option<u32>,
    /// How long viewers share the totals and the last hour that were read for the first of them, and that the store was ready.
    pub shared_for: Duration,
    /// How long they share since when the oldest waiting delivery of each destination is due: it is read only while something
    /// waits, by far more reads than all else of the last hour, and is told in minutes.
    pub oldest_for: Duration,
    /// Time between two writes of counts of what was not accepted, where nothing of it is listed. What comes in between waits
    /// in memory and goes with the next write: of a further note, or of [`Aws::flush_due`] or [`Aws::flush`]. A process that
    /// ends without any of these takes with it what it counted within this time of its last write; so the totals of what was
    /// not accepted are "at least", by as much as a process answers within it.
    pub counts_every: Duration,
}

/// The state of a Switchboard in a table, as one process reaches it.
pub struct Aws {
    pub(crate) dynamodb: aws_sdk_dynamodb::Client,
    pub(crate) sqs: aws_sdk_sqs::Client,
    pub(crate) place: Place,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) tokens: Tokens,
    pub(crate) memory: Memory,
    pub(crate) ways: Ways,
    pub(crate) settings: settings::Store,
    pub(crate) repeats: Budget,
    pub(crate) fold: Fold<TableStream>,
    pub(crate) journal: Book,
    pub(crate) totals: Shared<Counters>,
    pub(crate) recent: Shared<Recent>,
    pub(crate) oldest: Shared<Oldest>,
    pub(crate) ready: Shared<()>,
}

impl Aws {
    /// The backend at `place`. `rng` makes the tokens by which writes are known: no two processes may draw the same.
    pub fn new(
        clients: &Clients,
        place: Place,
        how_often: Pace,
        clock: Arc<dyn Clock>,
        rng: Box<dyn Rng + Send>,
    ) -> Self {
        let settings = settings::Store::new(
            clients.dynamodb.clone(),
            place.table.clone(),
            Arc::clone(&clock),
            how_often.settings_for,
        );
        let stream = TableStream::new(
            clients.streams.clone(),
            clients.dynamodb.clone(),
            place.table.clone(),
        );
        let totals = Totals::new(clients.dynamodb.clone(), place.table.clone());
        let journal = Book::new(
            clients.dynamodb.clone(),
            place.table.clone(),
            Arc::clone(&clock),
            how_often.counts_every,
        );
        Self {
            fold: Fold::new(stream, totals),
            journal,
            totals: Shared::new(how_often.shared_for),
            recent: Shared::new(how_often.shared_for),
            oldest: Shared::new(how_often.oldest_for),
            ready: Shared::new(how_often.shared_for),
            dynamodb: clients.dynamodb.clone(),
            sqs: clients.sqs.clone(),
            place,
            repeats: Budget::new(how_often.repeats_per_second, clock.ticks()),
            clock,
            tokens: Tokens::new(rng),
            memory: Memory::default(),
            ways: Ways::default(),
            settings,
        }
    }
}

impl Aws {
    /// The same, where the name (ARN) of the table's stream is known: without it the table is asked.
    #[must_use]
    pub fn with_stream(self, clients: &Clients, name: String) -> Self {
        let (streams, dynamodb) = (clients.streams.clone(), clients.dynamodb.clone());
        let table = self.place.table.clone();
        let stream = TableStream::new(streams, dynamodb.clone(), table.clone()).with_name(name);
        Self {
            fold: Fold::new(stream, Totals::new(dynamodb, table)),
            ..self
        }
    }
}

impl Ledger for Aws {
    async fn accept(&self, event: &Event, plan: &[Queued], keep: Keep) -> Answer<Accepted> {
        self.store_event(event, plan, keep).await
    }

    async fn begin(&self, hint: &Hint, now: Timestamp) -> Answer<Begun> {
        self.begin_by_reading(hint, None, now).await
    }

    async fn record(
        &self,
        attempt: &Attempt,
        record: &AttemptRecord,
        next: Next,
        keep: Keep,
    ) -> Answer<Recorded> {
        self.record_attempt(attempt, record, next, keep).await
    }

    async fn bury(
        &self,
        destination: &DestinationName,
        reason: DeathReason,
        now: Timestamp,
        keep: Keep,
        limit: u32,
    ) -> Answer<Moved> {
        self.bury_open(destination, reason, now, keep, limit).await
    }

    async fn shelve(
        &self,
        destination: &DestinationName,
        now: Timestamp,
        keep: Keep,
        limit: u32,
    ) -> Answer<Moved> {
        self.shelve_due(destination, now, keep, limit).await
    }

    async fn requeue(&self, selection: &Selection, spread: Spread, limit: u32) -> Answer<Moved> {
        self.requeue_dead(selection, spread, limit).await
    }

    async fn release(
        &self,
        destination: &DestinationName,
        now: Timestamp,
        limit: u32,
    ) -> Answer<Moved> {
        self.release_held(destination, now, limit).await
    }

    async fn replay(&self, event: &EventId, run: Run, plan: &[Queued]) -> Answer<bool> {
        self.store_run(event, run, plan).await
    }

    async fn recover(&self, now: Timestamp, limit: u32) -> Answer<Moved> {
        self.release_all(now, limit).await
    }

    async fn expire(&self, now: Timestamp, limit: u32) -> Answer<Moved> {
        self.remove_expired(now, limit).await
    }
}
