//! What came back: the platform puts a hint that was received too often where only the keeper takes it from, and workers put
//! there what they cannot read.

use aws_sdk_sqs::types::Message as Received;
use switchboard_core::delivery::{DeathReason, State};
use switchboard_core::ports::Answer;
use switchboard_core::stood::Stood;

use super::{Keeper, Kept};
use crate::change::{Changed, Known};
use crate::failure::failed;
use crate::item::delivery::Watch;
use crate::message::{Message, Origin, ticket};
use crate::received::{REASON, Ticket};

const DOING: &str = "looking at what came back";
/// Most requests of one run: what stays in the queue is found again and again.
const REQUESTS: u32 = 100;
/// Counted so often, a delivery dies: its hints do not get through.
const MOST: u32 = 3;

impl Keeper<'_> {
    /// Looks at what is there, as far as there is time.
    pub(super) async fn returned(&self, kept: &mut Kept) -> Answer<()> {
        for _ in 0..REQUESTS {
            if !self.has_time() {
                break;
            }
            let received = self.aws.receive(self.returned).await?;
            if received.is_empty() {
                break;
            }
            for message in received {
                self.one_returned(&message, kept).await?;
            }
        }
        Ok(())
    }

    async fn one_returned(&self, received: &Received, kept: &mut Kept) -> Answer<()> {
        let text = received.body().unwrap_or_default();
        let told = received
            .message_attributes()
            .and_then(|all| all.get(REASON)?.string_value());
        match (told, Message::read(text)) {
            (None, Ok(message)) => self.hint_returned(message, kept).await?,
            (None, Err(why)) => {
                let Some(ticket) = Ticket::read(text) else {
                    count(kept, &why.to_string());
                    return Ok(());
                };
                self.aws.redrive_received(&ticket, self.now()).await?;
            }
            (Some(why), _) => {
                count(kept, why);
                return Ok(());
            }
        }
        self.aws.forget(self.returned, received).await
    }

    /// A hint whose due time is the record's goes back to its queue; with the third that is counted the delivery dies.
    async fn hint_returned(&self, message: Message, kept: &mut Kept) -> Answer<()> {
        let now = self.now();
        let Some((record, seen)) = self.aws.waiting_for(&message, now).await? else {
            kept.dropped = kept.dropped.saturating_add(1);
            return Ok(());
        };
        let counts = record
            .watch
            .returned_at
            .is_none_or(|last| now.since(last) >= self.distances.returns);
        if counts {
            let returns = record.watch.returns.saturating_add(1);
            let dies = returns >= MOST;
            let mut after = record.clone();
            if dies {
                let stood = Stood {
                    state: State::Dead,
                    reason: Some(DeathReason::CameBack),
                    ..record.stood.clone()
                };
                after = self.aws.moved(after, stood, self.keep, now);
                self.aws.keep_event(&after, self.keep).await?;
            }
            after.token = self.aws.tokens.fresh();
            after.watch = Watch {
                returns,
                returned_at: Some(now),
                ..after.watch
            };
            let changed = self.aws.change(DOING, &after, &seen, Known::Whole).await?;
            if changed == Changed::Yes && dies {
                kept.died = kept.died.saturating_add(1);
                let ticket = ticket(&after.key, after.stood.attempts);
                return self.aws.put_ticket(ticket).await;
            }
        }
        kept.returned = kept.returned.saturating_add(1);
        let message = Message {
            origin: Origin::Later,
            ..message
        };
        self.aws.send(&[message]).await
    }
}

fn count(kept: &mut Kept, why: &str) {
    let counted = kept.unreadable.entry(why.to_owned()).or_default();
    *counted = counted.saturating_add(1);
}

impl crate::Aws {
    /// Some messages of a queue, if it has any now.
    pub(super) async fn receive(&self, queue: &str) -> Answer<Vec<Received>> {
        let receive = self.sqs.receive_message().queue_url(queue);
        let receive = receive
            .max_number_of_messages(10)
            .message_attribute_names("All");
        let received = receive.send().await.map_err(|error| failed(DOING, error))?;
        Ok(received.messages.unwrap_or_default())
    }

    /// Takes a message out of a queue that was received from it.
    pub(super) async fn forget(&self, queue: &str, received: &Received) -> Answer<()> {
        let delete = self.sqs.delete_message().queue_url(queue);
        let delete = delete.set_receipt_handle(received.receipt_handle.clone());
        delete.send().await.map_err(|error| failed(DOING, error))?;
        Ok(())
    }
}
