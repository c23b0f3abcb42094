//! A batch of messages, all dealt with at once. What could not be decided is given back; a message is never the truth.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::join_all;
use switchboard_core::attempt::Performer;
use switchboard_core::configuration::Configuration;
use switchboard_core::ports::{BackendError, Transport};
use switchboard_core::time::{Clock, Timestamp};

use crate::desk::{Desk, Message, Queue};
use crate::event::{Batch, GivenBack, Named, Received};
use crate::places::Places;

/// Received so often, what cannot be read is set aside: until then another version of the worker may come that can.
const SET_ASIDE_AT: u32 = 5;
/// How long what cannot be read is left alone between two times.
const UNREADABLE: Duration = Duration::from_mins(1);
/// How long a message is left alone that we failed with; as much longer each time it comes back.
const FAILED: Duration = Duration::from_secs(10);
/// The longest of those pauses.
const LONGEST: Duration = Duration::from_mins(10);

/// What attempts are made with: one for each configuration.
pub(crate) struct Means<T> {
    pub(crate) configuration: Arc<Configuration>,
    pub(crate) performer: Performer<T>,
    pub(crate) places: Places,
}

/// What becomes of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Settled {
    /// The queue may forget it.
    Done,
    /// The queue gets it back, and shows it again after this pause.
    Back(Duration),
}

/// Deals with batches.
pub(crate) struct Worker<D> {
    pub(crate) desk: D,
    pub(crate) clock: Arc<dyn Clock>,
}

impl<D: Desk + Queue> Worker<D> {
    /// A worker over a desk.
    pub(crate) fn new(desk: D, clock: Arc<dyn Clock>) -> Self {
        Self { desk, clock }
    }

    /// Deals with a whole batch by `ends`, when the platform stops this invocation.
    pub(crate) async fn batch<T: Transport>(
        &self,
        means: &Means<T>,
        batch: &Batch,
        ends: Timestamp,
    ) -> GivenBack {
        let all = batch.messages.iter().map(|message| async move {
            let settling = AssertUnwindSafe(self.settle(means, message, ends)).catch_unwind();
            match settling.await.unwrap_or(Settled::Back(again(message))) {
                Settled::Done => None,
                Settled::Back(pause) => Some(self.give_back(message, pause).await),
            }
        });
        GivenBack {
            messages: join_all(all).await.into_iter().flatten().collect(),
        }
    }

    /// Gives a whole batch back that nothing can be done with now.
    pub(crate) async fn none_of(&self, batch: &Batch) -> GivenBack {
        let all = batch.messages.iter();
        let all = all.map(|message| self.give_back(message, again(message)));
        GivenBack {
            messages: join_all(all).await,
        }
    }

    async fn settle<T: Transport>(
        &self,
        means: &Means<T>,
        message: &Received,
        ends: Timestamp,
    ) -> Settled {
        let settled = match D::read(&message.body) {
            Message::Hint(hint, destination) => {
                let receives = message.receives();
                self.hint(means, &hint, &destination, receives, ends).await
            }
            Message::Ticket(ticket) => {
                let redriven = self.desk.redrive(&ticket, self.clock.now()).await;
                redriven.map(|()| Settled::Done)
            }
            Message::Unreadable(why) => self.unreadable(message, &why).await,
        };
        settled.unwrap_or_else(|error| {
            tracing::error!(message.id = message.message_id, error = %error.line(), "given back");
            Settled::Back(again(message))
        })
    }

    async fn unreadable(&self, message: &Received, why: &str) -> Result<Settled, BackendError> {
        let receives = message.receives();
        if receives < SET_ASIDE_AT {
            return Ok(Settled::Back(UNREADABLE));
        }
        self.desk.set_aside(&message.body, why).await?;
        tracing::warn!(message.id = message.message_id, receives, why, "set aside");
        Ok(Settled::Done)
    }

    /// Says when the queue is to show a message again; without that it does so after its own time.
    async fn give_back(&self, message: &Received, pause: Duration) -> Named {
        if let Err(error) = self.desk.hide(&message.receipt_handle, pause).await {
            tracing::warn!(message.id = message.message_id, error = %error.line(), "given back for longer");
        }
        Named {
            id: message.message_id.clone(),
        }
    }
}

/// When a message comes again that we failed with.
fn again(message: &Received) -> Duration {
    FAILED.saturating_mul(message.receives()).min(LONGEST)
}
