//! What the worker asks of the table and the queues. Every step may be made twice.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use switchboard_core::attempt::Attempt;
use switchboard_core::attempt::Performed;
use switchboard_core::delivery::DeathReason;
use switchboard_core::endpoint::Settings;
use switchboard_core::names::DestinationName;
use switchboard_core::ports::{Answer, Begun, Keep, Recorded, Transport};
use switchboard_core::time::Timestamp;

use crate::batch::Means;

/// What a message is.
pub(crate) enum Message<H, K> {
    /// A delivery is due.
    Hint(H, Meant),
    /// A dead letter that somebody moved here by hand: it is to be sent again.
    Ticket(K),
    /// Nothing that this version can read; why, in a few words.
    Unreadable(String),
}

/// What a hint is about.
pub(crate) struct Meant {
    /// Where the delivery goes.
    pub(crate) destination: DestinationName,
    /// When it is due. The hint was made by then, by the clock of whoever made it: nothing is planned for the past.
    pub(crate) due: Timestamp,
}

/// What attempts are made with, as the configuration stands.
pub(crate) trait Configured: Send + Sync {
    /// The way to the destinations.
    type Transport: Transport;

    /// As of five seconds ago at most; none where nothing is known to go by.
    fn current(&self) -> impl Future<Output = Option<Arc<Means<Self::Transport>>>> + Send;

    /// As a look finds it that began at `since`, in ticks, or later; an error where that finds nothing to go by. There is one
    /// look a second at most, and whoever needs another one waits for it.
    fn newest(
        &self,
        since: Duration,
    ) -> impl Future<Output = Answer<Arc<Means<Self::Transport>>>> + Send;
}

/// The steps of one delivery.
pub(crate) trait Desk: Send + Sync {
    /// A hint.
    type Hint: Send + Sync;
    /// A ticket of a dead letter.
    type Ticket: Send + Sync;

    /// Reads a message's text.
    fn read(text: &str) -> Message<Self::Hint, Self::Ticket>;

    /// What operators have set, as of five seconds ago at most.
    fn settings(&self) -> impl Future<Output = Answer<Arc<Settings>>> + Send;

    /// The same, read by a call that began behind this one: nothing that operators set before it is missed.
    fn newest_settings(&self) -> impl Future<Output = Answer<Arc<Settings>>> + Send;

    /// May this delivery be attempted now? A hint that was received for the first time may be taken at its word.
    fn begin(
        &self,
        hint: &Self::Hint,
        receives: u32,
        now: Timestamp,
    ) -> impl Future<Output = Answer<Begun>> + Send;

    /// Records an attempt and sends the hint of the next one, or the ticket of a dead letter.
    fn record(
        &self,
        attempt: &Attempt,
        performed: &Performed,
        keep: Keep,
    ) -> impl Future<Output = Answer<Recorded>> + Send;

    /// Records the hint's delivery as held, if it waits for what the hint says.
    fn hold(
        &self,
        hint: &Self::Hint,
        now: Timestamp,
        keep: Keep,
    ) -> impl Future<Output = Answer<()>> + Send;

    /// Makes the hint's delivery a dead letter without an attempt, if it waits for what the hint says.
    fn bury(
        &self,
        hint: &Self::Hint,
        reason: DeathReason,
        now: Timestamp,
        keep: Keep,
    ) -> impl Future<Output = Answer<()>> + Send;

    /// Puts the dead letter of a ticket back to waiting, if it is the death that the ticket tells of.
    fn redrive(
        &self,
        ticket: &Self::Ticket,
        now: Timestamp,
    ) -> impl Future<Output = Answer<()>> + Send;
}

/// The queue that the messages come from, and the one beside it.
pub(crate) trait Queue: Send + Sync {
    /// Hides a received message for so long; it is received again then.
    fn hide(&self, receipt: &str, pause: Duration) -> impl Future<Output = Answer<()>> + Send;

    /// Keeps what cannot be read, with the reason, where nothing sends it anywhere.
    fn set_aside(&self, text: &str, reason: &str) -> impl Future<Output = Answer<()>> + Send;
}
