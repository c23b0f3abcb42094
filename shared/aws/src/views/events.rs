//! The list of events, and what narrows it. Source, sender's id and time are found by indexes; for the rest each event is
//! looked at, so many for a page. What no list tells of an event, its deliveries, costs a read of its own.

use futures_util::{StreamExt, TryStreamExt, stream};
use switchboard_core::delivery::State;
use switchboard_core::identity::EventId;
use switchboard_core::names::DestinationName;
use switchboard_core::ports::Answer;
use switchboard_core::time::Timestamp;
use switchboard_core::views::{
    Cursor, EventRow, EventSearch, LOOKED_AT, Looked, Page, PageAsk, Searched,
};

use super::heads::{Candidate, Heads, Known, Span};
use super::{After, limit};
use crate::Aws;
use crate::accept::AT_ONCE;
use crate::family::Family;
use crate::item::event::Head;

/// Most events of a page whose deliveries are read to find out whether they are meant: fewer than are looked at where the
/// list itself tells it.
const READS: usize = 250;

/// An event that a search means, with its deliveries where these were read for it.
struct Meant {
    head: Head,
    family: Option<Family>,
}

/// What was found for a page, and how far it looked.
#[derive(Default)]
struct Found {
    meant: Vec<Meant>,
    looked: u32,
    reads: usize,
    /// Place of the last that was looked at, and when that was received.
    last: Option<(String, Option<Timestamp>)>,
    is_more: bool,
}

impl Aws {
    /// Events, newest first. Beside the list two reads for each row; one for each event that is looked at where only that
    /// tells whether it is meant, several at once.
    pub(super) async fn list_events(
        &self,
        search: &EventSearch,
        ask: &PageAsk,
    ) -> Answer<Searched<EventRow>> {
        let below = match After::of(ask, |id| EventId::parse(id).is_some()) {
            After::Newest => None,
            After::Below(sort) => Some(sort.to_owned()),
            After::Unreadable => return Ok(Searched::nothing()),
        };
        let Some(span) = Span::of(search, below) else {
            return Ok(Searched::nothing());
        };
        let limit = limit(ask);
        let wanted = most_looked_at(search, limit).saturating_add(1);
        let heads = Heads::of(self, search, span, wanted).await?;
        let mut found = self.look_for(search, heads, limit).await?;
        let items = stream::iter(std::mem::take(&mut found.meant))
            .map(|meant| self.listed(meant))
            .buffered(AT_ONCE)
            .try_collect()
            .await?;
        Ok(found.page(items))
    }

    async fn look_for(
        &self,
        search: &EventSearch,
        mut heads: Heads<'_>,
        limit: usize,
    ) -> Answer<Found> {
        let most = usize::try_from(LOOKED_AT).unwrap_or(usize::MAX);
        let mut found = Found::default();
        loop {
            let looked = usize::try_from(found.looked).unwrap_or(usize::MAX);
            let left = most
                .saturating_sub(looked)
                .min(READS.saturating_sub(found.reads));
            if left == 0 || found.meant.len() >= limit {
                found.is_more = heads.next().await?.is_some();
                return Ok(found);
            }
            let some = heads.take(left.min(AT_ONCE)).await?;
            if some.is_empty() {
                return Ok(found);
            }
            let place = |one: &Candidate| (one.sort.clone(), one.received_at());
            let places: Vec<_> = some.iter().map(place).collect();
            let looks: Vec<(usize, Option<Meant>)> = stream::iter(some)
                .map(|one| self.look_at(search, one))
                .buffered(AT_ONCE)
                .try_collect()
                .await?;
            for (place, (reads, meant)) in places.into_iter().zip(looks) {
                found.reads = found.reads.saturating_add(reads);
                if found.meant.len() >= limit {
                    found.is_more = true;
                    continue;
                }
                found.looked = found.looked.saturating_add(1);
                found.last = Some(place);
                found.meant.extend(meant);
            }
            if found.is_more {
                return Ok(found);
            }
        }
    }

    /// Looks whether a search means an event, and says whether that took a read.
    async fn look_at(
        &self,
        search: &EventSearch,
        one: Candidate,
    ) -> Answer<(usize, Option<Meant>)> {
        let (head, reads) = match one.event {
            Known::Head(head) => (Some(*head), 0),
            Known::Id(id) => (self.head(&id).await?, 1),
        };
        let Some(head) = head.filter(|head| is_meant(search, head)) else {
            return Ok((reads, None));
        };
        if !asks_for_deliveries(search) {
            let family = None;
            return Ok((reads, Some(Meant { head, family })));
        }
        let family = self.family(&head).await?;
        let meant = has(search, &head, &family).then_some(Meant {
            head,
            family: Some(family),
        });
        Ok((1, meant))
    }

    async fn listed(&self, meant: Meant) -> Answer<EventRow> {
        match meant.family {
            Some(family) => self.event_row_with(&meant.head, &family).await,
            None => self.event_row(&meant.head).await,
        }
    }
}

impl Found {
    fn page(self, items: Vec<EventRow>) -> Searched<EventRow> {
        let last = self.last.filter(|_| self.is_more);
        let next = last.as_ref().and_then(|(sort, _)| Cursor::new(sort));
        Searched {
            page: Page { items, next },
            looked: Looked {
                at: self.looked,
                back_to: last.and_then(|(_, at)| at),
            },
        }
    }
}

/// Whether a search asks for what only the deliveries of an event tell. A further run may go to other destinations than the
/// plan that the list has.
fn asks_for_deliveries(search: &EventSearch) -> bool {
    search.state.is_some() || search.destination.is_some()
}

fn most_looked_at(search: &EventSearch, limit: usize) -> usize {
    if asks_for_deliveries(search) {
        READS
    } else if search.kind.is_some() {
        usize::try_from(LOOKED_AT).unwrap_or(usize::MAX)
    } else {
        limit
    }
}

/// Whether all applies that an event tells without its deliveries; its time is in the span already.
fn is_meant(search: &EventSearch, head: &Head) -> bool {
    let id = search.sender_id.as_ref();
    search.source.as_ref().is_none_or(|of| *of == head.source)
        && search.kind.as_ref().is_none_or(|kind| *kind == head.kind)
        && id.is_none_or(|id| id == head.sender_id.as_str())
}

/// Whether one of an event's deliveries is in the state and to the destination that are asked for.
fn has(search: &EventSearch, head: &Head, family: &Family) -> bool {
    let is = |to: &DestinationName, state: State| {
        search
            .destination
            .as_ref()
            .is_none_or(|wanted| wanted == to)
            && search.state.is_none_or(|wanted| wanted == state)
    };
    let recorded =
        |record: &crate::item::delivery::Delivery| is(&record.key.destination, record.stood.state);
    let mut unrecorded = family.unrecorded(head);
    family.records.iter().any(recorded)
        || unrecorded.any(|queued| is(&queued.key.destination, State::Waiting))
}
