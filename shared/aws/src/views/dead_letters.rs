//! The list of dead letters, and what the newest of them died of.

use futures_util::{StreamExt, TryStreamExt, stream};
use switchboard_core::delivery::State;
use switchboard_core::identity::DeliveryId;
use switchboard_core::names::DestinationName;
use switchboard_core::ports::Answer;
use switchboard_core::views::{
    DeadLetter, DeadLetterGroups, DeadLetterSearch, LOOKED_AT, Looked, Page, PageAsk,
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
        let found: Vec<(Vec<DeadLetter>, Looked)> = stream::iter(known.destinations.clone())
            .map(|destination| async move { self.newest_of(&destination).await })
            .buffered(AT_ONCE)
            .try_collect()
            .await?;
        let mut all = Looked::default();
        let mut letters = Vec::new();
        for (of_one, looked) in found {
            letters.extend(of_one);
            all.at = all.at.saturating_add(looked.at);
            all.back_to = all.back_to.max(looked.back_to);
        }
        let letters = letters
            .into_iter()
            .map(|letter| (letter.destination, letter.reason, letter.at));
        Ok(DeadLetterGroups::of(letters, all))
    }

    /// The newest dead letters of a destination, and how far back they go.
    async fn newest_of(&self, destination: &DestinationName) -> Answer<(Vec<DeadLetter>, Looked)> {
        let most = usize::try_from(LOOKED_AT).unwrap_or(usize::MAX);
        let wanted = most.saturating_add(1);
        let mut lanes = Lanes::new(self, list([destination], None, wanted));
        let rows = lanes.take(wanted).await?;
        let is_more = rows.len() > most;
        let letters = rows.iter().take(most).map(letter);
        let letters: Vec<_> = letters
            .collect::<Result<_, _>>()
            .map_err(unreadable(DOING))?;
        let last = letters.last().map(|last| last.at);
        let looked = Looked {
            at: u32::try_from(letters.len()).unwrap_or(u32::MAX),
            back_to: last.filter(|_| is_more),
        };
        Ok((letters, looked))
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
