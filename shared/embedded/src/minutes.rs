//! The last hour, counted in the same transactions as what it counts: each transaction gathers what happened in each
//! minute, and what happened last, and writes it once.

use std::collections::BTreeMap;

use rusqlite::Connection;
use switchboard_core::delivery::{AttemptRecord, Verdict};
use switchboard_core::names::{DestinationName, SourceName};
use switchboard_core::time::Timestamp;
use switchboard_core::views::{AnswerTimes, LastFailure, minute_of};

/// Names of what is kept of what happened last.
pub(crate) const EVENT: &str = "event";
pub(crate) const REFUSAL: &str = "refusal";
pub(crate) const DELIVERED: &str = "delivered";
pub(crate) const FAILURE: &str = "failure";

/// How many minutes behind now are kept: more than are shown.
const KEPT: i64 = 120;
/// How far ahead of what happens now a clock was wrong for certain, in milliseconds.
pub(crate) const AHEAD: i64 = 24 * 3_600_000;
/// Most minutes that one step removes.
const REMOVED: i64 = 30;

/// What happened in a minute.
#[derive(Debug, Default)]
struct Counts {
    events: i64,
    delivered: i64,
    failed: i64,
    times: [i64; AnswerTimes::BINS],
}

/// Whose minute it is: a destination's, or that of all events.
type Whose = Option<DestinationName>;

/// What a transaction adds.
#[derive(Debug, Default)]
pub(crate) struct Happened {
    minutes: BTreeMap<(i64, Whose), Counts>,
    events: BTreeMap<SourceName, Timestamp>,
    refusals: BTreeMap<SourceName, Timestamp>,
    delivered: BTreeMap<DestinationName, Timestamp>,
    failures: BTreeMap<DestinationName, LastFailure>,
}

impl Happened {
    /// An event was stored.
    pub(crate) fn event(&mut self, source: &SourceName, at: Timestamp) {
        let counts = self.minutes.entry((minute_of(at), None)).or_default();
        counts.events = counts.events.saturating_add(1);
        later(&mut self.events, source, at);
    }

    /// The signature of a request did not hold.
    pub(crate) fn refusal(&mut self, source: &SourceName, at: Timestamp) {
        later(&mut self.refusals, source, at);
    }

    /// An attempt was kept.
    pub(crate) fn attempt(&mut self, destination: &DestinationName, record: &AttemptRecord) {
        let place = (minute_of(record.ended()), Some(destination.clone()));
        let counts = self.minutes.entry(place).or_default();
        let count = match record.outcome {
            Verdict::Delivered => &mut counts.delivered,
            Verdict::Rejected | Verdict::Unanswered => &mut counts.failed,
        };
        *count = count.saturating_add(1);
        if record.status.is_some() {
            let took = std::time::Duration::from_millis(record.duration_ms);
            if let Some(count) = counts.times.get_mut(AnswerTimes::bin(took)) {
                *count = count.saturating_add(1);
            }
        }
        match LastFailure::of(record) {
            Some(failure) => later(&mut self.failures, destination, failure),
            None => later(&mut self.delivered, destination, record.ended()),
        }
    }

    pub(crate) fn write(self, connection: &Connection) -> rusqlite::Result<()> {
        for ((minute, whose), counts) in self.minutes {
            add(connection, minute, whose.as_ref(), &counts)?;
        }
        for (source, at) in self.events {
            keep(connection, EVENT, source.as_str(), at, "")?;
        }
        for (source, at) in self.refusals {
            keep(connection, REFUSAL, source.as_str(), at, "")?;
        }
        for (destination, at) in self.delivered {
            keep(connection, DELIVERED, destination.as_str(), at, "")?;
        }
        for (destination, failure) in self.failures {
            let LastFailure { at, why } = failure;
            keep(connection, FAILURE, destination.as_str(), at, &why)?;
        }
        Ok(())
    }
}

/// Keeps the later of the two.
fn later<K: Clone + Ord, V: Ord>(known: &mut BTreeMap<K, V>, of: &K, value: V) {
    match known.get_mut(of) {
        Some(known) if *known >= value => {}
        Some(known) => *known = value,
        None => {
            known.insert(of.clone(), value);
        }
    }
}

/// Adds to a minute, by one statement.
fn add(
    connection: &Connection,
    minute: i64,
    whose: Option<&DestinationName>,
    counts: &Counts,
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO minute VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21)
         ON CONFLICT (minute, destination) DO UPDATE SET
           events = events + excluded.events, delivered = delivered + excluded.delivered, failed = failed + excluded.failed,
           t0 = t0 + excluded.t0, t1 = t1 + excluded.t1, t2 = t2 + excluded.t2, t3 = t3 + excluded.t3,
           t4 = t4 + excluded.t4, t5 = t5 + excluded.t5, t6 = t6 + excluded.t6, t7 = t7 + excluded.t7,
           t8 = t8 + excluded.t8, t9 = t9 + excluded.t9, t10 = t10 + excluded.t10, t11 = t11 + excluded.t11,
           t12 = t12 + excluded.t12, t13 = t13 + excluded.t13, t14 = t14 + excluded.t14, t15 = t15 + excluded.t15",
    )?;
    statement.raw_bind_parameter(1, minute)?;
    statement.raw_bind_parameter(2, whose.map_or("", DestinationName::as_str))?;
    let numbers = [counts.events, counts.delivered, counts.failed];
    for (place, number) in (3..).zip(numbers.into_iter().chain(counts.times)) {
        statement.raw_bind_parameter(place, number)?;
    }
    statement.raw_execute()?;
    Ok(())
}

/// Keeps when something last happened, unless a later moment is kept. One that is far ahead is of a clock that was wrong.
fn keep(
    connection: &Connection,
    what: &str,
    label: &str,
    at: Timestamp,
    why: &str,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO latest (what, label, at, why) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (what, label) DO UPDATE SET at = excluded.at, why = excluded.why
             WHERE (excluded.at, excluded.why) > (at, why) OR at > excluded.at + ?5",
        )?
        .execute((what, label, at.millis(), why, AHEAD))?;
    Ok(())
}

/// Removes what nobody is shown any more, a few minutes at a time.
pub(crate) fn remove(connection: &Connection, now: Timestamp) -> rusqlite::Result<()> {
    let before = minute_of(now).saturating_sub(KEPT);
    connection
        .prepare_cached(
            "DELETE FROM minute WHERE minute < min(?1, (SELECT min(minute) FROM minute) + ?2)",
        )?
        .execute((before, REMOVED))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use switchboard_core::ports::Ledger;

    use super::*;
    use crate::store::Store;

    #[tokio::test]
    async fn what_nobody_is_shown_goes_a_few_minutes_at_a_time() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(folder.path()).expect("a store");
        store
            .step("filling", |step| {
                let mut happened = Happened::default();
                let shop = SourceName::parse("shop").expect("a name");
                for minute in 1..=200 {
                    happened.event(&shop, Timestamp::from_millis(minute * 60_000));
                }
                Ok(happened.write(step)?)
            })
            .await
            .expect("filled");
        let left = async || {
            let sql = "SELECT min(minute), count(*) FROM minute";
            let read = |connection: &Connection| {
                let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
                Ok(connection.query_row(sql, [], read)?)
            };
            let left: (i64, i64) = store.read("counting", read).await.expect("counted");
            left
        };
        let now = Timestamp::from_millis(200 * 60_000);
        for expected in [(31, 170), (61, 140), (80, 121), (80, 121)] {
            store.expire(now, 10).await.expect("a step");
            assert_eq!(left().await, expected);
        }
    }
}
