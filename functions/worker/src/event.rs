//! What the platform invokes the function with, and what it is answered: a batch of a queue's messages, and which of them
//! it is given back.

use serde::{Deserialize, Serialize};

/// A batch. Each message is read by itself: one that cannot be read never blocks the others.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Batch {
    #[serde(rename = "Records", default)]
    pub(crate) messages: Vec<Received>,
}

/// A message as it was received.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Received {
    /// The queue's name for it.
    pub(crate) message_id: String,
    /// What it is given back by, this time.
    pub(crate) receipt_handle: String,
    pub(crate) body: String,
    attributes: Attributes,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Attributes {
    #[serde(rename = "ApproximateReceiveCount")]
    receives: String,
}

impl Received {
    /// How often it was received, this time included. What does not say it was not received for the first time: nothing
    /// is taken for fresh by mistake.
    pub(crate) fn receives(&self) -> u32 {
        self.attributes.receives.parse().unwrap_or(2)
    }
}

/// The messages that the queue gets back; it forgets all others.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct GivenBack {
    #[serde(rename = "batchItemFailures")]
    pub(crate) messages: Vec<Named>,
}

/// A message by the queue's name for it.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Named {
    #[serde(rename = "itemIdentifier")]
    pub(crate) id: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_read_as_the_platform_writes_it() {
        let batch: Batch = serde_json::from_str(
            r#"{"Records":[{"messageId":"m-1","receiptHandle":"r-1","body":"{}","md5OfBody":"",
                "attributes":{"ApproximateReceiveCount":"3","SentTimestamp":"1"},"messageAttributes":{},
                "eventSource":"aws:sqs"},{"messageId":"m-2"}]}"#,
        )
        .expect("a batch");
        let [first, second] = &batch.messages[..] else {
            panic!("two messages: {batch:?}");
        };
        assert_eq!(
            (first.message_id.as_str(), first.receipt_handle.as_str()),
            ("m-1", "r-1")
        );
        assert_eq!((first.body.as_str(), first.receives()), ("{}", 3));
        assert_eq!(
            (second.body.as_str(), second.receives()),
            ("", 2),
            "not fresh"
        );
    }

    #[test]
    fn what_is_given_back_is_named_as_the_platform_reads_it() {
        let none = serde_json::to_string(&GivenBack::default()).expect("text");
        assert_eq!(none, r#"{"batchItemFailures":[]}"#);
        let id = "m-1".to_owned();
        let one = GivenBack {
            messages: vec![Named { id }],
        };
        let one = serde_json::to_string(&one).expect("text");
        assert_eq!(one, r#"{"batchItemFailures":[{"itemIdentifier":"m-1"}]}"#);
    }
}
