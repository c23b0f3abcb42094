//! The totals in the table: an item for each shard of the stream, with what was counted of it and how far, and one for
//! the shards that are read to their end. Each write is a transaction on the condition that the shard is as far as it was
//! when it was read, so of two folds at once one counts, and a write whose answer was lost is not made twice.

use std::collections::BTreeMap;
use std::time::Duration;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::types::{AttributeValue, TransactWriteItem, Update};
use switchboard_core::ports::{Answer, BackendError};
use switchboard_core::time::Timestamp;

use super::buckets::{Count, Place};
use super::counters::Counters;
use super::effect::Effect;
use crate::failure::failed;
use crate::item::{Attributes, Reading, Unreadable, VERSION, names, place};
use crate::keys;

/// Partition of the totals.
const TOTALS: &str = "T";
/// Sort key of what is counted of all shards that are read to their end.
const BASE: &str = "base";
/// How far a shard is counted: the sequence number of its last counted record.
const SEQUENCE: &str = "sq";
/// What is counted.
const COUNTERS: &str = "cn";
/// How many shards [`BASE`] holds; of a shard, how many it held with this one.
const HOLDS: &str = "dn";
/// How long the item of a shard that is read to its end stays: longer than the stream tells of the shard.
const STAYS: Duration = Duration::from_hours(72);
/// How long a bucket stays.
const BUCKET_STAYS: Duration = Duration::from_hours(8 * 24);

const DOING: &str = "adding to the totals";

/// What is kept of a shard.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Kept {
    /// How far it is counted; `None` before the first record.
    pub(crate) sequence: Option<String>,
    /// What was counted of it.
    pub(crate) counters: Counters,
    /// When it was last written.
    pub(crate) at: Timestamp,
    /// Set when it is read to its end and part of the base: which of the base's shards it is.
    pub(crate) nth: Option<u64>,
}

/// What is counted of the shards that are read to their end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Base {
    /// How many they are.
    holds: u64,
    counters: Counters,
}

/// Whether a write was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    /// It was.
    Yes,
    /// Another fold was there first, perhaps this one's own write whose answer was lost: what is kept has to be read again.
    Lost,
}

/// The totals of a table.
#[derive(Clone, Debug)]
pub(crate) struct Totals {
    client: Client,
    table: String,
}

impl Totals {
    pub(crate) const fn new(client: Client, table: String) -> Self {
        Self { client, table }
    }

    /// Every shard that something is kept of.
    pub(crate) async fn shards(&self) -> Answer<BTreeMap<String, Kept>> {
        let doing = "reading the totals";
        let mut shards = BTreeMap::new();
        let mut pages = self
            .client
            .query()
            .table_name(&self.table)
            .consistent_read(true)
            .key_condition_expression("pk = :pk")
            .expression_attribute_values(":pk", AttributeValue::S(TOTALS.to_owned()))
            .into_paginator()
            .send();
        while let Some(page) = pages.next().await {
            let page = page.map_err(|error| failed(doing, error))?;
            for item in page.items.unwrap_or_default() {
                let unreadable = |cause| BackendError::new(doing, cause);
                let reading = Reading::of("total", &item).map_err(unreadable)?;
                let id = reading.text(names::SORT).map_err(unreadable)?;
                if id != BASE {
                    let kept = shard(&reading).map_err(unreadable)?;
                    shards.insert(id.to_owned(), kept);
                }
            }
        }
        Ok(shards)
    }

    /// All that is counted up to `now`. Exact whatever is written meanwhile: the base is read before the shards, and tells which of
    /// them it holds.
    pub(crate) async fn all(&self, now: Timestamp) -> Answer<Counters> {
        let Base {
            holds,
            mut counters,
        } = self.base().await?;
        counters.latest.forget_ahead_of(now);
        for kept in self.shards().await?.values_mut() {
            if kept.nth.is_none_or(|nth| nth > holds) {
                kept.counters.latest.forget_ahead_of(now);
                counters.add(&kept.counters);
            }
        }
        Ok(counters)
    }

    async fn base(&self) -> Answer<Base> {
        let doing = "reading the totals";
        let read = self
            .client
            .get_item()
            .table_name(&self.table)
            .set_key(Some(place(TOTALS, BASE)))
            .consistent_read(true)
            .send()
            .await
            .map_err(|error| failed(doing, error))?;
        let Some(item) = read.item else {
            return Ok(Base::default());
        };
        base(&item).map_err(|cause| BackendError::new(doing, cause))
    }

    /// Counts records of a shard, the last of which is `sequence`. `kept` becomes what is kept then.
    pub(crate) async fn count(
        &self,
        shard: &str,
        kept: &mut Kept,
        sequence: &str,
        effect: &Effect,
        now: Timestamp,
    ) -> Answer<Written> {
        let mut after = Kept {
            sequence: Some(sequence.to_owned()),
            at: now,
            ..kept.clone()
        };
        after.counters.latest.forget_ahead_of(now);
        after.counters.add(&effect.counters);
        let update = self
            .update(place(TOTALS, shard))
            .update_expression("SET v = :v, sq = :sq, cn = :cn, #at = :at")
            .expression_attribute_names("#at", names::AT)
            .expression_attribute_values(":sq", AttributeValue::S(sequence.to_owned()))
            .expression_attribute_values(":cn", text(&after.counters)?)
            .expression_attribute_values(":at", number(now.millis()));
        let mut writes = vec![built(as_it_was(update, kept))?];
        for (place, counts) in effect.buckets.iter() {
            writes.push(built(self.bucket(place, counts))?);
        }
        let written = self.write(writes).await?;
        if written == Written::Yes {
            *kept = after;
        }
        Ok(written)
    }

