//! Reading single items and what belongs to an event. Reads are consistent, so that they see every write that was answered,
//! but for those that say otherwise.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::{AttributeValue, KeysAndAttributes};
use bytes::Bytes;
use futures_util::future::try_join_all;
use switchboard_core::identity::{DeliveryId, EventId};
use switchboard_core::ports::{Answer, BackendError};

use crate::Aws;
use crate::failure::failed;
use crate::family::Family;
use crate::item::delivery::Delivery;
use crate::item::event::{Body, HEAD, Head, Stored};
use crate::item::{Attributes, Unreadable, names, part, place};
use crate::keys;

/// Most items that are asked for at once.
pub(crate) const KEYS: usize = 100;
/// How often what the service did not come to is asked for again.
const ROUNDS: u32 = 20;

/// That a stored item cannot be read.
pub(crate) fn unreadable(doing: &'static str) -> impl Fn(Unreadable) -> BackendError {
    move |cause| BackendError::new(doing, cause)
}

/// An expression that asks for these attributes, and the names in it: some are words of the service's own.
pub(crate) fn projection(attributes: &[&str]) -> (String, Vec<(String, String)>) {
    let names: Vec<(String, String)> = (0..)
        .zip(attributes)
        .map(|(n, name): (u32, _)| (format!("#p{n}"), (*name).to_owned()))
        .collect();
    let expression: Vec<&str> = names.iter().map(|(short, _)| short.as_str()).collect();
    (expression.join(", "), names)
}

/// Whether a read sees every write that was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Consistency {
    /// It does.
    Consistent,
    /// It may be some writes behind, at half the price.
    Lagging,
}

/// What of a partition is read: the items from one sort key to another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stretch<'a> {
    pub(crate) first: &'a str,
    pub(crate) last: &'a str,
    /// Only these attributes.
    pub(crate) only: Option<&'a [&'a str]>,
    pub(crate) consistency: Consistency,
}

impl Stretch<'_> {
    /// An event's deliveries and further runs.
    pub(crate) const BEFORE_REPEATS: Self = Self {
        first: keys::BEHIND_BODY,
        last: keys::REPEATS,
        only: None,
        consistency: Consistency::Consistent,
    };
}

impl Aws {
    /// An item, or only some attributes of it.
    pub(crate) async fn get(
        &self,
        doing: &'static str,
        key: Attributes,
        only: Option<&[&str]>,
    ) -> Answer<Option<Attributes>> {
        let mut request = self
            .dynamodb
            .get_item()
            .table_name(&self.place.table)
            .set_key(Some(key))
            .consistent_read(true);
        if let Some(only) = only {
            let (expression, names) = projection(only);
            request = request
                .projection_expression(expression)
                .set_expression_attribute_names(Some(names.into_iter().collect()));
        }
        let read = request.send().await.map_err(|error| failed(doing, error))?;
        Ok(read.item)
    }

    /// Those items that are there, of at most [`KEYS`], in no order, or only some attributes of them.
    pub(crate) async fn get_many(
        &self,
        doing: &'static str,
        keys: Vec<Attributes>,
        only: Option<&[&str]>,
        consistency: Consistency,
    ) -> Answer<Vec<Attributes>> {
        let (expression, short) = only.map(projection).unzip();
        let request = KeysAndAttributes::builder()
            .set_keys(Some(keys))
            .consistent_read(consistency == Consistency::Consistent)
            .set_projection_expression(expression)
            .set_expression_attribute_names(short.map(|short| short.into_iter().collect()))
            .build()
            .map_err(|cause| BackendError::new(doing, cause))?;
        let mut items = Vec::new();
        let mut open = Some(HashMap::from([(self.place.table.clone(), request)]));
        for _ in 0..ROUNDS {
            let Some(requests) = open.take().filter(|open| !open.is_empty()) else {
                return Ok(items);
            };
            let page = self
                .dynamodb
                .batch_get_item()
                .set_request_items(Some(requests))
                .send()
                .await
                .map_err(|error| failed(doing, error))?;
            let found = page.responses.into_iter().flat_map(HashMap::into_values);
            items.extend(found.flatten());
            open = page.unprocessed_keys;
        }
        Err(BackendError::new(
            doing,
            "the table does not come to all that is asked for",
        ))
    }

