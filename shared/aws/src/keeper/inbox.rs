//! Taking messages from a queue that the keeper looks through, and what may become of them: removed, or hidden for a while.

use std::time::Duration;

use aws_sdk_sqs::types::{
    ChangeMessageVisibilityBatchRequestEntry, DeleteMessageBatchRequestEntry,
};
use switchboard_core::ports::{Answer, BackendError};

use super::Keeper;
use crate::failure::failed;
use crate::message::REASON;

/// Most messages of a request.
const ENTRIES: u32 = 10;

/// A message that was taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Taken {
    pub(super) text: String,
    /// Why a worker set it aside, if one did.
    pub(super) reason: Option<String>,
    receipt: String,
}

fn seconds(pause: Duration) -> i32 {
    i32::try_from(pause.as_secs()).unwrap_or(i32::MAX)
}

impl Keeper {
    /// Takes some messages, at most `most`; none when the queue is empty as far as the service looks.
    pub(super) async fn take(&self, queue: &str, most: u32) -> Answer<Vec<Taken>> {
        let received = self
            .aws
            .sqs
            .receive_message()
            .queue_url(queue)
            .max_number_of_messages(i32::try_from(most.clamp(1, ENTRIES)).unwrap_or(1))
            .visibility_timeout(seconds(self.intervals.hide_taken))
            .message_attribute_names(REASON)
            .send()
            .await
            .map_err(|error| failed("taking messages", error))?;
        let taken = received.messages.unwrap_or_default().into_iter();
        Ok(taken
            .filter_map(|message| {
                let mut attributes = message.message_attributes.unwrap_or_default();
                Some(Taken {
                    text: message.body?,
                    reason: attributes
                        .remove(REASON)
                        .and_then(|value| value.string_value),
                    receipt: message.receipt_handle?,
                })
            })
            .collect())
    }

    /// Removes messages. What is not removed comes again and is dealt with again.
    pub(super) async fn remove(&self, queue: &str, taken: &[&Taken]) -> Answer<()> {
        const DOING: &str = "removing messages";
        for (some, entries) in batches(taken) {
            let entries = entries.map(|(id, taken)| {
                DeleteMessageBatchRequestEntry::builder()
                    .id(id)
                    .receipt_handle(&taken.receipt)
                    .build()
                    .map_err(|cause| BackendError::new(DOING, cause))
            });
            let removed = self
                .aws
                .sqs
                .delete_message_batch()
                .queue_url(queue)
                .set_entries(Some(entries.collect::<Answer<_>>()?))
                .send()
                .await
                .map_err(|error| failed(DOING, error))?;
            all(DOING, some, removed.failed.len())?;
        }
        Ok(())
    }

    /// Hides messages for so long from now.
    pub(super) async fn hide(&self, queue: &str, taken: &[&Taken], pause: Duration) -> Answer<()> {
        const DOING: &str = "hiding messages";
        for (some, entries) in batches(taken) {
            let entries = entries.map(|(id, taken)| {
                ChangeMessageVisibilityBatchRequestEntry::builder()
                    .id(id)
                    .receipt_handle(&taken.receipt)
                    .visibility_timeout(seconds(pause))
                    .build()
                    .map_err(|cause| BackendError::new(DOING, cause))
            });
            let hidden = self
                .aws
                .sqs
                .change_message_visibility_batch()
                .queue_url(queue)
                .set_entries(Some(entries.collect::<Answer<_>>()?))
                .send()
                .await
                .map_err(|error| failed(DOING, error))?;
            all(DOING, some, hidden.failed.len())?;
        }
        Ok(())
    }
}

/// A request's worth each, with an id for every entry.
fn batches<'a>(
    taken: &'a [&'a Taken],
) -> impl Iterator<Item = (usize, impl Iterator<Item = (String, &'a Taken)>)> {
    let most = usize::try_from(ENTRIES).unwrap_or(1);
    taken.chunks(most).map(|some| {
        let entries = some.iter().enumerate();
        (
            some.len(),
            entries.map(|(n, taken)| (n.to_string(), *taken)),
        )
    })
}

/// An answer may say of some entries that they failed.
fn all(doing: &'static str, of: usize, failed: usize) -> Answer<()> {
    if failed == 0 {
        return Ok(());
    }
    let cause = format!("the queue refused {failed} of {of}");
    Err(BackendError::new(doing, cause))
}
