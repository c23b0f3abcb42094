//! Deliveries without a record, of one event that is no longer young. Each has lost its hint, or its hint waits in a long
//! queue: a copy is queued, and a record is put, by which the delivery is found from now on. And records that were written
//! without knowing that their event lives longer: they are made to stay as long (see [`crate::prolong`]).

use std::collections::BTreeSet;

use switchboard_core::ports::{Answer, Queued};
use switchboard_core::time::Timestamp;
use tracing::error;

use super::Keeper;
use crate::accept::planned;
use crate::change::{Known, Seen, look};
use crate::item::event::Head;
use crate::item::{Attributes, Reading, Unreadable, names, run};
use crate::message::{Message, Origin};
use crate::queue::is_near;
use crate::read::{Consistency, Stretch};
use crate::{keys, life};

const DOING: &str = "finding events without records";
/// What is asked for of a record or a run.
const BRIEF: [&str; 9] = [
    names::PARTITION,
    names::SORT,
    names::VERSION,
    names::LIFE,
    names::TOKEN,
    names::PLAN,
    names::UNTIL,
    names::DUE,
    names::TTL,
];

impl Keeper {
    /// Queues an event's deliveries that have no record, then puts their records, where there still is none; then makes what
    /// would go before the event stay longer. Cut in between, the next run queues another copy: whoever begins it reads how
    /// the delivery stands.
    pub(super) async fn see_to(&self, row: &Attributes, now: Timestamp) -> Answer<Seeing> {
        let head = match Head::read(row) {
            Ok(head) => head,
            Err(why) => return Ok(pass_over(row, &why)),
        };
        let items = self.belongings(&head).await?;
        let (missing, end) = match missing(&head, &items).and_then(|m| Ok((m, end(&head, &items)?)))
        {
            Ok(read) => read,
            Err(why) => return Ok(pass_over(row, &why)),
        };
        let hints: Vec<Message> = missing
            .iter()
            .map(|queued| Message {
                key: queued.key.clone(),
                due: queued.due,
                life: head.life.clone(),
                origin: Origin::Later,
                event: None,
            })
            .collect();
        self.aws.send(&hints).await?;
        for queued in &missing {
            let (token, longest) = (
                self.aws.tokens.fresh(),
                life::with_dead_letter(&head, self.keep),
            );
            let mut record = planned(&head, queued, token, now, longest);
            record.watch.look = Some(if is_near(queued.due, now) {
                now.plus(self.intervals.first_look)
            } else {
                look(queued.due, now)
            });
            self.aws.keep_event(&record, self.keep).await?;
            self.aws
                .change(DOING, &record, &Seen::Absent, Known::Whole)
                .await?;
        }
        self.aws
            .keep_items(&head.id, &head.life, &items, end)
            .await?;
        Ok(Seeing::To(u32::try_from(missing.len()).unwrap_or(u32::MAX)))
    }

    /// An event's records and further runs. Not a consistent read: a record that it does not see yet costs a copy of a hint,
    /// and is not written over.
    async fn belongings(&self, head: &Head) -> Answer<Vec<Attributes>> {
        let brief = Stretch {
            only: Some(&BRIEF),
            consistency: Consistency::Lagging,
            ..Stretch::BEFORE_REPEATS
        };
        let partition = keys::event(&head.id);
        self.aws.stretch(DOING, &partition, brief).await
    }
}

/// What became of an event.
pub(super) enum Seeing {
    /// So many of its deliveries were queued.
    To(u32),
    /// It is passed over.
    Unreadable,
}

/// What came to an event of which something cannot be read, as a newer version may have written it. It is passed over: a walk
/// that stopped there would not come to any event behind it for as long as this one lives.
fn pass_over(row: &Attributes, why: &Unreadable) -> Seeing {
    let event = row
        .get(names::PARTITION)
        .and_then(|value| value.as_s().ok());
    error!(
        event.key = event,
        error = why.to_string(),
        "an event cannot be read: nobody looks whether its deliveries are queued"
    );
    Seeing::Unreadable
}

/// Until when all that belongs to an event has to stay, in seconds since 1970: behind the longest life that any of it tells
/// of, and behind what is due last.
fn end(head: &Head, items: &[Attributes]) -> Result<i64, Unreadable> {
    let mut until = head.until;
    let mut due = head.received_at;
    for item in items {
        let reading = Reading::of("item of an event", item)?;
        // Looked at by whoever makes it stay.
        let _: i64 = reading.number(names::TTL)?;
        if reading.token(names::LIFE)? == head.life {
            until = Some(until)
                .max(reading.moment_if_any(names::UNTIL)?)
                .unwrap_or(until);
            due = Some(due)
                .max(reading.moment_if_any(names::DUE)?)
                .unwrap_or(due);
        }
    }
    Ok(life::of_belongings(life::with_delivery(until, due)))
}

/// What of a plan has no record among these items of its event.
fn missing(head: &Head, items: &[Attributes]) -> Result<Vec<Queued>, Unreadable> {
    let mut recorded = BTreeSet::new();
    let mut plan = head.plan.clone();
    for item in items {
        let reading = Reading::of("item of an event", item)?;
        if reading.token(names::LIFE)? != head.life {
            continue;
        }
        let sort = reading.text(names::SORT)?;
        if sort.starts_with(keys::RUNS) {
            plan.extend(run::Stored::read(item, head.received_at)?.plan);
        } else if let Some(id) = keys::delivery_of(sort) {
            recorded.insert(id);
        }
    }
    plan.retain(|queued| !recorded.contains(&queued.key.id));
    Ok(plan)
}

#[cfg(test)]
mod tests {
    use switchboard_core::delivery::{DeliveryKey, State};
    use switchboard_core::identity::Run;

    use super::*;
    use crate::item::delivery::tests::sample as delivery;
    use crate::item::event::tests::sample as event;
    use crate::token::Token;

    #[test]
    fn runs_are_planned_too_and_records_of_an_earlier_life_are_none() {
        let head = event(None).head;
        let planned = head.plan.first().expect("planned").clone();
        let (to, action) = (planned.key.destination.clone(), planned.key.action.clone());
        let replayed = Queued {
            key: DeliveryKey::of(&head.id, to, action, Run(1)),
            due: head.received_at,
        };
        let stored = run::Stored {
            event: head.id.clone(),
            run: Run(1),
            life: head.life.clone(),
            token: Token::stored("a-call"),
            plan: vec![replayed.clone()],
        };
        let run = stored.write(head.received_at, head.until);
        let mut record = delivery(State::Delivered);
        let found = missing(&head, &[record.write(), run.clone()]).expect("read");
        assert!(found.contains(&replayed) && !found.contains(&planned));
        record.life = Token::stored("before");
        let found = missing(&head, &[record.write(), run]).expect("read");
        assert!(found.contains(&replayed) && found.contains(&planned));
    }
}
