//! The desk and the queue of the AWS backend.

use std::sync::Arc;
use std::time::Duration;

use switchboard_aws::Aws;
use switchboard_aws::message::{Message as Hint, Ticket, UnreadableMessage};
use switchboard_core::attempt::{Attempt, Performed};
use switchboard_core::delivery::DeathReason;
use switchboard_core::endpoint::Settings;
use switchboard_core::ports::{Answer, Begun, Keep, Ledger, Recorded, SettingsStore};
use switchboard_core::time::Timestamp;

use crate::desk::{Desk, Meant, Message, Queue};

/// The table and its queues.
pub(crate) struct Table {
    aws: Aws,
}

impl Table {
    /// The one of `aws`.
    pub(crate) const fn new(aws: Aws) -> Self {
        Self { aws }
    }
}

impl Desk for Table {
    type Hint = Hint;
    type Ticket = Ticket;

    fn read(text: &str) -> Message<Hint, Ticket> {
        match Hint::read(text) {
            Ok(hint) => {
                let meant = Meant {
                    destination: hint.key.destination.clone(),
                    due: hint.due,
                };
                Message::Hint(hint, meant)
            }
            Err(why @ UnreadableMessage::Malformed) => match Ticket::read(text) {
                Some(ticket) => Message::Ticket(ticket),
                None => Message::Unreadable(why.to_string()),
            },
            Err(why @ UnreadableMessage::Newer(_)) => Message::Unreadable(why.to_string()),
        }
    }

    async fn settings(&self) -> Answer<Arc<Settings>> {
        self.aws.settings().await
    }

    async fn newest_settings(&self) -> Answer<Arc<Settings>> {
        self.aws.newest_settings().await
    }

    async fn begin(&self, hint: &Hint, receives: u32, now: Timestamp) -> Answer<Begun> {
        self.aws.begin_message(hint, receives, now).await
    }

    async fn record(
        &self,
        attempt: &Attempt,
        performed: &Performed,
        keep: Keep,
    ) -> Answer<Recorded> {
        self.aws
            .record(attempt, &performed.record, performed.next, keep)
            .await
    }

    async fn hold(&self, hint: &Hint, now: Timestamp, keep: Keep) -> Answer<()> {
        self.aws.hold_received(hint, now, keep).await
    }

    async fn bury(
        &self,
        hint: &Hint,
        reason: DeathReason,
        now: Timestamp,
        keep: Keep,
    ) -> Answer<()> {
        self.aws.bury_received(hint, reason, now, keep).await
    }

    async fn redrive(&self, ticket: &Ticket, now: Timestamp) -> Answer<()> {
        self.aws.redrive_received(ticket, now).await
    }
}

impl Queue for Table {
    async fn hide(&self, receipt: &str, pause: Duration) -> Answer<()> {
        self.aws.hide(receipt, pause).await
    }

    async fn set_aside(&self, text: &str, reason: &str) -> Answer<()> {
        self.aws.set_aside(text, reason).await
    }
}
