//! One event whole, as operators read it: itself without its body, and what belongs to it. What that costs does not grow with
//! how often the event came again: its repeats are counted up to a bound.

use std::collections::BTreeMap;

use aws_sdk_dynamodb::types::AttributeValue;
use futures_util::future::try_join;
use switchboard_core::delivery::State;
use switchboard_core::event::Event;
use switchboard_core::identity::EventId;
use switchboard_core::ports::{Answer, Queued, SameBody};
use switchboard_core::views::{DELIVERIES_SHOWN, DeliveryView, EventRow, EventView, death_line};

use crate::failure::failed;
use crate::family::Family;
use crate::item::Unreadable;
use crate::item::delivery::Delivery;
use crate::item::event::Head;
use crate::item::repeat::Counted;
use crate::read::unreadable;
use crate::{Aws, keys};

/// Most repeats of one event that are counted for operators; one that came more often is shown with so many. The totals are
/// exact.
const MOST_REPEATS: i32 = 1000;

impl Aws {
    /// One event with its deliveries and their attempts. Three reads, and one more for each megabyte that its replays came to.
    pub(crate) async fn event_view(&self, id: &EventId) -> Answer<Option<EventView>> {
        let Some(head) = self.head(id).await? else {
            return Ok(None);
        };
        let (family, repeats) = try_join(self.family(&head), self.repeats_of(&head)).await?;
        Ok(Some(view(&head, &family, &repeats)))
    }

    /// The row of an event in a list: two reads.
    pub(crate) async fn event_row(&self, head: &Head) -> Answer<EventRow> {
        let (family, repeats) = try_join(self.family(head), self.repeats_of(head)).await?;
        Ok(row(head, &family, &repeats))
    }

    /// The same where its deliveries were read already: one read.
    pub(crate) async fn event_row_with(&self, head: &Head, family: &Family) -> Answer<EventRow> {
        let repeats = self.repeats_of(head).await?;
        Ok(row(head, family, &repeats))
    }

    /// An event as it was stored.
    pub(crate) async fn whole_event(&self, id: &EventId) -> Answer<Option<Event>> {
        let Some(stored) = self.stored_event(id).await? else {
            return Ok(None);
        };
        let body = self.body(&stored).await?;
        let head = stored.head;
        Ok(Some(Event {
            id: head.id,
            source: head.source,
            sender_id: head.sender_id,
            kind: head.kind,
            received_at: head.received_at,
            headers: stored.headers,
            body,
        }))
    }

    /// The counted repeats of an event, at most [`MOST_REPEATS`].
    async fn repeats_of(&self, head: &Head) -> Answer<Vec<Counted>> {
        const DOING: &str = "counting the repeats of an event";
        let page = self
            .dynamodb
            .query()
            .table_name(&self.place.table)
            .consistent_read(true)
            .key_condition_expression("pk = :pk AND begins_with(sk, :repeats)")
            .expression_attribute_values(":pk", AttributeValue::S(keys::event(&head.id)))
            .expression_attribute_values(":repeats", AttributeValue::S(keys::REPEATS.to_owned()))
            .limit(MOST_REPEATS)
            .send()
            .await
            .map_err(|error| failed(DOING, error))?;
        let read: Result<Vec<_>, Unreadable> = page.items().iter().map(Counted::read).collect();
        let mut repeats = read.map_err(unreadable(DOING))?;
        repeats.retain(|repeat| repeat.life == head.life);
        Ok(repeats)
    }
}

fn row(head: &Head, family: &Family, repeats: &[Counted]) -> EventRow {
    let mut deliveries: BTreeMap<&'static str, u64> = BTreeMap::new();
    let recorded = family.records.iter().map(|record| record.stood.state);
    let waiting = family.unrecorded(head).map(|_| State::Waiting);
    for state in recorded.chain(waiting) {
        let count = deliveries.entry(state.as_str()).or_default();
        *count = count.saturating_add(1);
    }
    EventRow {
        event: head.id.clone(),
        source: head.source.clone(),
        sender_id: head.sender_id.as_str().to_owned(),
        kind: head.kind.clone(),
        at: head.received_at,
        body_length: head.length,
        repeats: u64::try_from(repeats.len()).unwrap_or(u64::MAX),
        deliveries,
    }
}

fn view(head: &Head, family: &Family, repeats: &[Counted]) -> EventView {
    let recorded = family.records.iter().map(recorded);
    let waiting = family.unrecorded(head).map(planned);
    let mut deliveries: Vec<DeliveryView> = recorded.chain(waiting).collect();
    deliveries.sort_by(|a, b| {
        let key = |view: &DeliveryView| (view.run, view.destination.clone(), view.action.clone());
        key(a).cmp(&key(b))
    });
    let newest = deliveries.last().map(|last| last.run);
    let of_newest = deliveries
        .iter()
        .filter(|view| Some(view.run) == newest)
        .count();
    let shown = of_newest.max(DELIVERIES_SHOWN);
    deliveries.drain(..deliveries.len().saturating_sub(shown));
    let other = repeats
        .iter()
        .filter(|repeat| repeat.same_body == SameBody::No);
    EventView {
        row: row(head, family, repeats),
        repeats_with_other_body: u64::try_from(other.count()).unwrap_or(u64::MAX),
        kept_until: head.until,
        deliveries,
    }
}

fn recorded(record: &Delivery) -> DeliveryView {
    let stood = &record.stood;
    DeliveryView {
        delivery: record.key.id.clone(),
        run: record.key.run,
        destination: record.key.destination.clone(),
        action: record.key.action.clone(),
        state: stood.state,
        due: (stood.state == State::Waiting).then_some(stood.due),
        reason: stood
            .reason
            .map(|reason| death_line(reason, stood.log.last())),
        attempts: stood.attempts,
        log: stood.log.clone(),
    }
}

fn planned(queued: &Queued) -> DeliveryView {
    DeliveryView {
        delivery: queued.key.id.clone(),
        run: queued.key.run,
        destination: queued.key.destination.clone(),
        action: queued.key.action.clone(),
        state: State::Waiting,
        due: Some(queued.due),
        reason: None,
        attempts: 0,
        log: Vec::new(),
    }
}
