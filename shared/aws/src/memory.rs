//! What was seen of a delivery when its attempt began: spares the record of it the reading. It may be out of date, and often
//! is not there: every write is conditional on what was seen.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use switchboard_core::identity::DeliveryId;
use switchboard_core::time::Timestamp;

use crate::item::delivery::Delivery;
use crate::token::Token;

/// Most deliveries that are remembered: some batches of a worker.
const MOST: usize = 1024;

/// How a delivery was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    /// The life of its event.
    pub(crate) life: Token,
    /// When it was planned to be due.
    pub(crate) planned: Timestamp,
    /// End of the event's life; `None` when that was not read.
    pub(crate) until: Option<Timestamp>,
    /// Its record; `None` when there was none of that life.
    pub(crate) record: Option<Delivery>,
}

/// The deliveries whose attempts began last.
#[derive(Debug, Default)]
pub(crate) struct Memory(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    seen: HashMap<DeliveryId, Seen>,
    order: VecDeque<DeliveryId>,
}

impl Memory {
    /// Remembers how a delivery was seen; the oldest gives way.
    pub(crate) fn keep(&self, id: &DeliveryId, seen: Seen) {
        let mut kept = self.lock();
        if kept.seen.insert(id.clone(), seen).is_none() {
            kept.order.push_back(id.clone());
        }
        while kept.order.len() > MOST {
            if let Some(oldest) = kept.order.pop_front() {
                kept.seen.remove(&oldest);
            }
        }
    }

    /// How a delivery was seen last, if that is remembered.
    pub(crate) fn seen(&self, id: &DeliveryId) -> Option<Seen> {
        self.lock().seen.get(id).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use switchboard_core::identity::{EventId, Run};
    use switchboard_core::names::{ActionName, DestinationName, SenderId, SourceName};

    use super::*;

    #[test]
    fn the_oldest_gives_way_and_the_same_counts_once() {
        let memory = Memory::default();
        let source = SourceName::parse("shop").expect("a name");
        let event = EventId::of(&source, &SenderId::new("1").expect("an id"));
        let to = DestinationName::parse("chat").expect("a name");
        let id = |n| DeliveryId::of(&event, &to, &ActionName::deliver(), Run(n));
        let seen = Seen {
            life: Token::stored("life"),
            planned: Timestamp::default(),
            until: None,
            record: None,
        };
        for n in 0..1025 {
            memory.keep(&id(n), seen.clone());
            memory.keep(&id(n), seen.clone());
        }
        assert_eq!(memory.seen(&id(0)), None);
        assert_eq!(memory.seen(&id(1)), Some(seen.clone()));
        assert_eq!(memory.seen(&id(1024)), Some(seen));
    }
}
