//! The last hour: some rows for each minute and each destination, however many events there are.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension};
use switchboard_core::delivery::State;
use switchboard_core::names::DestinationName;
use switchboard_core::time::Timestamp;
use switchboard_core::views::{AnswerTimes, LastFailure, Recent, minute_of};

use crate::alerts::FIRST_DUE;
use crate::failure::Failure;
use crate::minutes::{AHEAD, DELIVERED, EVENT, FAILURE, REFUSAL};
use crate::rows;
use crate::totals::{REFUSED, STORED};

const MINUTES: &str = "SELECT * FROM minute WHERE minute BETWEEN ?1 AND ?2";
const LATEST: &str = "SELECT what, label, at, why FROM latest WHERE at <= ?1";
const TOTALS: &str = "SELECT name, label, value FROM total WHERE name IN (?1, ?2, ?3, ?4, ?5, ?6)";

/// Requests under way, by destination.
type InFlight = BTreeMap<DestinationName, usize>;

pub(super) fn recent(
    connection: &Connection,
    in_flight: &InFlight,
    now: Timestamp,
) -> Result<Recent, Failure> {
    let mut recent = Recent::quiet(now);
    named(connection, &mut recent)?;
    minutes(connection, &mut recent, now)?;
    latest(connection, &mut recent, now)?;
    for destination in in_flight.keys() {
        recent.destinations.entry(destination.clone()).or_default();
    }
    for (destination, health) in &mut recent.destinations {
        let count = in_flight.get(destination).copied().unwrap_or(0);
        health.in_flight = Some(u64::try_from(count).unwrap_or(u64::MAX));
    }
    Ok(recent)
}

/// Whoever the totals name; of destinations with waiting deliveries, when the first of these is due.
fn named(connection: &Connection, recent: &mut Recent) -> Result<(), Failure> {
    let mut totals = connection.prepare_cached(TOTALS)?;
    let [waiting, held, delivered, dead] = State::ALL.map(State::as_str);
    let mut found = totals.query([waiting, held, delivered, dead, STORED, REFUSED])?;
    while let Some(row) = found.next()? {
        let (name, label): (String, String) = (row.get(0)?, row.get(1)?);
        if name == STORED || name == REFUSED {
            recent.sources.entry(rows::source(&label)?).or_default();
            continue;
        }
        let destination = recent.destinations.entry(rows::destination(&label)?);
        let health = destination.or_default();
        if name == waiting && row.get::<_, i64>(2)? > 0 {
            let due: Option<i64> = connection
                .prepare_cached(FIRST_DUE)?
                .query_row([label], |row| row.get(0))
                .optional()?;
            health.oldest_due = due.map(Timestamp::from_millis);
        }
    }
    Ok(())
}

fn minutes(connection: &Connection, recent: &mut Recent, now: Timestamp) -> Result<(), Failure> {
    let mut times: BTreeMap<DestinationName, AnswerTimes> = BTreeMap::new();
    let mut statement = connection.prepare_cached(MINUTES)?;
    let mut found = statement.query((minute_of(recent.since), minute_of(now)))?;
    while let Some(row) = found.next()? {
        let Some(minute) = recent.minute_mut(row.get(0)?) else {
            continue;
        };
        let (events, delivered, failed): (u64, u64, u64) = (row.get(2)?, row.get(3)?, row.get(4)?);
        minute.events = minute.events.saturating_add(events);
        minute.deliveries = minute.deliveries.saturating_add(delivered);
        minute.failures = minute.failures.saturating_add(failed);
        let name = row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?;
        if name.is_empty() {
            continue;
        }
        let name = rows::destination(name)?;
        let health = recent.destinations.entry(name.clone()).or_default();
        health.delivered = health.delivered.saturating_add(delivered);
        health.failed = health.failed.saturating_add(failed);
        let times = times.entry(name).or_default();
        for bin in 0..AnswerTimes::BINS {
            times.add(bin, row.get(bin.saturating_add(5))?);
        }
    }
    for (name, times) in times {
        let health = recent.destinations.entry(name).or_default();
        health.p50_ms = times.quantile(50);
        health.p95_ms = times.quantile(95);
    }
    Ok(())
}

fn latest(connection: &Connection, recent: &mut Recent, now: Timestamp) -> Result<(), Failure> {
    let mut statement = connection.prepare_cached(LATEST)?;
    // What is further ahead a clock told that was wrong.
    let mut found = statement.query([now.millis().saturating_add(AHEAD)])?;
    while let Some(row) = found.next()? {
        let (what, label): (String, String) = (row.get(0)?, row.get(1)?);
        let at = Timestamp::from_millis(row.get(2)?);
        let source = || rows::source(&label);
        let destination = || rows::destination(&label);
        match what.as_str() {
            EVENT => recent.sources.entry(source()?).or_default().last_event = Some(at),
            REFUSAL => recent.sources.entry(source()?).or_default().last_refusal = Some(at),
            DELIVERED => {
                let health = recent.destinations.entry(destination()?).or_default();
                health.last_delivered = Some(at);
            }
            FAILURE => {
                let health = recent.destinations.entry(destination()?).or_default();
                let why = row.get(3)?;
                health.last_failure = Some(LastFailure { at, why });
            }
            _ => return Err(Failure::Unreadable("latest")),
        }
    }
    Ok(())
}
