//! One event whole, as operators read it: itself without its body, and what belongs to it.

use std::collections::BTreeMap;

use switchboard_core::delivery::State;
use switchboard_core::identity::EventId;
use switchboard_core::ports::{Answer, Queued, SameBody};
use switchboard_core::views::{DeliveryView, EventRow, EventView, death_line};

use crate::Aws;
use crate::family::Family;
use crate::item::delivery::Delivery;
use crate::item::event::Head;

impl Aws {
    /// One event with its deliveries and their attempts. Two reads, whatever there is of it.
    pub(crate) async fn event_view(&self, id: &EventId) -> Answer<Option<EventView>> {
        let Some(head) = self.head(id).await? else {
            return Ok(None);
        };
        let family = self.family(&head).await?;
        Ok(Some(view(&head, &family)))
    }
}

/// The row of an event in a list.
pub(crate) fn row(head: &Head, family: &Family) -> EventRow {
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
        repeats: u64::try_from(family.repeats.len()).unwrap_or(u64::MAX),
        deliveries,
    }
}

fn view(head: &Head, family: &Family) -> EventView {
    let recorded = family.records.iter().map(recorded);
    let waiting = family.unrecorded(head).map(planned);
    let mut deliveries: Vec<DeliveryView> = recorded.chain(waiting).collect();
    deliveries.sort_by(|a, b| {
        let key = |view: &DeliveryView| (view.run, view.destination.clone(), view.action.clone());
        key(a).cmp(&key(b))
    });
    let other = family
        .repeats
        .iter()
        .filter(|repeat| repeat.same_body == SameBody::No);
    EventView {
        row: row(head, family),
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
