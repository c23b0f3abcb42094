//! Finding planned deliveries that have no record: they are in no index, so the recent events are walked, as far back as the
//! keeper has not seen to every delivery's having one.

use std::collections::{BTreeMap, HashMap};

use aws_sdk_dynamodb::types::{AttributeValue, KeysAndAttributes};
use futures_util::{StreamExt, TryStreamExt, stream};
use switchboard_core::names::{DestinationName, SourceName};
use switchboard_core::ports::{Answer, BackendError, Queued};
use switchboard_core::time::Timestamp;

use crate::accept::AT_ONCE;
use crate::failure::failed;
use crate::item::event::Head;
use crate::item::{Attributes, Reading, names, place};
use crate::read::unreadable;
use crate::{Aws, keys, schema};

const DOING: &str = "finding deliveries without a record";
/// Most items that are asked for at once.
pub(crate) const KEYS: usize = 100;
/// How often what the service did not come to is asked for again.
const ROUNDS: u32 = 20;

/// A planned delivery without a record, and its event.
#[derive(Clone, Debug)]
pub(crate) struct Unrecorded {
    pub(crate) head: Head,
    pub(crate) queued: Queued,
}

impl Aws {
    /// The planned deliveries to `destination` without a record that are due by `due`, the oldest event first.
    pub(crate) async fn unrecorded(
        &self,
        destination: &DestinationName,
        due: Option<Timestamp>,
    ) -> Answer<Vec<Unrecorded>> {
        let since = self.walked().await?;
        let mut planned = Vec::new();
        for head in self.recent_heads(since).await? {
            let wanted = head.plan.iter().filter(|queued| {
                queued.key.destination == *destination && due.is_none_or(|due| queued.due <= due)
            });
            for queued in wanted.cloned().collect::<Vec<_>>() {
                let head = head.clone();
                planned.push(Unrecorded { head, queued });
            }
        }
        let mut found = Vec::new();
        for chunk in planned.chunks(KEYS) {
            found.extend(self.without_record(chunk).await?);
        }
        found.sort_by_key(|one| one.head.received_at);
        Ok(found)
    }

    /// Where the keeper's later walk is.
    pub(crate) async fn walked(&self) -> Answer<Option<Timestamp>> {
        let key = place(keys::SETTINGS_PARTITION, keys::FAR_WALK);
        let Some(item) = self.get(DOING, key, None).await? else {
            return Ok(None);
        };
        let reading = Reading::of("cursor", &item).map_err(unreadable(DOING))?;
        reading
            .moment(names::AT)
            .map(Some)
            .map_err(unreadable(DOING))
    }

    /// The events of all sources that were received since then.
    pub(crate) async fn recent_heads(&self, since: Option<Timestamp>) -> Answer<Vec<Head>> {
        let sources: Vec<SourceName> = self.settings.now().await?.sources.iter().cloned().collect();
        let shards = sources
            .iter()
            .flat_map(|source| (0..keys::SHARDS).map(|shard| keys::recent(source, shard)));
        let heads: Vec<Vec<Head>> = stream::iter(shards.collect::<Vec<_>>())
            .map(|partition| self.recent_in(partition, since))
            .buffered(AT_ONCE)
            .try_collect()
            .await?;
        Ok(heads.into_iter().flatten().collect())
    }

    async fn recent_in(&self, partition: String, since: Option<Timestamp>) -> Answer<Vec<Head>> {
        let mut heads = Vec::new();
        let mut from: Option<Attributes> = None;
        let since = keys::moment(since.unwrap_or_default());
        loop {
            let page = self
                .dynamodb
                .query()
                .table_name(&self.place.table)
                .index_name(schema::RECENT.name)
                .key_condition_expression("g1 = :p AND g1s >= :since")
                .expression_attribute_values(":p", AttributeValue::S(partition.clone()))
                .expression_attribute_values(":since", AttributeValue::S(since.clone()))
                .set_exclusive_start_key(from)
                .send()
                .await
                .map_err(|error| failed(DOING, error))?;
            for item in page.items.unwrap_or_default() {
                heads.push(Head::read(&item).map_err(unreadable(DOING))?);
            }
            from = page.last_evaluated_key;
            if from.is_none() {
                return Ok(heads);
            }
        }
    }

    /// Those of at most [`KEYS`] that have no record of their event's life.
    pub(crate) async fn without_record(&self, planned: &[Unrecorded]) -> Answer<Vec<Unrecorded>> {
        let lives = self.lives(planned).await?;
        let absent = |one: &&Unrecorded| {
            lives.get(one.queued.key.id.as_str()).map(String::as_str)
                != Some(one.head.life.as_str())
        };
        Ok(planned.iter().filter(absent).cloned().collect())
    }

    /// The life that each delivery's record carries, by the delivery's id.
    async fn lives(&self, planned: &[Unrecorded]) -> Answer<BTreeMap<String, String>> {
        let mut lives = BTreeMap::new();
        let keys = planned.iter().map(|one| {
            let key = &one.queued.key;
            place(keys::event(&key.event), keys::delivery(&key.id))
        });
        let request = KeysAndAttributes::builder()
            .set_keys(Some(keys.collect()))
            .consistent_read(true)
            .projection_expression("sk, lf")
            .build()
            .map_err(|cause| BackendError::new(DOING, cause))?;
        let mut open = Some(HashMap::from([(self.place.table.clone(), request)]));
        for _ in 0..ROUNDS {
            let Some(requests) = open.take().filter(|open| !open.is_empty()) else {
                return Ok(lives);
            };
            let page = self
                .dynamodb
                .batch_get_item()
                .set_request_items(Some(requests))
                .send()
                .await
                .map_err(|error| failed(DOING, error))?;
            for item in page.responses.into_iter().flat_map(HashMap::into_values) {
                for item in item {
                    let text = |name| item.get(name).and_then(|value| value.as_s().ok());
                    let id = text(names::SORT).and_then(|sort| keys::delivery_of(sort));
                    if let (Some(id), Some(life)) = (id, text(names::LIFE)) {
                        lives.insert(id.as_str().to_owned(), life.clone());
                    }
                }
            }
            open = page.unprocessed_keys;
        }
        Err(BackendError::new(
            DOING,
            "the table does not come to all that is asked for",
        ))
    }
}