    /// Makes a shard that is read to its end part of the base.
    pub(crate) async fn finish(&self, shard: &str, kept: &Kept, now: Timestamp) -> Answer<Written> {
        let mut base = self.base().await?;
        base.counters.latest.forget_ahead_of(now);
        base.counters.add(&kept.counters);
        let holds = base.holds.saturating_add(1);
        let ttl = now.plus(STAYS).seconds();
        let update = self
            .update(place(TOTALS, shard))
            .update_expression("SET v = :v, cn = :cn, dn = :dn, #at = :at, #ttl = :ttl")
            .expression_attribute_names("#at", names::AT)
            .expression_attribute_names("#ttl", names::TTL)
            .expression_attribute_values(":cn", text(&kept.counters)?)
            .expression_attribute_values(":dn", number(holds))
            .expression_attribute_values(":at", number(now.millis()))
            .expression_attribute_values(":ttl", number(ttl));
        let shard = built(as_it_was(update, kept))?;
        let update = self
            .update(place(TOTALS, BASE))
            .update_expression("SET v = :v, cn = :cn, dn = :dn")
            .expression_attribute_values(":cn", text(&base.counters)?)
            .expression_attribute_values(":dn", number(holds));
        let update = match base.holds {
            0 => update.condition_expression("attribute_not_exists(pk)"),
            holds => update
                .condition_expression("dn = :held")
                .expression_attribute_values(":held", number(holds)),
        };
        self.write(vec![shard, built(update)?]).await
    }

    fn bucket(&self, (hour, name): &Place, counts: &BTreeMap<Count, i64>) -> UpdateBuilder {
        let ends = Timestamp::from_seconds(hour.saturating_add(1).saturating_mul(3600));
        let mut update = self
            .update(place(keys::minutes(*hour), name))
            .expression_attribute_names("#ttl", names::TTL)
            .expression_attribute_values(":ttl", number(ends.plus(BUCKET_STAYS).seconds()));
        let mut adds = Vec::new();
        for (what, by) in counts {
            let attribute = what.attribute();
            adds.push(format!("{attribute} :{attribute}"));
            update = update.expression_attribute_values(format!(":{attribute}"), number(*by));
        }
        update.update_expression(format!("SET v = :v, #ttl = :ttl ADD {}", adds.join(", ")))
    }

    fn update(&self, key: Attributes) -> UpdateBuilder {
        Update::builder()
            .table_name(&self.table)
            .set_key(Some(key))
            .expression_attribute_values(":v", number(VERSION))
    }

    async fn write(&self, updates: Vec<Update>) -> Answer<Written> {
        let mut writes = self.client.transact_write_items();
        for update in updates {
            writes = writes.transact_items(TransactWriteItem::builder().update(update).build());
        }
        match writes.send().await {
            Ok(_) => Ok(Written::Yes),
            Err(error) if error.as_service_error().is_some_and(is_lost) => Ok(Written::Lost),
            Err(error) => Err(failed(DOING, error)),
        }
    }
}

type UpdateBuilder = aws_sdk_dynamodb::types::builders::UpdateBuilder;

/// Whether somebody else wrote first, or at the same moment.
fn is_lost(error: &TransactWriteItemsError) -> bool {
    let TransactWriteItemsError::TransactionCanceledException(canceled) = error else {
        return false;
    };
    canceled.cancellation_reasons().iter().any(|reason| {
        matches!(
            reason.code(),
            Some("ConditionalCheckFailed" | "TransactionConflict")
        )
    })
}

/// On the condition that the shard is as far as it was, and not finished.
fn as_it_was(update: UpdateBuilder, kept: &Kept) -> UpdateBuilder {
    match &kept.sequence {
        None => update.condition_expression("attribute_not_exists(pk)"),
        Some(sequence) => update
            .condition_expression("sq = :was AND attribute_not_exists(dn)")
            .expression_attribute_values(":was", AttributeValue::S(sequence.clone())),
    }
}

fn built(update: UpdateBuilder) -> Answer<Update> {
    update
        .build()
        .map_err(|cause| BackendError::new(DOING, cause))
}

fn text(counters: &Counters) -> Answer<AttributeValue> {
    let text = counters.to_text();
    text.map(AttributeValue::S)
        .map_err(|cause| BackendError::new(DOING, cause))
}

fn number(number: impl Into<i128>) -> AttributeValue {
    AttributeValue::N(number.into().to_string())
}

fn shard(reading: &Reading<'_>) -> Result<Kept, Unreadable> {
    let sequence = reading.has(SEQUENCE).then(|| reading.text(SEQUENCE));
    Ok(Kept {
        sequence: sequence.transpose()?.map(str::to_owned),
        counters: reading.parsed(COUNTERS, Counters::from_text)?,
        at: reading.moment(names::AT)?,
        nth: reading.number_if_any(HOLDS)?,
    })
}

fn base(item: &Attributes) -> Result<Base, Unreadable> {
    let reading = Reading::of("total", item)?;
    Ok(Base {
        holds: reading.number(HOLDS)?,
        counters: reading.parsed(COUNTERS, Counters::from_text)?,
    })
}
