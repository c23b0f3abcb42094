//! Sending hints: ten in a request, each answered for by itself. A hint that is sent twice is harmless, one that is not sent
//! is found by the keeper.

use std::time::Duration;

use aws_sdk_sqs::types::{MessageAttributeValue, QueueAttributeName, SendMessageBatchRequestEntry};
use switchboard_core::ports::{Answer, BackendError};
use switchboard_core::time::Timestamp;
use switchboard_core::views::QueueDepth;

use crate::Aws;
use crate::failure::failed;
use crate::message::{Message, REASON};

/// Most messages of a request.
const ENTRIES: usize = 10;
/// Most bytes of a request's messages together.
const BYTES: usize = 1 << 20;
/// How often what was refused of a request is sent: twice, since a queue may be short of breath.
const SENDINGS: u32 = 2;
/// The longest pause that a message spends in the queue, which takes 15 minutes. What is due later gets no message: its
/// record waits, and the keeper sends the one hint when it is near.
pub(crate) const LONGEST_DELAY: Duration = Duration::from_mins(12);

/// Whether a hint of what is due then goes into the queue.
pub(crate) fn is_near(due: Timestamp, now: Timestamp) -> bool {
    due.since(now) <= LONGEST_DELAY
}

/// A request's worth of entries.
type Batch = Vec<SendMessageBatchRequestEntry>;

/// Puts entries together that fit into one request each.
fn batches(entries: Vec<SendMessageBatchRequestEntry>) -> Vec<Batch> {
    let mut batches: Vec<Batch> = Vec::new();
    let mut bytes = 0_usize;
    for entry in entries {
        let length = entry.message_body().len();
        match batches.last_mut() {
            Some(batch) if batch.len() < ENTRIES && bytes.saturating_add(length) <= BYTES => {
                bytes = bytes.saturating_add(length);
                batch.push(entry);
            }
            Some(_) | None => {
                bytes = length;
                batches.push(vec![entry]);
            }
        }
    }
    batches
}

impl Aws {
    /// Sends the hints of what is due soon; of what is not, the record waits for the keeper. `Ok` when every one of them is
    /// in the queue. Sent twice, they are two hints for the same due time: whoever records first ends both.
    pub(crate) async fn send(&self, messages: &[Message]) -> Answer<()> {
        const DOING: &str = "queueing hints";
        let now = self.clock.now();
        let near = messages.iter().filter(|message| is_near(message.due, now));
        let entries = near
            .enumerate()
            .map(|(n, message)| {
                let delay = message.due.since(now).as_secs();
                SendMessageBatchRequestEntry::builder()
                    .id(n.to_string())
                    .message_body(message.text())
                    .message_group_id(message.key.destination.as_str())
                    .delay_seconds(i32::try_from(delay).unwrap_or(i32::MAX))
                    .build()
                    .map_err(|cause| BackendError::new(DOING, cause))
            })
            .collect::<Answer<Vec<_>>>()?;
        for batch in batches(entries) {
            self.send_batch(DOING, batch).await?;
        }
        Ok(())
    }

    async fn send_batch(&self, doing: &'static str, mut batch: Batch) -> Answer<()> {
        let mut refused = String::new();
        for _ in 0..SENDINGS {
            let answer = self
                .sqs
                .send_message_batch()
                .queue_url(&self.place.deliveries)
                .set_entries(Some(batch.clone()))
                .send()
                .await
                .map_err(|error| failed(doing, error))?;
            let failed = answer.failed();
            let Some(first) = failed.first() else {
                return Ok(());
            };
            refused = format!(
                "the queue refused {} of them: {}",
                failed.len(),
                first.code()
            );
            batch.retain(|entry| failed.iter().any(|failed| failed.id() == entry.id()));
        }
        Err(BackendError::new(doing, refused))
    }

    /// Keeps a message that nobody can read where the keeper counts it, with the reason. Twice is two of them.
    pub async fn set_aside(&self, text: &str, reason: &str) -> Answer<()> {
        const DOING: &str = "setting a message aside";
        let reason = MessageAttributeValue::builder()
            .data_type("String")
            .string_value(reason)
            .build()
            .map_err(|cause| BackendError::new(DOING, cause))?;
        self.sqs
            .send_message()
            .queue_url(&self.place.returned)
            .message_body(text)
            .message_attributes(REASON, reason)
            .send()
            .await
            .map_err(|error| failed(DOING, error))?;
        Ok(())
    }

    /// How many hints the queue holds, as the service estimates it.
    pub(crate) async fn depth(&self) -> Answer<QueueDepth> {
        const DOING: &str = "asking how many hints are queued";
        use QueueAttributeName::{
            ApproximateNumberOfMessages as Visible, ApproximateNumberOfMessagesDelayed as Delayed,
            ApproximateNumberOfMessagesNotVisible as InFlight,
        };
        let answer = self
            .sqs
            .get_queue_attributes()
            .queue_url(&self.place.deliveries)
            .set_attribute_names(Some(vec![Visible, Delayed, InFlight]))
            .send()
            .await
            .map_err(|error| failed(DOING, error))?;
        let told = answer.attributes.unwrap_or_default();
        let count = |name: &QueueAttributeName| {
            let count = told.get(name).and_then(|count| count.parse().ok());
            count.ok_or_else(|| BackendError::new(DOING, "the queue does not tell"))
        };
        Ok(QueueDepth {
            visible: count(&Visible)?,
            in_flight: count(&InFlight)?,
            delayed: count(&Delayed)?,
        })
    }

    /// Puts the ticket of a dead letter where alarms look. Twice is two tickets of the same death, which is as good as one.
    pub(crate) async fn put_ticket(&self, ticket: String) -> Answer<()> {
        self.sqs
            .send_message()
            .queue_url(&self.place.dead_letters)
            .message_body(ticket)
            .send()
            .await
            .map_err(|error| failed("putting a ticket", error))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(lengths: &[usize]) -> Vec<SendMessageBatchRequestEntry> {
        let entry = |(n, length): (usize, &usize)| {
            SendMessageBatchRequestEntry::builder()
                .id(n.to_string())
                .message_body("x".repeat(*length))
                .build()
                .expect("whole")
        };
        lengths.iter().enumerate().map(entry).collect()
    }

    #[test]
    fn no_request_holds_more_entries_or_bytes_than_the_queue_takes() {
        for lengths in [&[1; 25][..], &[300_000; 7], &[1 << 20, 1 << 20], &[]] {
            let batches = batches(entries(lengths));
            let mut found = Vec::new();
            for batch in &batches {
                let bytes: usize = batch.iter().map(|entry| entry.message_body().len()).sum();
                assert!((1..=ENTRIES).contains(&batch.len()) && bytes <= BYTES);
                found.extend(batch.iter().map(|entry| entry.id().to_owned()));
            }
            let expected: Vec<_> = (0..lengths.len()).map(|n| n.to_string()).collect();
            assert_eq!(found, expected, "each once and in order");
        }
    }

    #[test]
    fn what_is_due_later_than_in_twelve_minutes_gets_no_message() {
        let now = Timestamp::from_seconds(1_800_000_000);
        let limit = now.plus(LONGEST_DELAY);
        assert!(is_near(now, now) && is_near(limit, now));
        assert!(!is_near(limit.plus(Duration::from_millis(1)), now));
    }
}
