//! The ports: what a backend must be able to do. Each has one conformance suite in the testkit that every backend
//! passes. All of a backend's writes may be made twice with the same arguments and come to the same, but for one:
//! [`Journal::note`] counts each call.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;

use bytes::Bytes;
use http::HeaderMap;

use crate::address::Address;
use crate::alert::{Record, Standing};
use crate::attempt::Attempt;
use crate::delivery::{AttemptRecord, DeathReason, DeliveryKey, Next, Outcome};
use crate::endpoint::{Change, Settings};
use crate::event::Event;
use crate::identity::{DeliveryId, EventId, Run};
use crate::names::{DestinationName, SourceName};
use crate::refusal::{Cause, Refusal};
use crate::time::Timestamp;
use crate::views::{
    DeadLetter, DeadLetterGroups, DeadLetterSearch, Declined, EventRow, EventSearch, EventView,
    Overview, Page, PageAsk, Recent, RefusalRow, Searched,
};

pub use self::configuration::{ConfigurationStore, Found, Replaced, Secrets, Stored, Version};
pub use self::failed::BackendError;

mod configuration;
mod failed;

/// What a port's call comes to.
pub type Answer<T> = Result<T, BackendError>;

/// A delivery of a plan, and when its first attempt is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queued {
    /// Which delivery.
    pub key: DeliveryKey,
    /// Not attempted before this moment.
    pub due: Timestamp,
}

/// What became of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accepted {
    /// Stored, its deliveries queued.
    New,
    /// It was stored before; nothing changed.
    Repeat(SameBody),
}

/// Whether a repeat carried the bytes of the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SameBody {
    /// It did.
    Yes,
    /// It did not; the first stays, the difference is counted.
    No,
}

/// A note that a delivery is due; never the truth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    /// Of which event.
    pub event: EventId,
    /// Which delivery.
    pub delivery: DeliveryId,
    /// The due time it was made for.
    pub due: Timestamp,
}

/// Whether a delivery may be attempted now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Begun {
    /// Yes: this is the attempt.
    Go(Box<Attempt>),
    /// Not before this moment.
    Later(Timestamp),
    /// No: the hint is out of date, or there is no such delivery.
    Drop,
}

/// What recording an attempt changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recorded {
    /// The attempt is kept now, and what follows from it stands. A dead letter stays one after a failure.
    First,
    /// That attempt was recorded before, or the delivery is delivered already; nothing changed.
    Stale,
}

/// Which dead letters are meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// All dead letters.
    AllDead,
    /// The dead letters of one destination.
    DeadOf(DestinationName),
    /// These, where they are dead letters.
    Dead(Vec<DeliveryId>),
}

/// When requeued deliveries become due: the first at `start`, then `per_second` each second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spread {
    /// When the first is due.
    pub start: Timestamp,
    /// How many starts a second; 0 counts as 1.
    pub per_second: u32,
}

impl Spread {
    /// When the `nth` (from 0) is due.
    pub fn due(&self, nth: u32) -> Timestamp {
        let millis = u64::from(nth) * 1000 / u64::from(self.per_second.max(1));
        self.start.plus(std::time::Duration::from_millis(millis))
    }
}

/// How many deliveries (of an expiry: events) a step moved, and how many of the selection are left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Moved {
    /// Moved by this call.
    pub done: u32,
    /// Still to be moved by further calls: exact up to [`Moved::COUNTED`], beyond it at least that many. Of an expiry:
    /// above nothing while more may go.
    pub left: u32,
}

impl Moved {
    /// How many that are left are counted exactly: a count costs as much as what it counts.
    pub const COUNTED: u32 = 20_000;
}

