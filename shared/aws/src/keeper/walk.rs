//! Events without records: each event once in each walk, some distance behind the present. A planned delivery that has no
//! record by then has lost its hint, or its hint waits in a long queue: a copy is queued, and a record is put, by which it
//! is found from now on.

use std::collections::BTreeSet;

use aws_sdk_dynamodb::types::AttributeValue;
use futures_util::{StreamExt, stream};
use switchboard_core::ports::{Answer, Queued};
use switchboard_core::time::Timestamp;
use tracing::error;

use super::cursor::{Places, Walk};
use super::{FAILURES, Keeper, Walked};
use crate::accept::{AT_ONCE, planned};
use crate::change::{Known, Seen, look};
use crate::failure::failed;
use crate::item::event::Head;
use crate::item::{Attributes, Reading, Unreadable, names, run};
use crate::message::{Message, Origin};
use crate::queue::is_near;
use crate::read::{projection, unreadable};
use crate::{keys, schema};

const DOING: &str = "finding events without records";
/// Most events of one query.
const PAGE: u32 = 100;
/// So many events behind the last time the cursor moves on: a run may be ended by its time limit.
const SAVED_EVERY: u32 = 1_000;
/// What is asked for of a record or a run.
const BRIEF: [&str; 6] = [
    names::PARTITION,
    names::SORT,
    names::VERSION,
    names::LIFE,
    names::TOKEN,
    names::PLAN,
];

/// A part of the index on its way.
struct Way {
    partition: String,
    /// The last event that was seen; nothing at first.
    seen: String,
    rest: Rest,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Rest {
    More,
    Done,
}

fn reached(ways: &[Way]) -> Places {
    let reached = ways.iter();
    reached
        .map(|way| (way.partition.clone(), way.seen.clone()))
        .collect()
}

/// The next events of a part.
struct Page {
    rows: Vec<Attributes>,
    rest: Rest,
}

impl Keeper {
    /// Walks on, the part that is furthest behind first. The cursor moves behind what was seen to: cut before it, the same
    /// events are walked again, which queues nothing for those that have records by now.
    pub(super) async fn walk(
        &self,
        walk: Walk,
        now: Timestamp,
        budget: u32,
        walked: &mut Walked,
    ) -> Answer<()> {
        let distance = match walk {
            Walk::Near => self.intervals.near,
            Walk::Far => self.intervals.far,
        };
        let end = keys::behind(before(now, distance));
        let places = self.cursor(walk).await?.places;
        let mut ways = self.ways(&places, &end).await?;
        let mut left = budget;
        let mut saved_at = 0;
        let mut failures: u32 = 0;
        let mut failure = None;
        while left > 0 && failures < FAILURES {
            let open = ways.iter_mut().filter(|way| way.rest == Rest::More);
            let Some(way) = open.min_by(|one, other| one.seen.cmp(&other.seen)) else {
                break;
            };
            let most = left.min(PAGE);
            if let Err(error) = self.go_on(way, &end, most, now, walked).await {
                way.rest = Rest::Done;
                failures = failures.saturating_add(1);
                failure = Some(error);
            }
            left = budget.saturating_sub(walked.events);
            if walked.events.saturating_sub(saved_at) >= SAVED_EVERY {
                saved_at = walked.events;
                self.move_cursor(walk, &reached(&ways)).await?;
            }
        }
        self.move_cursor(walk, &reached(&ways)).await?;
        failure.map_or(Ok(()), Err)
    }

    /// All parts of the index.
    async fn ways(&self, places: &Places, end: &str) -> Answer<Vec<Way>> {
        let kept = self.aws.settings.now().await?;
        let parts = kept
            .sources
            .iter()
            .flat_map(|source| (0..keys::SHARDS).map(|shard| keys::recent(source, shard)));
        let ways = parts.map(|partition| {
            let seen = places.get(&partition).cloned().unwrap_or_default();
            let rest = if seen.as_str() < end {
                Rest::More
            } else {
                Rest::Done
            };
            Way {
                partition,
                seen,
                rest,
            }
        });
        Ok(ways.collect())
    }

    /// Sees to the next events of a part, and moves it as far as all of them are seen to.
    async fn go_on(
        &self,
        way: &mut Way,
        end: &str,
        most: u32,
        now: Timestamp,
        walked: &mut Walked,
    ) -> Answer<()> {
        let page = self.page(way, end, most).await?;
        let seen_to: Vec<(String, Answer<Seeing>)> = stream::iter(page.rows)
            .map(|row| async move {
                let place = row
                    .get(names::RECENT[1])
                    .and_then(|value| value.as_s().ok());
                let place = place.cloned().unwrap_or_default();
                (place, self.see_to(&row, now).await)
            })
            .buffered(AT_ONCE)
            .collect()
            .await;
        for (place, seeing) in seen_to {
            walked.events = walked.events.saturating_add(1);
            match seeing? {
                Seeing::To(queued) => walked.queued = walked.queued.saturating_add(queued),
                Seeing::Unreadable => walked.unreadable = walked.unreadable.saturating_add(1),
            }
            way.seen = place;
        }
        if page.rest == Rest::Done {
            end.clone_into(&mut way.seen);
            way.rest = Rest::Done;
        }
        Ok(())
    }

