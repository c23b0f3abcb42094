//! The list of dead letters, and what the newest of them died of.

use std::collections::BTreeMap;

use futures_util::{StreamExt, TryStreamExt, stream};
use switchboard_core::delivery::State;
use switchboard_core::identity::DeliveryId;
use switchboard_core::names::DestinationName;
use switchboard_core::ports::Answer;
use switchboard_core::views::{
    DeadLetter, DeadLetterGroup, DeadLetterGroups, DeadLetterSearch, LOOKED_AT, Looked, Page,
    PageAsk,
};

use super::lanes::{From, Lanes, List, Row};
use super::{After, limit, nothing};
use crate::item::delivery::Delivery;
use crate::item::{Reading, Unreadable, names};
use crate::read::unreadable;
use crate::{Aws, keys, schema};

const DOING: &str = "reading dead letters";
/// Destinations that are looked through at once.
const AT_ONCE: usize = 4;

/// The dead letters of these, newest first, below a sort key where there is one.
fn list<'a>(
    of: impl IntoIterator<Item = &'a DestinationName>,
    below: Option<String>,
    wanted: usize,
) -> List {
    let shards = |to| (0..keys::SHARDS).filter_map(move |n| keys::open(State::Dead, to, n));
    List {
        doing: DOING,
        index: Some(schema::OPEN),
        partitions: of.into_iter().flat_map(shards).collect(),
        from: From::Newest { below, from: None },
        wanted,
    }
}

impl Aws {
    /// Dead letters, newest first. The index has all of a row.
    pub(super) async fn list_dead_letters(
        &self,
        search: &DeadLetterSearch,
        ask: &PageAsk,
    ) -> Answer<Page<DeadLetter>> {
        let below = match After::of(ask, |id| DeliveryId::parse(id).is_some()) {
            After::Newest => None,
            After::Below(sort) => Some(sort.to_owned()),
            After::Unreadable => return Ok(nothing()),
        };
        let limit = limit(ask);
        let wanted = limit.saturating_add(1);
        let list = match &search.destination {
            Some(destination) => list([destination], below, wanted),
            None => list(&self.settings.kept().await?.destinations, below, wanted),
        };
        let rows = Lanes::new(self, list).take(wanted).await?;
        let letters = rows.into_iter().map(|row| {
            let letter = letter(&row).map_err(unreadable(DOING))?;
            Ok((row.sort, letter))
        });
        Ok(Page::first_of(letters.collect::<Answer<_>>()?, limit))
    }

    /// What the newest dead letters of each destination died of, at most [`LOOKED_AT`] of each.
    pub(super) async fn group_dead_letters(&self) -> Answer<DeadLetterGroups> {
        let known = self.settings.kept().await?;
        let found: Vec<(Vec<DeadLetterGroup>, Looked)> = stream::iter(known.destinations.clone())
            .map(|destination| async move { self.groups_of(&destination).await })
            .buffered(AT_ONCE)
            .try_collect()
            .await?;
        let mut groups = DeadLetterGroups::default();
        for (items, looked) in found {
            groups.items.extend(items);
            groups.looked.at = groups.looked.at.saturating_add(looked.at);
            groups.looked.back_to = groups.looked.back_to.max(looked.back_to);
        }
        groups
            .items
            .sort_by_key(|group| std::cmp::Reverse((group.count, group.newest)));
        Ok(groups)
    }

    async fn groups_of(
        &self,
        destination: &DestinationName,
    ) -> Answer<(Vec<DeadLetterGroup>, Looked)> {
        let most = usize::try_from(LOOKED_AT).unwrap_or(usize::MAX);
        let mut lanes = Lanes::new(self, list([destination], None, most.saturating_add(1)));
        let mut by_reason: BTreeMap<String, DeadLetterGroup> = BTreeMap::new();
        let mut looked = Looked::default();
        let mut oldest = None;
        while let Some(row) = lanes.next().await? {
            if looked.at >= LOOKED_AT {
                looked.back_to = oldest;
                break;
            }
            let letter = letter(&row).map_err(unreadable(DOING))?;
            looked.at = looked.at.saturating_add(1);
            oldest = Some(letter.at);
            let group =
                by_reason
                    .entry(letter.reason)
                    .or_insert_with_key(|reason| DeadLetterGroup {
                        destination: destination.clone(),
                        reason: reason.clone(),
                        count: 0,
                        oldest: letter.at,
                        newest: letter.at,
                    });
            group.count = group.count.saturating_add(1);
            group.oldest = group.oldest.min(letter.at);
            group.newest = group.newest.max(letter.at);
        }
        Ok((by_reason.into_values().collect(), looked))
    }
}

fn letter(row: &Row) -> Result<DeadLetter, Unreadable> {
    let delivery = Delivery::read_row(&row.item)?;
    let reading = Reading::of("delivery", &row.item)?;
    Ok(DeadLetter {
        delivery: delivery.key.id,
        event: delivery.key.event,
        source: delivery.about.source,
        kind: delivery.about.kind,
        destination: delivery.key.destination,
        action: delivery.key.action,
        attempts: delivery.stood.attempts,
        reason: reading.text(names::REASON_LINE)?.to_owned(),
        at: delivery.changed_at,
        kept_until: delivery.about.until,
    })
}