    /// An event, without the parts of a big body.
    pub(crate) async fn stored_event(&self, id: &EventId) -> Answer<Option<Stored>> {
        const DOING: &str = "reading an event";
        let key = place(keys::event(id), keys::EVENT);
        let item = self.get(DOING, key, None).await?;
        item.map(|item| Stored::read(&item).map_err(unreadable(DOING)))
            .transpose()
    }

    /// An event without its body.
    pub(crate) async fn head(&self, id: &EventId) -> Answer<Option<Head>> {
        const DOING: &str = "reading an event";
        let mut only = vec![names::PARTITION];
        only.extend(HEAD);
        let key = place(keys::event(id), keys::EVENT);
        let item = self.get(DOING, key, Some(&only)).await?;
        item.map(|item| Head::read(&item).map_err(unreadable(DOING)))
            .transpose()
    }

    /// A delivery's record, of whichever life.
    pub(crate) async fn delivery(
        &self,
        event: &EventId,
        id: &DeliveryId,
    ) -> Answer<Option<Delivery>> {
        const DOING: &str = "reading a delivery";
        let key = place(keys::event(event), keys::delivery(id));
        let item = self.get(DOING, key, None).await?;
        item.map(|item| Delivery::read(&item).map_err(unreadable(DOING)))
            .transpose()
    }

    /// An event's body, put together from its parts where it has any.
    pub(crate) async fn body(&self, stored: &Stored) -> Answer<Bytes> {
        const DOING: &str = "reading a body";
        let parts = match &stored.body {
            Body::Here(bytes) => return Ok(bytes.clone()),
            Body::Parts(parts) => *parts,
        };
        let head = &stored.head;
        let read = (0..parts).map(|nth| async move {
            let key = place(keys::event(&head.id), keys::part(&head.life, nth));
            let Some(item) = self.get(DOING, key, None).await? else {
                return Err(BackendError::new(DOING, "a part of it is not there"));
            };
            part::read(&item).map_err(unreadable(DOING))
        });
        Ok(try_join_all(read).await?.concat().into())
    }

    /// An event's deliveries and further runs. Its repeats lie behind them and are not
    /// read: whoever repeats decides how many there are.
    pub(crate) async fn family(&self, head: &Head) -> Answer<Family> {
        const DOING: &str = "reading what belongs to an event";
        let items = self
            .stretch(DOING, &keys::event(&head.id), Stretch::BEFORE_REPEATS)
            .await?;
        Family::read(head, &items).map_err(unreadable(DOING))
    }

    /// A stretch of a partition.
    pub(crate) async fn stretch(
        &self,
        doing: &'static str,
        partition: &str,
        stretch: Stretch<'_>,
    ) -> Answer<Vec<Attributes>> {
        let (expression, short) = stretch.only.map(projection).unzip();
        let short = short.map(|short| short.into_iter().collect::<HashMap<_, _>>());
        let mut items = Vec::new();
        let mut from = None;
        loop {
            let page = self
                .dynamodb
                .query()
                .table_name(&self.place.table)
                .consistent_read(stretch.consistency == Consistency::Consistent)
                .key_condition_expression("pk = :pk AND sk BETWEEN :first AND :last")
                .expression_attribute_values(":pk", AttributeValue::S(partition.to_owned()))
                .expression_attribute_values(":first", AttributeValue::S(stretch.first.to_owned()))
                .expression_attribute_values(":last", AttributeValue::S(stretch.last.to_owned()))
                .set_projection_expression(expression.clone())
                .set_expression_attribute_names(short.clone())
                .set_exclusive_start_key(from)
                .send()
                .await
                .map_err(|error| failed(doing, error))?;
            items.extend(page.items.unwrap_or_default());
            from = page.last_evaluated_key;
            if from.is_none() {
                return Ok(items);
            }
        }
    }
}
