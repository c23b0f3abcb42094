//! The lists of dead letters, and their groups.

use rusqlite::{Connection, Row};
use switchboard_core::delivery::State;
use switchboard_core::names::DestinationName;
use switchboard_core::time::Timestamp;
use switchboard_core::views::{
    DeadLetter, DeadLetterGroups, DeadLetterSearch, LOOKED_AT, Looked, Page, PageAsk, death_line,
};

use super::page;
use crate::failure::Failure;
use crate::rows;

/// The dead letters of all destinations.
const OF_ALL: &str =
    "delivery d INDEXED BY delivery_dead JOIN event e ON e.seq = d.event WHERE d.state = 3";
/// Of one.
const OF_ONE: &str =
    "delivery d INDEXED BY delivery_dead_by_destination JOIN event e ON e.seq = d.event
    WHERE d.state = 3 AND d.destination = ?4";
/// What the newest of a destination died of.
const CAUSES: &str =
    "SELECT reason, log, changed_at FROM delivery INDEXED BY delivery_dead_by_destination
    WHERE state = 3 AND destination = ?1 ORDER BY changed_at DESC, id DESC LIMIT ?2";
/// The destinations that ever had dead letters that were not redriven.
const DESTINATIONS: &str = "SELECT label FROM total WHERE name = ?1 AND value > 0";

fn list(of: &str) -> String {
    format!(
        "SELECT d.id, e.id, e.source, e.kind, d.destination, d.action, d.attempts, d.reason, d.log, d.changed_at, e.expires_at
         FROM {of} AND (d.changed_at, d.id) < (?1, ?2) ORDER BY d.changed_at DESC, d.id DESC LIMIT ?3"
    )
}

pub(super) fn dead_letters(
    connection: &Connection,
    search: &DeadLetterSearch,
    ask: &PageAsk,
) -> Result<Page<DeadLetter>, Failure> {
    let Some((at, id)) = before(ask) else {
        return Ok(page(Vec::new(), ask.limit));
    };
    let limit = ask.limit.saturating_add(1);
    let mut items = Vec::new();
    let mut take = |row: &Row<'_>| {
        let letter = dead_letter(row)?;
        let cursor = format!("{}-{}", letter.at.millis(), letter.delivery);
        items.push((cursor, letter));
        Ok::<(), Failure>(())
    };
    match &search.destination {
        None => {
            let mut statement = connection.prepare_cached(&list(OF_ALL))?;
            let mut rows = statement.query((at, id, limit))?;
            while let Some(row) = rows.next()? {
                take(row)?;
            }
        }
        Some(destination) => {
            let mut statement = connection.prepare_cached(&list(OF_ONE))?;
            let mut rows = statement.query((at, id, limit, destination.as_str()))?;
            while let Some(row) = rows.next()? {
                take(row)?;
            }
        }
    }
    Ok(page(items, ask.limit))
}

/// Where a page of dead letters begins; `None` for a cursor that no page gave, behind which there is nothing.
fn before(ask: &PageAsk) -> Option<(i64, String)> {
    match &ask.after {
        None => Some((i64::MAX, String::new())),
        Some(cursor) => {
            let (at, id) = cursor.as_str().split_once('-')?;
            Some((at.parse().ok()?, id.to_owned()))
        }
    }
}

fn dead_letter(row: &Row<'_>) -> Result<DeadLetter, Failure> {
    let text = |column: usize| {
        row.get_ref(column)
            .and_then(|value| Ok(value.as_str()?))
            .map_err(Failure::from)
    };
    let log = rows::log(text(8)?)?;
    Ok(DeadLetter {
        delivery: rows::delivery_id(text(0)?)?,
        event: rows::event_id(text(1)?)?,
        source: rows::source(text(2)?)?,
        kind: rows::kind(text(3)?)?,
        destination: rows::destination(text(4)?)?,
        action: rows::action(text(5)?)?,
        attempts: row.get(6)?,
        reason: death_line(rows::reason(row.get(7)?)?, log.last()),
        at: Timestamp::from_millis(row.get(9)?),
        kept_until: Timestamp::from_millis(row.get(10)?),
    })
}

pub(super) fn groups(connection: &Connection) -> Result<DeadLetterGroups, Failure> {
    let mut letters = Vec::new();
    let mut all = Looked::default();
    let mut statement = connection.prepare_cached(DESTINATIONS)?;
    let mut found = statement.query([State::Dead.as_str()])?;
    while let Some(row) = found.next()? {
        let name: String = row.get(0)?;
        let looked = look(connection, &rows::destination(&name)?, &mut letters)?;
        all.at = all.at.saturating_add(looked.at);
        all.back_to = all.back_to.max(looked.back_to);
    }
    Ok(DeadLetterGroups::of(letters, all))
}

/// Looks at the newest dead letters of a destination.
fn look(
    connection: &Connection,
    destination: &DestinationName,
    letters: &mut Vec<(DestinationName, String, Timestamp)>,
) -> Result<Looked, Failure> {
    let mut looked = Looked::default();
    let mut oldest = None;
    let mut statement = connection.prepare_cached(CAUSES)?;
    let mut found = statement.query((destination.as_str(), LOOKED_AT.saturating_add(1)))?;
    while let Some(row) = found.next()? {
        if looked.at >= LOOKED_AT {
            looked.back_to = oldest;
            break;
        }
        let log = row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?;
        let reason = death_line(rows::reason(row.get(0)?)?, rows::log(log)?.last());
        let at = Timestamp::from_millis(row.get(2)?);
        looked.at = looked.at.saturating_add(1);
        oldest = Some(at);
        letters.push((destination.clone(), reason, at));
    }
    Ok(looked)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plans::plan;
    use crate::store::Store;

    #[tokio::test]
    async fn no_list_is_found_by_a_scan_or_a_sort() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(folder.path()).expect("a store");
        for (sql, index) in [
            (list(OF_ALL), "delivery_dead ((changed_at,id)<(?,?))"),
            (
                list(OF_ONE),
                "delivery_dead_by_destination (destination=? AND (changed_at,id)<(?,?))",
            ),
            (
                CAUSES.to_owned(),
                "delivery_dead_by_destination (destination=?)",
            ),
        ] {
            let plan = plan(&store, &sql).await;
            assert!(plan.iter().any(|line| line.contains(index)), "{plan:?}");
            let sorts = plan.iter().any(|line| line.contains("TEMP B-TREE"));
            assert!(!sorts, "{plan:?}");
        }
    }
}
