//! A table and queues in an account of their own, and what lies there.

use std::collections::{BTreeMap, HashMap};
use std::ops::Deref;

use aws_sdk_dynamodb::types::AttributeValue;
use switchboard_aws::Aws;
use switchboard_core::delivery::DeliveryKey;
use switchboard_core::identity::EventId;
use switchboard_core::time::Timestamp;
use switchboard_testkit::emulator::{Account, Emulator, fresh_account};

use crate::proxy::{Fate, Proxy};
use crate::sample::clients_at;
use crate::support;

/// A backend that is cut off, and what cuts it.
pub(crate) struct Cut {
    backend: Aws,
    /// It listens as long as it is kept.
    _proxy: Proxy,
}

impl Deref for Cut {
    type Target = Aws;

    fn deref(&self) -> &Aws {
        &self.backend
    }
}

/// It.
pub(crate) struct Ground {
    base: support::Ground,
    account: Account,
}

impl Deref for Ground {
    type Target = support::Ground;

    fn deref(&self) -> &support::Ground {
        &self.base
    }
}

impl Ground {
    /// Makes it.
    pub(crate) async fn new() -> Self {
        let account = fresh_account();
        let base = support::Ground::of(&account).await;
        Self { base, account }
    }

    /// The account.
    pub(crate) fn account(&self) -> &str {
        self.account.as_str()
    }

    /// A number or a text of a delivery's record.
    pub(crate) async fn attribute(&self, key: &DeliveryKey, name: &str) -> Option<String> {
        self.value(&key.event, &format!("D#{}", key.id), name).await
    }

    /// A number or a text of an event.
    pub(crate) async fn event_attribute(&self, event: &EventId, name: &str) -> Option<String> {
        self.value(event, "A", name).await
    }

    async fn value(&self, event: &EventId, sort: &str, name: &str) -> Option<String> {
        let text = |text: String| AttributeValue::S(text);
        let read = self
            .base
            .clients
            .dynamodb
            .get_item()
            .table_name(&self.base.place.table)
            .key("pk", text(format!("E#{event}")))
            .key("sk", text(sort.to_owned()))
            .send()
            .await
            .expect("an answer");
        let value = read.item?.remove(name)?;
        value.as_n().or(value.as_s()).ok().cloned()
    }

    /// When each item of an event may be removed, in seconds since 1970, by its sort key.
    pub(crate) async fn ends(&self, event: &EventId) -> BTreeMap<String, i64> {
        let found = self.partition(event, "sk, #ttl").await;
        let end = |item: &HashMap<String, AttributeValue>| {
            let ttl = item.get("ttl")?.as_n().ok()?.parse().ok()?;
            Some((item.get("sk")?.as_s().ok()?.clone(), ttl))
        };
        found.iter().filter_map(end).collect()
    }

    /// Removes what of an event may be removed at that moment, as the service does in the end.
    pub(crate) async fn let_expire(&self, event: &EventId, at: Timestamp) {
        let ends = self.ends(event).await.into_iter();
        for (sort, _) in ends.filter(|(_, end)| *end < at.seconds()) {
            let deleted = self.base.clients.dynamodb.delete_item();
            let deleted = deleted
                .table_name(&self.base.place.table)
                .key("pk", AttributeValue::S(format!("E#{event}")))
                .key("sk", AttributeValue::S(sort));
            deleted.send().await.expect("deleted");
        }
    }

    async fn partition(
        &self,
        event: &EventId,
        attributes: &str,
    ) -> Vec<HashMap<String, AttributeValue>> {
        let query = self.base.clients.dynamodb.query();
        let query = query
            .table_name(&self.base.place.table)
            .key_condition_expression("pk = :pk")
            .expression_attribute_values(":pk", AttributeValue::S(format!("E#{event}")))
            .projection_expression(attributes)
            .expression_attribute_names("#ttl", "ttl");
        query
            .send()
            .await
            .expect("an answer")
            .items
            .unwrap_or_default()
    }

    /// A backend of another process, of whose requests `count` get through and none after them.
    pub(crate) fn cut_after(&self, count: usize) -> Cut {
        let mut passed = 0;
        let proxy = Proxy::start(Emulator::shared().address(), move |_| {
            passed += 1;
            if passed > count {
                Fate::Lost
            } else {
                Fate::Passed
            }
        });
        let clients = clients_at(&proxy.url(), self.account());
        Cut {
            backend: self.base.open_with(&clients, self.base.place.clone()),
            _proxy: proxy,
        }
    }

    /// Gives an event another life, as storing it anew does.
    pub(crate) async fn give_another_life(&self, event: &EventId) {
        let written = self
            .base
            .clients
            .dynamodb
            .update_item()
            .table_name(&self.base.place.table)
            .key("pk", AttributeValue::S(format!("E#{event}")))
            .key("sk", AttributeValue::S("A".to_owned()))
            .update_expression("SET tok = :life")
            .expression_attribute_values(":life", AttributeValue::S("another".to_owned()))
            .send()
            .await;
        written.expect("written");
    }

    /// The sort keys of an event's items that begin so.
    pub(crate) async fn sorts(&self, event: &EventId, begin: &str) -> Vec<String> {
        let found = self.partition(event, "sk, #ttl").await;
        let sort = |item: &HashMap<String, AttributeValue>| item.get("sk")?.as_s().ok().cloned();
        let sorts = found.iter().filter_map(sort);
        sorts.filter(|sort| sort.starts_with(begin)).collect()
    }
}
