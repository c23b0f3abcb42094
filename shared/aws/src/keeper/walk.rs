//! Walks over recent events, some distance behind the present: each event is seen to once in each walk.

use aws_sdk_dynamodb::types::AttributeValue;
use futures_util::{StreamExt, stream};
use switchboard_core::ports::Answer;
use switchboard_core::time::Timestamp;

use super::cursor::{Places, Walk};
use super::records::Seeing;
use super::{FAILURES, Keeper, Walked};
use crate::accept::AT_ONCE;
use crate::failure::failed;
use crate::item::{Attributes, names};
use crate::{keys, schema};

const DOING: &str = "finding events without records";
/// Most events of one query.
const PAGE: u32 = 100;
/// So many events behind the last time the cursor moves on: a walk may be ended by its time limit, and what a turn is long
/// enough for must not be walked again in each. To keep it costs as much as two events do.
const SAVED_EVERY: u32 = 100;

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
    use super::*;

    #[test]
    fn the_first_key_behind_one_is_behind_it_and_before_all_others() {
        let key = "1764446400250#evt_aaaa";
        let first = first_behind(key);
        assert!(key < first.as_str() && first.as_str() < "1764446400250#evt_aaab");
        assert!(first_behind("").as_str() <= keys::moment(Timestamp::from_millis(0)).as_str());
    }
}
