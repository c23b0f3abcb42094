//! The table's stream: its shards, and the records of each in their order. A trait, so that a test can make one that is
//! closed, trimmed or out of step.

use std::future::Future;

use aws_sdk_dynamodb::types::AttributeValue;
use aws_sdk_dynamodbstreams::operation::get_records::GetRecordsError;
use aws_sdk_dynamodbstreams::operation::get_shard_iterator::GetShardIteratorError;
use aws_sdk_dynamodbstreams::types;
use aws_sdk_dynamodbstreams::types::ShardIteratorType;
use switchboard_core::ports::{Answer, BackendError};
use tokio::sync::OnceCell;

use crate::failure::failed;
use crate::item::Attributes;

/// A part of the stream that is read in its own order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shard {
    /// Its id.
    pub(crate) id: String,
    /// Whether nothing more is written to it.
    pub(crate) end: End,
}

/// Whether a shard still grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// It does.
    Open,
    /// It does not: once it is read to its end, there is no further place to read from.
    Closed,
}

/// A change of one item.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Record {
    /// Its place in its shard.
    pub(crate) sequence: String,
    /// The item before.
    pub(crate) old: Option<Attributes>,
    /// The item after.
    pub(crate) new: Option<Attributes>,
}

/// What was read at once.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Part {
    /// The records; none does not mean that there are none further on.
    pub(crate) records: Vec<Record>,
    /// Where to read on; `None` at the end of a closed shard.
    pub(crate) next: Option<String>,
}

/// Why a shard cannot be read there.
#[derive(Debug)]
pub(crate) enum ReadError {
    /// The place is older than what the stream keeps.
    Trimmed,
    /// The place was looked up too long ago.
    Expired,
    /// There is no such shard any more.
    Gone,
    /// Anything else.
    Failed(BackendError),
}

/// The changes of a table.
pub(crate) trait Stream: Send + Sync {
    /// All shards that are kept, open and closed.
    fn shards(&self) -> impl Future<Output = Answer<Vec<Shard>>> + Send;

    /// The place in a shard behind a record, or its oldest one that is kept.
    fn place(
        &self,
        shard: &str,
        behind: Option<&str>,
    ) -> impl Future<Output = Result<String, ReadError>> + Send;

    /// Reads at a place.
    fn read(&self, place: &str) -> impl Future<Output = Result<Part, ReadError>> + Send;
}

/// The stream of the real table.
#[derive(Debug)]
pub(crate) struct TableStream {
    streams: aws_sdk_dynamodbstreams::Client,
    dynamodb: aws_sdk_dynamodb::Client,
    table: String,
    name: OnceCell<String>,
}

impl TableStream {
    pub(crate) fn new(
        streams: aws_sdk_dynamodbstreams::Client,
        dynamodb: aws_sdk_dynamodb::Client,
        table: String,
    ) -> Self {
        Self {
            streams,
            dynamodb,
            table,
            name: OnceCell::new(),
        }
    }

    /// The stream's own name, which the table knows; it is looked up once.
    async fn name(&self) -> Answer<&str> {
        let look = || async {
            let doing = "looking up the table's stream";
            let described = self.dynamodb.describe_table().table_name(&self.table);
            let described = described
                .send()
                .await
                .map_err(|error| failed(doing, error))?;
            let name = described.table.and_then(|table| table.latest_stream_arn);
            name.ok_or_else(|| BackendError::new(doing, "the table has none"))
        };
        self.name.get_or_try_init(look).await.map(String::as_str)
    }
}

impl Stream for TableStream {
    async fn shards(&self) -> Answer<Vec<Shard>> {
        let name = self.name().await?;
        let mut shards = Vec::new();
        let mut behind = None;
        loop {
            let part = self
                .streams
                .describe_stream()
                .stream_arn(name)
                .set_exclusive_start_shard_id(behind)
                .send()
                .await
                .map_err(|error| failed("looking up the shards of the table's stream", error))?;
            let Some(described) = part.stream_description else {
                return Ok(shards);
            };
            shards.extend(described.shards.into_iter().flatten().filter_map(shard));
            behind = described.last_evaluated_shard_id;
            if behind.is_none() {
                return Ok(shards);
            }
        }
    }

