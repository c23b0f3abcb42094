//! The list of events, and what narrows it.

use futures_util::{StreamExt, TryStreamExt, stream};
use switchboard_core::identity::EventId;
use switchboard_core::names::{SenderId, SourceName};
use switchboard_core::ports::Answer;
use switchboard_core::views::{EventRow, EventSearch, Page, PageAsk};

use super::lanes::{From, Lanes, List, Row};
use super::{After, limit, nothing};
use crate::accept::AT_ONCE;
use crate::item::event::Head;
use crate::item::names;
use crate::read::unreadable;
use crate::{Aws, keys, schema};

const DOING: &str = "reading events";

impl Aws {
    /// Events, newest first. Beside the list itself two reads for each row.
    pub(super) async fn list_events(
        &self,
        search: &EventSearch,
        ask: &PageAsk,
    ) -> Answer<Page<EventRow>> {
        let below = match After::of(ask, |id| EventId::parse(id).is_some()) {
            After::Newest => None,
            After::Below(sort) => Some(sort.to_owned()),
            After::Unreadable => return Ok(nothing()),
        };
        let known = self.settings.kept().await?;
        let is_meant = |source: &&SourceName| search.source.as_ref().is_none_or(|s| s == *source);
        let sources: Vec<SourceName> = known.sources.iter().filter(is_meant).cloned().collect();
        let limit = limit(ask);
        let wanted = limit.saturating_add(1);
        let heads = match &search.sender_id {
            None => self.recent_events(&sources, below, wanted).await?,
            Some(id) => self.by_sender_id(id, &sources, below, wanted).await?,
        };
        let rows = stream::iter(heads)
            .map(|head| self.listed(head))
            .buffered(AT_ONCE)
            .try_collect()
            .await?;
        Ok(Page::first_of(rows, limit))
    }

    async fn listed(&self, head: Head) -> Answer<(String, EventRow)> {
        Ok((place(&head), self.event_row(&head).await?))
    }

    async fn recent_events(
        &self,
        sources: &[SourceName],
        below: Option<String>,
        wanted: usize,
    ) -> Answer<Vec<Head>> {
        let partitions = sources
            .iter()
            .flat_map(|source| (0..keys::SHARDS).map(|shard| keys::recent(source, shard)));
        let list = List {
            doing: DOING,
            index: Some(schema::RECENT),
            partitions: partitions.collect(),
            from: From::Newest(below),
            wanted,
        };
        let rows = Lanes::new(self, list).take(wanted).await?;
        let head = |row: &Row| Head::read(&row.item).map_err(unreadable(DOING));
        rows.iter().map(head).collect()
    }

    /// Events with this sender's id: those without a scope have an id that is made of it and the source; those with one are
    /// in an index.
    async fn by_sender_id(
        &self,
        id: &str,
        sources: &[SourceName],
        below: Option<String>,
        wanted: usize,
    ) -> Answer<Vec<Head>> {
        let Some(sender_id) = SenderId::new(id) else {
            return Ok(Vec::new());
        };
        let ids = sources.iter().map(|source| EventId::of(source, &sender_id));
        let unscoped: Vec<Option<Head>> = stream::iter(ids.collect::<Vec<_>>())
            .map(|id| async move { self.head(&id).await })
            .buffered(AT_ONCE)
            .try_collect()
            .await?;
        let is_below = |head: &Head| below.as_ref().is_none_or(|below| place(head) < *below);
        let mut heads: Vec<Head> = unscoped.into_iter().flatten().filter(is_below).collect();
        heads.extend(
            self.scoped_events(id, sources, below.clone(), wanted)
                .await?,
        );
        heads.sort_by_cached_key(|head| std::cmp::Reverse(place(head)));
        heads.truncate(wanted);
        Ok(heads)
    }

    async fn scoped_events(
        &self,
        id: &str,
        sources: &[SourceName],
        below: Option<String>,
        wanted: usize,
    ) -> Answer<Vec<Head>> {
        let list = List {
            doing: DOING,
            index: Some(schema::SCOPED),
            partitions: vec![keys::scoped(id)],
            from: From::Newest(below),
            wanted,
        };
        let mut lanes = Lanes::new(self, list);
        let mut heads = Vec::new();
        while heads.len() < wanted {
            let rows = lanes.take(wanted).await?;
            if rows.is_empty() {
                break;
            }
            let ids = rows.iter().filter_map(|row| {
                let partition = row.item.get(names::PARTITION)?.as_s().ok()?;
                keys::event_of(partition)
            });
            let found: Vec<Option<Head>> = stream::iter(ids.collect::<Vec<_>>())
                .map(|id| async move { self.head(&id).await })
                .buffered(AT_ONCE)
                .try_collect()
                .await?;
            let is_meant =
                |head: &Head| head.sender_id.as_str() == id && sources.contains(&head.source);
            heads.extend(found.into_iter().flatten().filter(is_meant));
        }
        Ok(heads)
    }
}

/// Where an event stands in the list.
fn place(head: &Head) -> String {
    keys::recent_of(&head.source, head.received_at, &head.id).1
}
