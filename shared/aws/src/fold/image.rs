//! An image of an item, as far as it counts.

use switchboard_core::delivery::{AttemptRecord, State};
use switchboard_core::names::{DestinationName, SourceName};
use switchboard_core::ports::{Queued, SameBody};
use switchboard_core::time::Timestamp;

use super::counters::Counters;
use crate::item::delivery::Delivery;
use crate::item::event::Head;
use crate::item::repeat::Counted;
use crate::item::{Attributes, Reading, Unreadable, names, run};
use crate::journal::{COUNTS, PARTITIONS};
use crate::keys;
use crate::token::Token;

/// What an item is to the totals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Image {
    /// An event as it was accepted.
    Event {
        life: Token,
        source: SourceName,
        at: Timestamp,
        /// To where its plan goes, once for each delivery.
        plan: Vec<DestinationName>,
    },
    /// A further run of an event.
    Run {
        life: Token,
        plan: Vec<DestinationName>,
    },
    /// The record of a delivery.
    Delivery {
        life: Token,
        destination: DestinationName,
        state: State,
        log: Vec<AttemptRecord>,
    },
    /// An event that was stored already.
    Repeat { source: SourceName, body: SameBody },
    /// What a journal item counts.
    Journal(Counters),
    /// Anything that counts for nothing: parts of bodies, settings, cursors, the totals themselves.
    Nothing,
}

impl Image {
    /// What an item is, by where it lies.
    pub(crate) fn read(item: &Attributes) -> Result<Self, Unreadable> {
        let key = |name| item.get(name).and_then(|value| value.as_s().ok());
        let (Some(partition), Some(sort)) = (key(names::PARTITION), key(names::SORT)) else {
            return Ok(Self::Nothing);
        };
        if keys::event_of(partition).is_some() {
            of_event(sort, item)
        } else if partition.starts_with(PARTITIONS) {
            let reading = Reading::of("journal entry", item)?;
            let counts = reading.parsed(COUNTS, Counters::from_text);
            counts.map(Self::Journal)
        } else {
            Ok(Self::Nothing)
        }
    }
}

/// What belongs to an event.
fn of_event(sort: &str, item: &Attributes) -> Result<Image, Unreadable> {
    if sort == keys::EVENT {
        let head = Head::read(item)?;
        return Ok(Image::Event {
            life: head.life,
            source: head.source,
            at: head.received_at,
            plan: destinations(head.plan),
        });
    }
    if keys::delivery_of(sort).is_some() {
        let delivery = Delivery::read(item)?;
        return Ok(Image::Delivery {
            life: delivery.life,
            destination: delivery.key.destination,
            state: delivery.stood.state,
            log: delivery.stood.log,
        });
    }
    if keys::run_of(sort).is_some() {
        // When its deliveries are due is nothing to the totals.
        let run = run::Stored::read(item, Timestamp::default())?;
        return Ok(Image::Run {
            life: run.life,
            plan: destinations(run.plan),
        });
    }
    if sort.starts_with(keys::REPEATS) {
        let repeat = Counted::read(item)?;
        return Ok(Image::Repeat {
            source: repeat.source,
            body: repeat.same_body,
        });
    }
    Ok(Image::Nothing)
}

fn destinations(plan: Vec<Queued>) -> Vec<DestinationName> {
    plan.into_iter()
        .map(|queued| queued.key.destination)
        .collect()
}
