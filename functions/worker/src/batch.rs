//! A batch of messages, all dealt with at once. What could not be decided is given back; a message is never the truth.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::join_all;
use rand::Rng;
use switchboard_core::attempt::Performer;
use switchboard_core::configuration::Configuration;
use switchboard_core::ports::BackendError;
use switchboard_core::time::{Clock, Timestamp};
use tokio::time::timeout;

use crate::back::Settled;
use crate::desk::{Configured, Desk, Message, Queue};
use crate::event::{Batch, GivenBack, Received};
use crate::hint::Asked;
use crate::places::Places;

/// Received so often, what cannot be read is set aside: until then another version of the worker may come that can.
const SET_ASIDE_AT: u32 = 5;
/// How long what cannot be read is left alone between two times.
const UNREADABLE: Duration = Duration::from_mins(1);

/// What attempts are made with: one for each configuration.
pub(crate) struct Means<T> {
    pub(crate) configuration: Arc<Configuration>,
    pub(crate) performer: Performer<T>,
    pub(crate) places: Places,
}

/// Deals with batches.
pub(crate) struct Worker<D> {
    pub(crate) desk: D,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) rng: Mutex<Box<dyn Rng + Send>>,
}

/// The time of an invocation.
#[derive(Clone, Copy)]
pub(crate) struct Time {
    /// When it began, in ticks: all of its messages had come by then.
    pub(crate) began: Duration,
    /// When the platform ends it.
    pub(crate) ends: Timestamp,
}

impl<D: Desk + Queue> Worker<D> {
    /// A worker over a desk; `rng` draws how long what is given back is left alone.
    pub(crate) fn new(desk: D, clock: Arc<dyn Clock>, rng: Box<dyn Rng + Send>) -> Self {
        Self {
            desk,
            clock,
            rng: Mutex::new(rng),
        }
    }

    /// Deals with a whole batch before `ends`, when the platform ends this invocation: that would bring back all of it,
    /// with what is done, too. What is not decided by then is given back, wherever it hangs.
    pub(crate) async fn batch<C: Configured>(
        &self,
        configured: &C,
        batch: &Batch,
        ends: Timestamp,
    ) -> GivenBack {
        let began = self.clock.ticks();
        let time = Time { began, ends };
        let means = timeout(self.left(ends), configured.current()).await;
        let means = means.ok().flatten();
        let all = batch.messages.iter().map(|message| {
            let means = means.clone();
            async move {
                let settled = match means {
                    Some(means) => self.in_time(configured, means, message, time).await,
                    None => Settled::Back(self.again(message.receives())),
                };
                match settled {
                    Settled::Done => None,
                    Settled::Back(pause) => Some(self.give_back(message, pause, ends).await),
                }
            }
        });
        GivenBack {
            messages: join_all(all).await.into_iter().flatten().collect(),
        }
    }

    async fn in_time<C: Configured>(
        &self,
        configured: &C,
        means: Arc<Means<C::Transport>>,
        message: &Received,
        time: Time,
    ) -> Settled {
        let settling = self.settle(configured, means, message, time);
        let settling = AssertUnwindSafe(settling).catch_unwind();
        match timeout(self.left(time.ends), settling).await {
            Ok(Ok(settled)) => settled,
            Ok(Err(_)) => Settled::Back(self.again(message.receives())),
            Err(_) => {
                tracing::error!(
                    message.id = message.message_id,
                    "given back: the invocation's time was over"
                );
                Settled::Back(self.again(message.receives()))
            }
        }
    }

    async fn settle<C: Configured>(
        &self,
        configured: &C,
        means: Arc<Means<C::Transport>>,
        message: &Received,
        time: Time,
    ) -> Settled {
        let receives = message.receives();
        let settled = match D::read(&message.body) {
            Message::Hint(hint, about) => {
                let asked = Asked {
                    hint: &hint,
                    meant: &about,
                    receives,
                    time,
                };
                self.hint(configured, means, asked).await
            }
            Message::Ticket(ticket) => {
                let redriven = self.desk.redrive(&ticket, self.clock.now()).await;
                redriven.map(|()| Settled::Done)
            }
            Message::Unreadable(why) => self.unreadable(message, &why).await,
        };
        settled.unwrap_or_else(|error| {
            tracing::error!(message.id = message.message_id, error = %error.line(), "given back");
            Settled::Back(self.again(receives))
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
}
