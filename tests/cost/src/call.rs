//! One call as it went by, and calls added up.

use std::collections::BTreeMap;

use serde::Serialize;

/// A chunk of a queue's messages that is billed as one request, in bytes; `QUEUE_STEP` in `xtask/src/cost/prices.rs` is the same.
const CHUNK: usize = 64 * 1024;

/// What a call is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Something that is dealt with: an event, a delivery, a minute of the keeper.
    Work,
    /// What a process reads again every few seconds or once, whatever it deals with: the configuration, the settings, secrets.
    Upkeep,
}

/// A call.
#[derive(Clone, Debug)]
pub struct Call {
    /// The service, such as `dynamodb`.
    pub service: &'static str,
    /// The operation, such as `PutItem`.
    pub operation: String,
    /// What it is made for.
    pub cause: Cause,
    /// Which attempt of the SDK's it is, from 1: a call without an answer in time is made again.
    pub attempt: u32,
    /// Bytes of the request's body.
    pub sent: usize,
    /// Bytes of the answer's body.
    pub answered: usize,
    /// What is billed for it.
    pub billed: Billed,
}

/// What is billed for a call, by the service's own measure.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Billed {
    /// Write units of the table and its indexes, by the published rules.
    pub writes: f64,
    /// Read units, by the published rules.
    pub reads: f64,
    /// What the emulator says instead of both. For comparison.
    pub reported: f64,
    /// Bytes of a queue's messages.
    pub messages: usize,
    /// By how much the table's storage grew, with that of its indexes.
    pub stored: i64,
    /// Records that the table's stream got.
    pub records: u32,
    /// Bytes of these: the items before and after.
    pub streamed: usize,
}

/// Calls added up.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Sum {
    /// How many, by service and operation.
    pub calls: BTreeMap<&'static str, BTreeMap<String, u32>>,
    /// Write units of the table and its indexes.
    pub write_units: f64,
    /// Read units of the table and its indexes.
    pub read_units: f64,
    /// Both, as the emulator counts them.
    pub reported_units: f64,
    /// Requests that the queues bill: one for each chunk of 64 KB that was begun.
    pub queue_requests: u32,
    /// Bytes of requests' bodies.
    pub request_bytes: usize,
    /// Bytes of answers' bodies.
    pub answer_bytes: usize,
    /// Bytes that stay in the table and its indexes.
    pub stored_bytes: i64,
    /// Records that the table's stream got.
    pub stream_records: u32,
    /// Bytes of these.
    pub stream_bytes: usize,
}

impl Sum {
    /// Those that were made for one cause.
    pub fn of(calls: &[Call], cause: Cause) -> Self {
        Self::all(calls.iter().filter(|call| call.cause == cause))
    }

    /// All of these.
    pub fn all<'a>(calls: impl IntoIterator<Item = &'a Call>) -> Self {
        let mut sum = Self::default();
        for call in calls {
            sum.add(call);
        }
        sum
    }

    fn add(&mut self, call: &Call) {
        let operations = self.calls.entry(call.service).or_default();
        *operations.entry(call.operation.clone()).or_default() += 1;
        self.write_units += call.billed.writes;
        self.read_units += call.billed.reads;
        self.reported_units += call.billed.reported;
        if call.service == "sqs" {
            let chunks = call.billed.messages.div_ceil(CHUNK).max(1);
            self.queue_requests += u32::try_from(chunks).expect("a small number");
        }
        self.request_bytes += call.sent;
        self.answer_bytes += call.answered;
        self.stored_bytes += call.billed.stored;
        self.stream_records += call.billed.records;
        self.stream_bytes += call.billed.streamed;
    }

    /// How many calls of an operation.
    pub fn count(&self, service: &str, operation: &str) -> u32 {
        let operations = self.calls.get(service);
        let found = operations.and_then(|operations| operations.get(operation));
        found.copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_bills_each_chunk_of_its_messages_that_was_begun() {
        let call = |messages| Call {
            service: "sqs",
            operation: "SendMessageBatch".to_owned(),
            cause: Cause::Work,
            attempt: 1,
            sent: messages,
            answered: 10,
            billed: Billed {
                messages,
                ..Billed::default()
            },
        };
        for (messages, due) in [(0, 1), (CHUNK, 1), (CHUNK + 1, 2), (10 * CHUNK, 10)] {
            let sum = Sum::of(&[call(messages)], Cause::Work);
            assert_eq!(sum.queue_requests, due, "{messages} bytes");
        }
        let sum = Sum::of(&[call(1), call(1)], Cause::Work);
        assert_eq!(
            (sum.count("sqs", "SendMessageBatch"), sum.queue_requests),
            (2, 2)
        );
        assert_eq!(Sum::of(&[call(1)], Cause::Upkeep), Sum::default());
    }
}
