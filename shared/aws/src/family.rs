//! An event's deliveries and further runs: what tells whether anything of it is still to be attempted. What carries another
//! life than the event's own belongs to an event that was stored under the same id before, and counts as absent.

use std::collections::BTreeSet;

use switchboard_core::delivery::State;
use switchboard_core::ports::Queued;

use crate::item::delivery::Delivery;
use crate::item::event::Head;
use crate::item::{Attributes, Reading, Unreadable, names, run};
use crate::keys;

/// All of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Family {
    /// The deliveries that have a record.
    pub(crate) records: Vec<Delivery>,
    pub(crate) runs: Vec<run::Stored>,
}

impl Family {
    /// Sorts items of an event's partition.
    pub(crate) fn read(head: &Head, items: &[Attributes]) -> Result<Self, Unreadable> {
        let mut family = Self::default();
        for item in items {
            let reading = Reading::of("item of an event", item)?;
            let sort = reading.text(names::SORT)?;
            if reading.token(names::LIFE)? != head.life {
                continue;
            }
            if sort.starts_with(keys::DELIVERIES) {
                family.records.push(Delivery::read(item)?);
            } else if sort.starts_with(keys::RUNS) {
                let run = run::Stored::read(item, head.received_at)?;
                family.runs.push(run);
            }
        }
        Ok(family)
    }

    /// The planned deliveries of all runs that have no record: they wait, and nothing was attempted.
    pub(crate) fn unrecorded<'a>(&'a self, head: &'a Head) -> impl Iterator<Item = &'a Queued> {
        let recorded: BTreeSet<_> = self.records.iter().map(|record| &record.key.id).collect();
        let runs = self.runs.iter().flat_map(|run| &run.plan);
        head.plan
            .iter()
            .chain(runs)
            .filter(move |queued| !recorded.contains(&queued.key.id))
    }

    /// Whether an attempt is still to come: a delivery waits or is held.
    pub(crate) fn is_open(&self, head: &Head) -> bool {
        let open = |record: &Delivery| match record.stood.state {
            State::Waiting | State::Held => true,
            State::Delivered | State::Dead => false,
        };
        self.records.iter().any(open) || self.unrecorded(head).next().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::delivery::tests::sample as delivery;
    use crate::item::event::tests::sample as event;
    use crate::token::Token;

    #[test]
    fn a_planned_delivery_without_a_record_waits() {
        let head = event(None).head;
        let family = Family::read(&head, &[]).expect("read");
        let planned: Vec<_> = family.unrecorded(&head).collect();
        assert_eq!(planned, head.plan.iter().collect::<Vec<_>>());
        assert!(family.is_open(&head));
    }

    #[test]
    fn a_record_stands_for_its_plan_by_its_state() {
        let head = event(None).head;
        for state in State::ALL {
            let family = Family::read(&head, &[delivery(state).write()]).expect("read");
            assert_eq!(family.unrecorded(&head).count(), 0);
            let open = matches!(state, State::Waiting | State::Held);
            assert_eq!(family.is_open(&head), open, "{state:?}");
        }
    }

    #[test]
    fn what_is_of_an_earlier_life_counts_as_absent() {
        let head = event(None).head;
        let mut record = delivery(State::Delivered);
        record.life = Token::stored("before");
        let family = Family::read(&head, &[record.write()]).expect("read");
        assert!(family.is_open(&head), "the planned one waits");
        assert_eq!(family, Family::default());
    }
}
