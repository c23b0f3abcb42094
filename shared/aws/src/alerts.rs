//! What alerts are decided from, and what is kept of them. Each number is a total, or is read from the index of open
//! deliveries and counted up to a limit.

use std::collections::BTreeMap;

use aws_sdk_dynamodb::types::{AttributeValue, Select};
use futures_util::future::try_join_all;
use futures_util::{StreamExt, TryStreamExt, stream};
use switchboard_core::alert::{Record, Standing};
use switchboard_core::delivery::State;
use switchboard_core::names::DestinationName;
use switchboard_core::ports::{AlertStore, Answer, BackendError};
use switchboard_core::time::Timestamp;

use crate::accept::AT_ONCE;
use crate::failure::failed;
use crate::item::delivery::Delivery;
use crate::item::{Reading, Writing, names, place};
use crate::read::{Consistency, Stretch, unreadable};
use crate::{Aws, keys, schema};

const STANDINGS: &str = "reading how destinations stand";
const ALERTS: &str = "reading alerts";
/// Where the sort keys of what is kept begin.
const SORT: &str = "alert#";
/// All of it.
const KEPT: Stretch<'_> = Stretch {
    first: SORT,
    last: "alert#~",
    only: None,
    consistency: Consistency::Consistent,
};
/// Recent events whose deliveries are looked at for a record. The keeper gives each one a record within minutes, so that
/// what is not found here is found in the index soon.
const MOST_RECENT: usize = 200;
/// Waiting deliveries of a shard among which one that was redriven is looked for.
const MOST_WAITING: i32 = 1000;

impl AlertStore for Aws {
    async fn standings(&self) -> Answer<Vec<Standing>> {
        let settings = self.settings.kept().await?;
        let overview = self.counters().await?.overview();
        let unrecorded = if overview.totals.waiting > 0 {
            let since = self.walked().await?;
            self.first_unrecorded(STANDINGS, since, MOST_RECENT).await?
        } else {
            BTreeMap::new()
        };
        stream::iter(overview.destinations)
            .map(|(destination, totals)| {
                let unrecorded = unrecorded.get(&destination).copied();
                let standing = Standing {
                    waiting: totals.waiting,
                    held: totals.held,
                    is_on_hold: settings.settings.held.contains(&destination),
                    ..Standing::well(destination)
                };
                self.look_closer(standing, unrecorded)
            })
            .buffered(AT_ONCE)
            .try_collect()
            .await
    }

    async fn alerts(&self) -> Answer<BTreeMap<DestinationName, Record>> {
        let items = self.stretch(ALERTS, keys::SETTINGS_PARTITION, KEPT).await?;
        let mut alerts = BTreeMap::new();
        for item in items {
            let reading = Reading::of("alert", &item).map_err(unreadable(ALERTS))?;
            let sort = reading.text(names::SORT).map_err(unreadable(ALERTS))?;
            let Some(name) = sort.strip_prefix(SORT) else {
                continue;
            };
            let name =
                DestinationName::parse(name).map_err(|cause| BackendError::new(ALERTS, cause))?;
            let record = reading.parsed(names::JSON, Record::of_text);
            alerts.insert(name, record.map_err(unreadable(ALERTS))?);
        }
        Ok(alerts)
    }

    async fn keep_alert(&self, destination: &DestinationName, record: &Record) -> Answer<()> {
        const DOING: &str = "keeping an alert";
        let sort = format!("{SORT}{destination}");
        if *record == Record::default() {
            let gone = self.dynamodb.delete_item().table_name(&self.place.table);
            let gone = gone.set_key(Some(place(keys::SETTINGS_PARTITION, sort)));
            gone.send().await.map_err(|error| failed(DOING, error))?;
            return Ok(());
        }
        let text = record
            .to_text()
            .ok_or_else(|| BackendError::new(DOING, "it has no text"))?;
        let item = Writing::at(keys::SETTINGS_PARTITION, sort).text(names::JSON, text);
        let put = self.dynamodb.put_item().table_name(&self.place.table);
        let put = put.set_item(Some(item.done()));
        put.send().await.map_err(|error| failed(DOING, error))?;
        Ok(())
    }
}

impl Aws {
    /// Adds what the totals do not tell. `unrecorded` is when the first of its deliveries without a record is due.
    async fn look_closer(
        &self,
        mut standing: Standing,
        unrecorded: Option<Timestamp>,
    ) -> Answer<Standing> {
        let to = &standing.destination;
        let dead = (0..keys::SHARDS).map(|shard| self.count_dead(to, shard));
        let dead = try_join_all(dead).await?.into_iter();
        standing.dead_letters = dead.fold(0, u32::saturating_add).min(Standing::COUNTED);
        if standing.waiting == 0 {
            return Ok(standing);
        }
        let waiting = (0..keys::SHARDS).map(|shard| self.first_waiting(to, shard));
        let redriven = (0..keys::SHARDS).map(|shard| self.has_redriven(to, shard));
        let (waiting, redriven) = tokio::try_join!(try_join_all(waiting), try_join_all(redriven))?;
        standing.has_redriven = redriven.contains(&true);
        standing.waiting_since = waiting.into_iter().flatten().chain(unrecorded).min();
        Ok(standing)
    }

    async fn count_dead(&self, to: &DestinationName, shard: u8) -> Answer<u32> {
        let most = i32::try_from(Standing::COUNTED).unwrap_or(i32::MAX);
        let partition = keys::open(State::Dead, to, shard).unwrap_or_default();
        let page = self
            .open(partition)
            .select(Select::Count)
            .limit(most)
            .send()
            .await
            .map_err(|error| failed(STANDINGS, error))?;
        Ok(u32::try_from(page.count).unwrap_or_default())
    }

    /// Since when the first one waits that has a record.
    async fn first_waiting(&self, to: &DestinationName, shard: u8) -> Answer<Option<Timestamp>> {
        let partition = keys::open(State::Waiting, to, shard).unwrap_or_default();
        let page = self.open(partition).limit(1).send().await;
        let page = page.map_err(|error| failed(STANDINGS, error))?;
        let first = page.items.unwrap_or_default().into_iter().next();
        let first = first.map(|item| Delivery::read_row(&item).map_err(unreadable(STANDINGS)));
        Ok(first.transpose()?.map(|delivery| delivery.moment()))
    }

    /// Whether one that was redriven or replayed, and attempted since, is among the first that wait.
    async fn has_redriven(&self, to: &DestinationName, shard: u8) -> Answer<bool> {
        let partition = keys::open(State::Waiting, to, shard).unwrap_or_default();
        let page = self
            .open(partition)
            .limit(MOST_WAITING)
            .filter_expression("(#base > :none OR #run > :none) AND #attempts > :none")
            .expression_attribute_names("#base", names::BASE)
            .expression_attribute_names("#run", names::RUN)
            .expression_attribute_names("#attempts", names::ATTEMPTS)
            .expression_attribute_values(":none", AttributeValue::N("0".to_owned()))
            .select(Select::Count)
            .send()
            .await
            .map_err(|error| failed(STANDINGS, error))?;
        Ok(page.count > 0)
    }

    fn open(&self, partition: String) -> OpenQuery {
        self.dynamodb
            .query()
            .table_name(&self.place.table)
            .index_name(schema::OPEN.name)
            .key_condition_expression("#p = :p")
            .expression_attribute_names("#p", names::OPEN[0])
            .expression_attribute_values(":p", AttributeValue::S(partition))
    }
}

type OpenQuery = aws_sdk_dynamodb::operation::query::builders::QueryFluentBuilder;