/// Events, their deliveries, and every step that moves them. Each step is whole: what must happen together does.
pub trait Ledger: Send + Sync + 'static {
    /// Stores an event and queues its deliveries, or finds that it was stored before. `Ok` means durably.
    /// An event past its life that no open delivery needs counts as not stored, whether expiry has come by or not.
    /// A delivery that is due and whose destination is held may be held from the start.
    fn accept(
        &self,
        event: &Event,
        plan: &[Queued],
        keep: Keep,
    ) -> impl Future<Output = Answer<Accepted>> + Send;

    /// May this delivery be attempted now? Changes nothing.
    fn begin(&self, hint: &Hint, now: Timestamp) -> impl Future<Output = Answer<Begun>> + Send;

    /// Keeps attempt `record.number` and its consequence. Of two that record the same attempt one is `First`; a
    /// success is kept whenever it comes and moves any state to delivered.
    fn record(
        &self,
        attempt: &Attempt,
        record: &AttemptRecord,
        next: Next,
        keep: Keep,
    ) -> impl Future<Output = Answer<Recorded>> + Send;

    /// Makes open deliveries (waiting or held) of a destination dead letters without an attempt, at most `limit`. Of your
    /// endpoint only if it is not set as this is kept: whoever asks may have looked before it was set again.
    fn bury(
        &self,
        destination: &DestinationName,
        reason: DeathReason,
        now: Timestamp,
        keep: Keep,
        limit: u32,
    ) -> impl Future<Output = Answer<Moved>> + Send;

    /// Moves waiting deliveries that are due, of a held destination, to held, at most `limit`.
    fn shelve(
        &self,
        destination: &DestinationName,
        now: Timestamp,
        keep: Keep,
        limit: u32,
    ) -> impl Future<Output = Answer<Moved>> + Send;

    /// Puts dead letters back to waiting, at most `limit`: a new round of attempts, the same key, numbers running on.
    fn requeue(
        &self,
        selection: &Selection,
        spread: Spread,
        limit: u32,
    ) -> impl Future<Output = Answer<Moved>> + Send;

    /// Puts held deliveries of a destination back to waiting, in the same round, at most `limit`; none while it is held.
    /// They become due at most as fast as its releases asked for, all steps and [`Ledger::recover`] together, and
    /// none before `now`. A destination that was never released counts as released for
    /// [`PER_SECOND`](crate::operate::PER_SECOND).
    fn release(
        &self,
        destination: &DestinationName,
        now: Timestamp,
        limit: u32,
    ) -> impl Future<Output = Answer<Moved>> + Send;

    /// Stores a further run of an event with its own plan and queues it; a run that is stored changes nothing.
    /// `false` when there is no such event.
    fn replay(
        &self,
        event: &EventId,
        run: Run,
        plan: &[Queued],
    ) -> impl Future<Output = Answer<bool>> + Send;

    /// Finds what a crash left half-way and queues it, at most `limit`: held deliveries of destinations that are not
    /// held now, which it puts back as [`Ledger::release`] does.
    fn recover(&self, now: Timestamp, limit: u32) -> impl Future<Output = Answer<Moved>> + Send;

    /// Removes events past their life that no open delivery (waiting or held) needs, at most `limit`. `left` is not
    /// counted: it is above nothing while further calls may remove more.
    fn expire(&self, now: Timestamp, limit: u32) -> impl Future<Output = Answer<Moved>> + Send;
}

/// How long events are kept, set at first receipt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keep {
    /// Days after first receipt.
    pub days: u32,
}

impl Keep {
    /// Days more for an event with a dead or held delivery.
    pub const MORE_FOR_DEAD: u32 = 90;

    /// When an event received at `received` ends.
    pub fn until(self, received: Timestamp) -> Timestamp {
        received.plus(days(self.days))
    }

    /// When an event received at `received` ends if a delivery of it is dead or held.
    pub fn until_when_dead(self, received: Timestamp) -> Timestamp {
        self.until(received).plus(days(Self::MORE_FOR_DEAD))
    }
}

fn days(days: u32) -> std::time::Duration {
    std::time::Duration::from_secs(u64::from(days) * 24 * 3600)
}

/// Something to be counted, and perhaps listed, beside the events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// A signature did not hold.
    Refused {
        /// Where it was posted.
        source: SourceName,
        /// What operators see, unless the budget for it is spent.
        listed: Option<Refusal>,
    },
    /// Answered 400, 404, 413 or 503.
    Declined {
        /// Where it was posted, when there is such a source.
        source: Option<SourceName>,
        /// Why.
        cause: Cause,
        /// The address it was posted to, cleaned and cut, unless the budget for it is spent.
        listed: Option<String>,
    },
}

impl Note {
    /// Whether it is to be listed, and not only counted.
    pub fn is_listed(&self) -> bool {
        match self {
            Self::Refused { listed, .. } => listed.is_some(),
            Self::Declined { listed, .. } => listed.is_some(),
        }
    }
}