    async fn place(&self, shard: &str, behind: Option<&str>) -> Result<String, ReadError> {
        let doing = "finding a place in the table's stream";
        let from = match behind {
            Some(_) => ShardIteratorType::AfterSequenceNumber,
            None => ShardIteratorType::TrimHorizon,
        };
        let name = self.name().await.map_err(ReadError::Failed)?;
        let place = self
            .streams
            .get_shard_iterator()
            .stream_arn(name)
            .shard_id(shard)
            .shard_iterator_type(from)
            .set_sequence_number(behind.map(str::to_owned))
            .send()
            .await
            .map_err(|error| match error.as_service_error() {
                Some(GetShardIteratorError::TrimmedDataAccessException(_)) => ReadError::Trimmed,
                Some(GetShardIteratorError::ResourceNotFoundException(_)) => ReadError::Gone,
                _ => ReadError::Failed(failed(doing, error)),
            })?;
        // An answer without one means the same as the exception.
        place.shard_iterator.ok_or(ReadError::Gone)
    }

    async fn read(&self, place: &str) -> Result<Part, ReadError> {
        let read = self.streams.get_records().shard_iterator(place).send();
        let read = read.await.map_err(|error| match error.as_service_error() {
            Some(GetRecordsError::TrimmedDataAccessException(_)) => ReadError::Trimmed,
            Some(GetRecordsError::ExpiredIteratorException(_)) => ReadError::Expired,
            Some(GetRecordsError::ResourceNotFoundException(_)) => ReadError::Gone,
            _ => ReadError::Failed(failed("reading the table's stream", error)),
        })?;
        Ok(Part {
            records: read
                .records
                .into_iter()
                .flatten()
                .filter_map(record)
                .collect(),
            next: read.next_shard_iterator,
        })
    }
}

fn shard(found: types::Shard) -> Option<Shard> {
    let range = found.sequence_number_range;
    let end = match range.and_then(|range| range.ending_sequence_number) {
        Some(_) => End::Closed,
        None => End::Open,
    };
    Some(Shard {
        id: found.shard_id?,
        end,
    })
}

fn record(found: types::Record) -> Option<Record> {
    let change = found.dynamodb?;
    Some(Record {
        sequence: change.sequence_number?,
        old: change.old_image.map(attributes),
        new: change.new_image.map(attributes),
    })
}

/// The same attributes in the types of the table's own client. Types that no item of ours has are left out.
fn attributes(image: impl IntoIterator<Item = (String, types::AttributeValue)>) -> Attributes {
    let value = |(name, value)| {
        let value = match value {
            types::AttributeValue::S(text) => AttributeValue::S(text),
            types::AttributeValue::N(number) => AttributeValue::N(number),
            types::AttributeValue::B(bytes) => AttributeValue::B(bytes),
            types::AttributeValue::Ss(texts) => AttributeValue::Ss(texts),
            _ => return None,
        };
        Some((name, value))
    };
    image.into_iter().filter_map(value).collect()
}

#[cfg(test)]
mod tests {
    use aws_sdk_dynamodbstreams::types::{Identity, StreamRecord};

    use super::*;
    use crate::fold::effect::Effect;
    use crate::fold::image::Image;
    use crate::fold::tests::image_of_an_event;

    #[test]
    fn a_removal_that_the_service_made_at_expiry_has_an_old_image_only_and_no_effect() {
        let old = image_of_an_event();
        let text = |text: &str| types::AttributeValue::S(text.to_owned());
        let mut change = StreamRecord::builder().sequence_number("7");
        for (name, value) in &old {
            let value = match value {
                AttributeValue::S(value) => text(value),
                AttributeValue::N(value) => types::AttributeValue::N(value.clone()),
                AttributeValue::B(value) => types::AttributeValue::B(value.clone()),
                other => panic!("no attribute of an event: {other:?}"),
            };
            change = change.old_image(name, value);
        }
        let service = Identity::builder()
            .principal_id("dynamodb.amazonaws.com")
            .r#type("Service");
        let removal = types::Record::builder()
            .event_name(types::OperationType::Remove)
            .user_identity(service.build())
            .dynamodb(change.build())
            .build();
        let removal = record(removal).expect("a record");
        assert_eq!((removal.sequence.as_str(), &removal.new), ("7", &None));
        assert_eq!(
            removal.old.as_ref(),
            Some(&old),
            "whole, in the table's types"
        );
        let image = Image::read(&old).expect("an image");
        assert!(Effect::of(Some(&image), None).is_empty());
        assert!(!Effect::of(None, Some(&image)).is_empty());
    }
}
