//! Tickets tell of dead letters to whoever looks at their queue. Those of what is no longer dead are removed, a few in each
//! run: the table is the truth.

use switchboard_core::delivery::State;
use switchboard_core::ports::Answer;

use super::Keeper;
use crate::failure::failed;
use crate::received::Ticket;

/// Most requests of one run.
const REQUESTS: u32 = 10;

impl Keeper<'_> {
    /// Removes what there is no more reason for; `removed` counts it.
    pub(super) async fn tickets(&self, removed: &mut u32) -> Answer<()> {
        let queue = &self.aws.place.dead_letters;
        let mut stay = Vec::new();
        for _ in 0..REQUESTS {
            if !self.has_time() {
                break;
            }
            let received = self.aws.receive(queue).await?;
            if received.is_empty() {
                break;
            }
            for message in received {
                // What is no ticket is not ours to remove.
                let ticket = message.body().and_then(Ticket::read);
                let over = match &ticket {
                    Some(ticket) => !self.tells_true(ticket).await?,
                    None => false,
                };
                if over {
                    self.aws.forget(queue, &message).await?;
                    *removed = removed.saturating_add(1);
                } else {
                    stay.push(message);
                }
            }
        }
        for message in stay {
            // Seen again at once: what counts them goes by those that are not hidden.
            let show = self.aws.sqs.change_message_visibility().queue_url(queue);
            let show = show
                .set_receipt_handle(message.receipt_handle)
                .visibility_timeout(0);
            let shown = show.send().await;
            shown.map_err(|error| failed("showing a ticket again", error))?;
        }
        Ok(())
    }

    /// Whether the delivery is dead still, by that death.
    async fn tells_true(&self, ticket: &Ticket) -> Answer<bool> {
        let record = self.aws.delivery(&ticket.event, &ticket.delivery).await?;
        Ok(record.is_some_and(|record| {
            record.stood.state == State::Dead && record.stood.attempts == ticket.attempts
        }))
    }
}