    async fn page(&self, way: &Way, end: &str, most: u32) -> Answer<Page> {
        let text = |text: &str| AttributeValue::S(text.to_owned());
        let read = self
            .aws
            .dynamodb
            .query()
            .table_name(&self.aws.place.table)
            .index_name(schema::RECENT.name)
            .key_condition_expression("g1 = :p AND g1s BETWEEN :first AND :end")
            .expression_attribute_values(":p", text(&way.partition))
            .expression_attribute_values(":first", text(&first_behind(&way.seen)))
            .expression_attribute_values(":end", text(end))
            .limit(i32::try_from(most).unwrap_or(i32::MAX))
            .send()
            .await
            .map_err(|error| failed(DOING, error))?;
        let rows = read.items.unwrap_or_default();
        let rest = if read.last_evaluated_key.is_none() || rows.is_empty() {
            Rest::Done
        } else {
            Rest::More
        };
        Ok(Page { rows, rest })
    }

    /// Queues an event's deliveries that have no record, then puts their records, where there still is none. Cut in
    /// between, the next run queues another copy: whoever begins it reads how the delivery stands.
    async fn see_to(&self, row: &Attributes, now: Timestamp) -> Answer<Seeing> {
        let head = match Head::read(row) {
            Ok(head) => head,
            Err(why) => {
                let event = row
                    .get(names::PARTITION)
                    .and_then(|value| value.as_s().ok());
                error!(
                    event.key = event,
                    error = why.to_string(),
                    "an event cannot be read: nobody looks whether its deliveries are queued"
                );
                return Ok(Seeing::Unreadable);
            }
        };
        let missing = self.without_record(&head).await?;
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
            let mut record = planned(&head, queued, self.aws.tokens.fresh(), now);
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
        Ok(Seeing::To(u32::try_from(missing.len()).unwrap_or(u32::MAX)))
    }

    /// The planned deliveries of all runs that have no record. Not a consistent read: a record that it does not see yet
    /// costs a copy of a hint, and is not written over.
    async fn without_record(&self, head: &Head) -> Answer<Vec<Queued>> {
        let (attributes, short) = projection(&BRIEF);
        let mut items: Vec<Attributes> = Vec::new();
        let mut from = None;
        loop {
            let page = self
                .aws
                .dynamodb
                .query()
                .table_name(&self.aws.place.table)
                .key_condition_expression("pk = :pk AND sk BETWEEN :first AND :last")
                .expression_attribute_values(":pk", AttributeValue::S(keys::event(&head.id)))
                .expression_attribute_values(
                    ":first",
                    AttributeValue::S(keys::BEHIND_BODY.to_owned()),
                )
                // Repeats lie behind deliveries and runs, and whoever repeats decides how many there are.
                .expression_attribute_values(":last", AttributeValue::S(keys::REPEATS.to_owned()))
                .projection_expression(attributes.clone())
                .set_expression_attribute_names(Some(short.iter().cloned().collect()))
                .set_exclusive_start_key(from)
                .send()
                .await
                .map_err(|error| failed(DOING, error))?;
            items.extend(page.items.unwrap_or_default());
            from = page.last_evaluated_key;
            if from.is_none() {
                return missing(head, &items).map_err(unreadable(DOING));
            }
        }
    }
}

/// What became of an event.
enum Seeing {
    /// So many of its deliveries were queued.
    To(u32),
    /// It is passed over.
    Unreadable,
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

/// The first key behind one that was seen.
fn first_behind(seen: &str) -> String {
    // No key goes on behind another one.
    if seen.is_empty() {
        "0".to_owned()
    } else {
        format!("{seen}!")
    }
}

/// A moment so long before another.
fn before(now: Timestamp, distance: std::time::Duration) -> Timestamp {
    let distance = i64::try_from(distance.as_millis()).unwrap_or(i64::MAX);
    Timestamp::from_millis(now.millis().saturating_sub(distance))
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

    #[test]
    fn the_first_key_behind_one_is_behind_it_and_before_all_others() {
        let key = "1764446400250#evt_aaaa";
        let first = first_behind(key);
        assert!(key < first.as_str() && first.as_str() < "1764446400250#evt_aaab");
        assert!(first_behind("").as_str() <= keys::moment(Timestamp::from_millis(0)).as_str());
    }
}