/// Counts and lists what was not accepted. Counts are exact; lists are bounded.
pub trait Journal: Send + Sync + 'static {
    /// Counts a note and lists it if it is written out. The same note twice counts twice, since two requests may be
    /// alike: nobody calls it again after an `Err`, upon which the count is kept in memory and added later.
    fn note(&self, at: Timestamp, note: Note) -> impl Future<Output = Answer<()>> + Send;
}

/// What operators have set: your endpoint and the held destinations.
pub trait SettingsStore: Send + Sync + 'static {
    /// What stands.
    fn settings(&self) -> impl Future<Output = Answer<Arc<Settings>>> + Send;

    /// Makes a change and gives what stands after it; the same change twice is the change once.
    fn change(&self, change: Change) -> impl Future<Output = Answer<Arc<Settings>>> + Send;
}

/// What alerts are decided from, and what is kept of them.
pub trait AlertStore: Send + Sync + 'static {
    /// How every destination stands that a delivery was ever made to, each as of one moment. The cost is constant as
    /// history and backlogs grow.
    fn standings(&self) -> impl Future<Output = Answer<Vec<Standing>>> + Send;

    /// What is kept; of destinations that are not in it, the default.
    fn alerts(&self) -> impl Future<Output = Answer<BTreeMap<DestinationName, Record>>> + Send;

    /// Keeps `record` in the place of what was kept of the destination. Twice is once.
    fn keep_alert(
        &self,
        destination: &DestinationName,
        record: &Record,
    ) -> impl Future<Output = Answer<()>> + Send;
}

/// What the page, the API and the metrics read. The cost of each is constant as history grows.
pub trait Views: Send + Sync + 'static {
    /// Totals, whole and by source and destination.
    fn overview(&self) -> impl Future<Output = Answer<Overview>> + Send;

    /// The last hour up to the minute of `now`.
    fn recent(&self, now: Timestamp) -> impl Future<Output = Answer<Recent>> + Send;

    /// Events, newest first. What no index answers is looked for among at most [`LOOKED_AT`](crate::views::LOOKED_AT)
    /// events; the page's cursor goes on behind the last that was looked at.
    fn events(
        &self,
        search: &EventSearch,
        ask: &PageAsk,
    ) -> impl Future<Output = Answer<Searched<EventRow>>> + Send;

    /// One event with its deliveries and their attempts.
    fn event(&self, id: &EventId) -> impl Future<Output = Answer<Option<EventView>>> + Send;

    /// One event as it was stored, with its headers and its body.
    fn stored(&self, id: &EventId) -> impl Future<Output = Answer<Option<Event>>> + Send;

    /// Dead letters, newest first.
    fn dead_letters(
        &self,
        search: &DeadLetterSearch,
        ask: &PageAsk,
    ) -> impl Future<Output = Answer<Page<DeadLetter>>> + Send;

    /// The newest dead letters of each destination, by what they died of.
    fn dead_letter_groups(&self) -> impl Future<Output = Answer<DeadLetterGroups>> + Send;

    /// Listed refusals, newest first.
    fn refusals(&self, ask: &PageAsk) -> impl Future<Output = Answer<Page<RefusalRow>>> + Send;

    /// Listed declined requests, newest first.
    fn declined(&self, ask: &PageAsk) -> impl Future<Output = Answer<Page<Declined>>> + Send;

    /// Whether the store can take events now: it writes something.
    fn ready(&self) -> impl Future<Output = Answer<()>> + Send;
}

/// All that a backend does.
pub trait Backend: Ledger + Journal + SettingsStore + AlertStore + Views {}

impl<T: Ledger + Journal + SettingsStore + AlertStore + Views> Backend for T {}

/// One HTTP request to a destination.
#[derive(Clone, Debug)]
pub struct Outgoing {
    /// Where to.
    pub address: Address,
    /// Whose limits and certificates count.
    pub destination: DestinationName,
    /// All headers but those of the connection itself.
    pub headers: HeaderMap,
    /// The bytes.
    pub body: Bytes,
    /// How long status line and headers may take, from the resolution of the name on.
    pub time_limit: std::time::Duration,
}

/// Sends over HTTP. A failure is an outcome, never an error.
pub trait Transport: Send + Sync + 'static {
    /// Posts once, within the time limit, without following redirects.
    fn post(&self, request: Outgoing) -> impl Future<Output = Outcome> + Send;
}
