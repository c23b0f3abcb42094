//! Finding open and dead deliveries by their index. It may lag behind, so what is found is changed only as it was seen.

use std::collections::BTreeSet;

use aws_sdk_dynamodb::types::{AttributeValue, Select};
use futures_util::{StreamExt, TryStreamExt, stream};
use switchboard_core::delivery::State;
use switchboard_core::identity::DeliveryId;
use switchboard_core::names::DestinationName;
use switchboard_core::ports::{Answer, Moved};
use switchboard_core::time::Timestamp;

use crate::accept::AT_ONCE;
use crate::failure::failed;
use crate::item::delivery::Delivery;
use crate::item::{Attributes, names};
use crate::read::unreadable;
use crate::{Aws, keys, schema};

const DOING: &str = "finding deliveries";

/// What was found, and how much more there is.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// Rows of the index, in its order.
    pub(crate) rows: Vec<Delivery>,
    /// How many more there are, counted up to a bound.
    pub(crate) left: u32,
}

/// Which rows of a partition are meant.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Due {
    /// All.
    Ever,
    /// Those that are due by then.
    By(Timestamp),
}

impl Aws {
    /// The deliveries to `destinations` in `state`, at most `limit`, the first in the index's order first.
    pub(crate) async fn find(
        &self,
        state: State,
        destinations: &[DestinationName],
        due: Due,
        limit: u32,
    ) -> Answer<Found> {
        let shards = destinations
            .iter()
            .flat_map(|to| (0..keys::SHARDS).filter_map(|shard| keys::open(state, to, shard)));
        let parts: Vec<Found> = stream::iter(shards.collect::<Vec<_>>())
            .map(|partition| self.find_in(partition, due, limit))
            .buffered(AT_ONCE)
            .try_collect()
            .await?;
        let mut left = parts
            .iter()
            .fold(0, |sum: u32, part| sum.saturating_add(part.left));
        let mut rows: Vec<Delivery> = parts.into_iter().flat_map(|part| part.rows).collect();
        rows.sort_by_cached_key(|row| (row.moment(), row.key.id.clone()));
        let most = usize::try_from(limit).unwrap_or(usize::MAX);
        let surplus = rows.len().saturating_sub(most);
        rows.truncate(most);
        left = left.saturating_add(u32::try_from(surplus).unwrap_or(u32::MAX));
        Ok(Found { rows, left })
    }

    async fn find_in(&self, partition: String, due: Due, limit: u32) -> Answer<Found> {
        let most = usize::try_from(limit).unwrap_or(usize::MAX);
        let mut found = Found::default();
        let mut from: Option<Attributes> = None;
        loop {
            // Beyond the limit there is only counting.
            let counting = found.rows.len() >= most;
            let mut query = self
                .dynamodb
                .query()
                .table_name(&self.place.table)
                .index_name(schema::OPEN.name)
                .key_condition_expression("g4 = :p")
                .expression_attribute_values(":p", AttributeValue::S(partition.clone()))
                .set_exclusive_start_key(from)
                .set_select(counting.then_some(Select::Count));
            if let Due::By(now) = due {
                // What waits since later is due later still.
                let last = format!("{}~", keys::moment(now));
                query = query
                    .key_condition_expression("g4 = :p AND g4s <= :last")
                    .expression_attribute_values(":last", AttributeValue::S(last))
                    .filter_expression("#due <= :now")
                    .expression_attribute_names("#due", names::DUE)
                    .expression_attribute_values(
                        ":now",
                        AttributeValue::N(now.millis().to_string()),
                    );
            }
            let page = query.send().await.map_err(|error| failed(DOING, error))?;
            if counting {
                let count = u32::try_from(page.count).unwrap_or_default();
                found.left = found.left.saturating_add(count);
            }
            for item in page.items.unwrap_or_default() {
                if found.rows.len() < most {
                    let row = Delivery::read_row(&item).map_err(unreadable(DOING))?;
                    found.rows.push(row);
                } else {
                    found.left = found.left.saturating_add(1);
                }
            }
            from = page.last_evaluated_key;
            if from.is_none() || found.left >= Moved::COUNTED {
                return Ok(found);
            }
        }
    }

    /// The dead letters among these, each once.
    pub(crate) async fn find_dead(&self, ids: &[DeliveryId], limit: u32) -> Answer<Found> {
        let ids: BTreeSet<DeliveryId> = ids.iter().cloned().collect();
        let found: Vec<Option<Delivery>> = stream::iter(ids)
            .map(|id| async move { self.dead_letter(&id).await })
            .buffered(AT_ONCE)
            .try_collect()
            .await?;
        let mut rows: Vec<Delivery> = found.into_iter().flatten().collect();
        rows.sort_by_key(Delivery::moment);
        let most = usize::try_from(limit).unwrap_or(usize::MAX);
        let surplus = rows.len().saturating_sub(most);
        rows.truncate(most);
        Ok(Found {
            rows,
            left: u32::try_from(surplus).unwrap_or(u32::MAX),
        })
    }

    async fn dead_letter(&self, id: &DeliveryId) -> Answer<Option<Delivery>> {
        let page = self
            .dynamodb
            .query()
            .table_name(&self.place.table)
            .index_name(schema::DEAD.name)
            .key_condition_expression("g5 = :id")
            .expression_attribute_values(":id", AttributeValue::S(id.to_string()))
            .send()
            .await
            .map_err(|error| failed(DOING, error))?;
        for item in page.items.unwrap_or_default() {
            let partition = item.get(names::PARTITION).and_then(|pk| pk.as_s().ok());
            let Some(event) = partition.and_then(|partition| keys::event_of(partition)) else {
                continue;
            };
            let record = self.delivery(&event, id).await?;
            if let Some(record) = record.filter(|record| record.stood.state == State::Dead) {
                return Ok(Some(record));
            }
        }
        Ok(None)
    }
}
