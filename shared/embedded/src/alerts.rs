//! What alerts are decided from, each number read by an index or counted up to a limit, and what is kept of them.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension};
use switchboard_core::alert::{Record, Standing};
use switchboard_core::delivery::State;
use switchboard_core::names::DestinationName;
use switchboard_core::ports::{AlertStore, Answer};
use switchboard_core::time::Timestamp;

use crate::failure::Failure;
use crate::rows;
use crate::store::Store;

/// When the delivery that is due first of those that wait is due.
pub(crate) const FIRST_DUE: &str = "SELECT due FROM delivery INDEXED BY delivery_waiting
    WHERE destination = ?1 AND state = 0 ORDER BY due LIMIT 1";
/// When the oldest event was received that was attempted before, was never sent once more, and waits.
const OLDEST_AGAIN: &str = "SELECT e.received_at FROM delivery d INDEXED BY delivery_again
    JOIN event e ON e.seq = d.event
    WHERE d.destination = ?1 AND (d.base + d.run > 0) = 0 AND d.state = 0 AND d.attempts > 0 ORDER BY d.event LIMIT 1";
/// Whether one that was redriven or replayed waits after an attempt.
const REDRIVEN: &str = "SELECT 1 FROM delivery INDEXED BY delivery_again
    WHERE destination = ?1 AND (base + run > 0) = 1 AND state = 0 AND attempts > 0 LIMIT 1";
/// How many dead letters there are, up to a limit.
const DEAD: &str =
    "SELECT count(*) FROM (SELECT 1 FROM delivery INDEXED BY delivery_dead_by_destination
    WHERE destination = ?1 AND state = 3 LIMIT ?2)";

impl AlertStore for Store {
    async fn standings(&self) -> Answer<Vec<Standing>> {
        self.read("reading how destinations stand", standings).await
    }

    async fn alerts(&self) -> Answer<BTreeMap<DestinationName, Record>> {
        self.read("reading alerts", alerts).await
    }

    async fn keep_alert(&self, destination: &DestinationName, record: &Record) -> Answer<()> {
        let (destination, record) = (destination.clone(), record.clone());
        self.step("keeping an alert", move |step| {
            keep(step, &destination, &record)
        })
        .await
    }
}

fn standings(connection: &Connection) -> Result<Vec<Standing>, Failure> {
    let mut standings = BTreeMap::new();
    let mut totals = connection
        .prepare_cached("SELECT name, label, value FROM total WHERE name IN (?1, ?2, ?3, ?4)")?;
    let mut found = totals.query(State::ALL.map(State::as_str))?;
    while let Some(row) = found.next()? {
        let (name, label): (String, String) = (row.get(0)?, row.get(1)?);
        let standing = standings
            .entry(rows::destination(&label)?)
            .or_insert_with_key(|name| Standing::well(name.clone()));
        if name == State::Waiting.as_str() {
            standing.waiting = row.get(2)?;
        } else if name == State::Held.as_str() {
            standing.held = row.get(2)?;
        }
    }
    for standing in standings.values_mut() {
        look_closer(connection, standing)?;
    }
    Ok(standings.into_values().collect())
}

fn look_closer(connection: &Connection, standing: &mut Standing) -> Result<(), Failure> {
    let name = standing.destination.as_str();
    standing.dead_letters = connection
        .prepare_cached(DEAD)?
        .query_row((name, Standing::COUNTED), |row| row.get(0))?;
    standing.is_on_hold = connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM held WHERE destination = ?1)")?
        .query_row([name], |row| row.get(0))?;
    if standing.waiting == 0 {
        return Ok(());
    }
    let first = |sql| {
        let mut statement = connection.prepare_cached(sql)?;
        statement
            .query_row([name], |row| row.get::<_, i64>(0))
            .optional()
    };
    standing.has_redriven = first(REDRIVEN)?.is_some();
    standing.waiting_since = [first(FIRST_DUE)?, first(OLDEST_AGAIN)?]
        .into_iter()
        .flatten()
        .min()
        .map(Timestamp::from_millis);
    Ok(())
}

fn alerts(connection: &Connection) -> Result<BTreeMap<DestinationName, Record>, Failure> {
    let mut statement = connection.prepare_cached("SELECT destination, value FROM alert")?;
    let mut found = statement.query([])?;
    let mut alerts = BTreeMap::new();
    while let Some(row) = found.next()? {
        let (destination, value): (String, String) = (row.get(0)?, row.get(1)?);
        let record = Record::of_text(&value).ok_or(Failure::Unreadable("alert"))?;
        alerts.insert(rows::destination(&destination)?, record);
    }
    Ok(alerts)
}

fn keep(
    connection: &Connection,
    destination: &DestinationName,
    record: &Record,
) -> Result<(), Failure> {
    if *record == Record::default() {
        connection
            .prepare_cached("DELETE FROM alert WHERE destination = ?1")?
            .execute([destination.as_str()])?;
        return Ok(());
    }
    let value = record.to_text().ok_or(Failure::Unreadable("alert"))?;
    connection
        .prepare_cached(
            "INSERT INTO alert (destination, value) VALUES (?1, ?2) ON CONFLICT (destination) DO UPDATE SET value = excluded.value",
        )?
        .execute((destination.as_str(), value))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plans::plan;

    #[tokio::test]
    async fn no_number_is_found_by_a_scan_or_a_sort() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(folder.path()).expect("a store");
        for sql in [FIRST_DUE, OLDEST_AGAIN, REDRIVEN, DEAD] {
            let plan = plan(&store, sql).await;
            assert!(
                plan.iter().any(|line| line.contains("(destination=?")),
                "{plan:?}"
            );
            let bad = |line: &&String| {
                line.contains("TEMP B-TREE") || line.contains("SCAN d") || line.contains("SCAN e")
            };
            assert_eq!(plan.iter().find(bad), None, "{plan:?}");
        }
    }
}
