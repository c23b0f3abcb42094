//! The list of events, what narrows it, and one event with its deliveries.
//!
//! Events are listed by the time of receipt, those of one moment by their place in the order of receipt. Source, sender's
//! id and time are found by indexes; for the rest each event is looked at, so many for a page.

use std::collections::BTreeMap;

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row, Rows};
use switchboard_core::delivery::State;
use switchboard_core::event::Event;
use switchboard_core::identity::{EventId, Run};
use switchboard_core::names::{DestinationName, SenderId};
use switchboard_core::time::Timestamp;
use switchboard_core::views::{
    Cursor, DELIVERIES_SHOWN, DeliveryView, EventRow, EventSearch, EventView, LOOKED_AT, Looked,
    Page, PageAsk, Searched, death_line,
};

use crate::failure::Failure;
use crate::rows;
use crate::totals::STORED;

const EVENT: &str = "seq, id, source, sender_id, kind, received_at, length(body), repeats, other_bodies, expires_at";
/// Where a search goes on, from the newest on: between two places, at most so many.
const PIECE: &str = "(received_at, seq) < (?1, ?2) AND received_at >= ?3 ORDER BY received_at DESC, seq DESC LIMIT ?4";

const OF_ALL: &str = "event INDEXED BY event_by_receipt WHERE true";
const OF_SOURCE: &str = "event INDEXED BY event_by_source WHERE source = ?5";
const SCOPED: &str = "event INDEXED BY event_by_scoped_sender_id
    WHERE scope IS NOT NULL AND sender_id = ?5 AND (?6 IS NULL OR source = ?6)";
/// A few at most, found one by one.
const UNSCOPED: &str = "event INDEXED BY sqlite_autoindex_event_1
    WHERE id IN (SELECT value FROM json_each(?5)) AND (?6 IS NULL OR source = ?6)";

fn list(of: &str) -> String {
    format!("SELECT {EVENT} FROM {of} AND {PIECE}")
}

/// A place in the list: a time of receipt and a place in the order of receipt.
type Place = (i64, i64);

/// The piece of the list that a page is looked for in.
struct Span {
    /// Everything in it is older than this.
    below: Place,
    /// The oldest time of receipt.
    from: i64,
}

impl Span {
    /// `None` for a cursor that no page gave, behind which there is nothing.
    fn of(search: &EventSearch, ask: &PageAsk) -> Option<Self> {
        let after = match &ask.after {
            None => (i64::MAX, i64::MAX),
            Some(cursor) => {
                let (at, seq) = cursor.as_str().split_once('.')?;
                (at.parse().ok()?, seq.parse().ok()?)
            }
        };
        let until = search.until.map(|until| (until.millis(), i64::MIN));
        Some(Self {
            below: until.map_or(after, |until| until.min(after)),
            from: search.from.map_or(i64::MIN, Timestamp::millis),
        })
    }

    fn values(&self, limit: u32, more: impl IntoIterator<Item = Value>) -> Vec<Value> {
        let piece = [self.below.0, self.below.1, self.from, i64::from(limit)];
        piece.map(Value::Integer).into_iter().chain(more).collect()
    }
}

pub(super) fn events(
    connection: &Connection,
    search: &EventSearch,
    ask: &PageAsk,
) -> Result<Searched<EventRow>, Failure> {
    let Some(span) = Span::of(search, ask) else {
        return Ok(Searched::nothing());
    };
    let text = |text: &str| Value::Text(text.to_owned());
    let source = search.source.as_ref().map(|source| text(source.as_str()));
    let limit = LOOKED_AT.saturating_add(1);
    let mut found = Found::new(connection, search, ask.limit);
    match (&search.sender_id, source) {
        (None, None) => {
            let mut statement = connection.prepare_cached(&list(OF_ALL))?;
            let values = span.values(limit, []);
            found.walk(statement.query(rusqlite::params_from_iter(values))?)?;
        }
        (None, Some(source)) => {
            let mut statement = connection.prepare_cached(&list(OF_SOURCE))?;
            let values = span.values(limit, [source]);
            found.walk(statement.query(rusqlite::params_from_iter(values))?)?;
        }
        (Some(id), source) => {
            let source = source.unwrap_or(Value::Null);
            let ids = Value::Text(unscoped(connection, id)?);
            let mut places = Vec::new();
            for (of, key) in [(UNSCOPED, ids), (SCOPED, text(id))] {
                let sql = format!("SELECT received_at, seq FROM {of} AND {PIECE}");
                let mut statement = connection.prepare_cached(&sql)?;
                let values = span.values(limit, [key, source.clone()]);
                let of_key = statement.query_map(rusqlite::params_from_iter(values), |row| {
                    Ok((row.get(0)?, row.get(1)?))
                })?;
                places.extend(of_key.collect::<Result<Vec<Place>, _>>()?);
            }
            places.sort_unstable_by_key(|place| std::cmp::Reverse(*place));
            let sql = format!("SELECT {EVENT} FROM event WHERE seq = ?1");
            let mut statement = connection.prepare_cached(&sql)?;
            for (_, seq) in places {
                found.walk(statement.query([seq])?)?;
                if found.is_full {
                    break;
                }
            }
        }
    }
    Ok(found.page())
}

/// What is found for a page while it is looked for.
struct Found<'a> {
    connection: &'a Connection,
    search: &'a EventSearch,
    most: usize,
    items: Vec<EventRow>,
    looked: u32,
    last: Option<Place>,
    /// There was one more to look at than belongs to the page.
    is_full: bool,
}

impl<'a> Found<'a> {
    fn new(connection: &'a Connection, search: &'a EventSearch, limit: u32) -> Self {
        Self {
            connection,
            search,
            most: usize::try_from(limit).unwrap_or(usize::MAX),
            items: Vec::new(),
            looked: 0,
            last: None,
            is_full: false,
        }
    }

    /// Looks at events, newest first, until the page has what was asked for or enough were looked at.
    fn walk(&mut self, mut rows: Rows<'_>) -> Result<(), Failure> {
        while let Some(row) = rows.next()? {
            if self.items.len() >= self.most || self.looked >= LOOKED_AT {
                self.is_full = true;
                return Ok(());
            }
            self.look(row)?;
        }
        Ok(())
    }

    fn look(&mut self, row: &Row<'_>) -> Result<(), Failure> {
        self.looked = self.looked.saturating_add(1);
        self.last = Some((row.get(5)?, row.get(0)?));
        if let Some(kind) = &self.search.kind {
            let found = row.get_ref(4)?.as_str().map_err(rusqlite::Error::from)?;
            if found != kind.as_str() {
                return Ok(());
            }
        }
        let deliveries = deliveries(self.connection, row.get(0)?, self.search)?;
        if deliveries.are_meant {
            self.items.push(event_row(row, deliveries.by_state)?);
        }
        Ok(())
    }

    fn page(self) -> Searched<EventRow> {
        let last = self.last.filter(|_| self.is_full);
        Searched {
            page: Page {
                items: self.items,
                next: last.and_then(|(at, seq)| Cursor::new(&format!("{at}.{seq}"))),
            },
            looked: Looked {
                at: self.looked,
                back_to: last.map(|(at, _)| Timestamp::from_millis(at)),
            },
        }
    }
}

/// The deliveries of an event.
struct Deliveries {
    by_state: BTreeMap<&'static str, u64>,
    /// Whether the search means an event that has these.
    are_meant: bool,
}

fn deliveries(
    connection: &Connection,
    seq: i64,
    search: &EventSearch,
) -> Result<Deliveries, Failure> {
    let destination = search.destination.as_ref().map(DestinationName::as_str);
    let mut statement = connection.prepare_cached(
        "SELECT state, count(*), count(*) FILTER (WHERE ?2 IS NULL OR destination = ?2)
         FROM delivery WHERE event = ?1 GROUP BY state",
    )?;
    let mut states = statement.query((seq, destination))?;
    let mut found = Deliveries {
        by_state: BTreeMap::new(),
        are_meant: search.state.is_none() && destination.is_none(),
    };
    while let Some(row) = states.next()? {
        let state = rows::state(row.get(0)?)?;
        found.by_state.insert(state.as_str(), row.get(1)?);
        let in_state = search.state.is_none_or(|wanted| wanted == state);
        if in_state && row.get::<_, u64>(2)? > 0 {
            found.are_meant = true;
        }
    }
    Ok(found)
}

/// The ids, as JSON, of the events that have this sender's id without a scope: one for each source there ever was.
fn unscoped(connection: &Connection, sender_id: &str) -> Result<String, Failure> {
    let mut ids = Vec::new();
    if let Some(sender_id) = SenderId::new(sender_id) {
        let mut statement = connection.prepare_cached("SELECT label FROM total WHERE name = ?1")?;
        let mut sources = statement.query([STORED])?;
        while let Some(row) = sources.next()? {
            let source = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
            ids.push(EventId::of(&rows::source(source)?, &sender_id));
        }
    }
    serde_json::to_string(&ids).map_err(|_| Failure::Unreadable("event id"))
}

fn event_row(row: &Row<'_>, deliveries: BTreeMap<&'static str, u64>) -> Result<EventRow, Failure> {
    let (id, source, kind): (String, String, String) = (row.get(1)?, row.get(2)?, row.get(4)?);
    Ok(EventRow {
        event: rows::event_id(&id)?,
        source: rows::source(&source)?,
        sender_id: row.get(3)?,
        kind: rows::kind(&kind)?,
        at: Timestamp::from_millis(row.get(5)?),
        body_length: row.get(6)?,
        repeats: row.get(7)?,
        deliveries,
    })
}

pub(super) fn event(connection: &Connection, id: &EventId) -> Result<Option<EventView>, Failure> {
    let sql = format!("SELECT {EVENT} FROM event WHERE id = ?1");
    let mut statement = connection.prepare_cached(&sql)?;
    let mut found = statement.query([id.as_str()])?;
    let Some(row) = found.next()? else {
        return Ok(None);
    };
    let seq: i64 = row.get(0)?;
    let by_state = deliveries(connection, seq, &EventSearch::default())?.by_state;
    let mut statement = connection.prepare_cached(
        "SELECT id, run, destination, action, state, due, reason, attempts, log FROM delivery WHERE event = ?1
         ORDER BY run DESC, destination DESC, action DESC LIMIT max(?2, (SELECT count(*) FROM delivery WHERE event = ?1 AND run = (SELECT max(run) FROM delivery WHERE event = ?1)))",
    )?;
    let mut rows = statement.query((seq, DELIVERIES_SHOWN))?;
    let mut deliveries = Vec::new();
    while let Some(row) = rows.next()? {
        deliveries.push(delivery(row)?);
    }
    deliveries.reverse();
    Ok(Some(EventView {
        repeats_with_other_body: row.get(8)?,
        kept_until: Timestamp::from_millis(row.get(9)?),
        row: event_row(row, by_state)?,
        deliveries,
    }))
}

/// An event as it was stored.
pub(super) fn stored(connection: &Connection, id: &EventId) -> Result<Option<Event>, Failure> {
    let sql = format!("SELECT {} FROM event e WHERE e.id = ?1", rows::EVENT);
    let mut statement = connection.prepare_cached(&sql)?;
    let read = |row: &Row<'_>| Ok(rows::event(row, 0));
    let found = statement.query_row([id.as_str()], read).optional()?;
    found.transpose()
}

fn delivery(row: &Row<'_>) -> Result<DeliveryView, Failure> {
    let (id, destination, action): (String, String, String) =
        (row.get(0)?, row.get(2)?, row.get(3)?);
    let state = rows::state(row.get(4)?)?;
    let log = rows::log(&row.get::<_, String>(8)?)?;
    let reason: Option<i64> = row.get(6)?;
    let reason = reason.map(rows::reason).transpose()?;
    let due = matches!(state, State::Waiting)
        .then(|| row.get(5).map(Timestamp::from_millis))
        .transpose()?;
    Ok(DeliveryView {
        delivery: rows::delivery_id(&id)?,
        run: Run(row.get(1)?),
        destination: rows::destination(&destination)?,
        action: rows::action(&action)?,
        state,
        due,
        reason: reason.map(|reason| death_line(reason, log.last())),
        attempts: row.get(7)?,
        log,
    })
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
        for (of, index) in [
            (OF_ALL, "event_by_receipt (received_at>? AND received_at<?)"),
            (
                OF_SOURCE,
                "event_by_source (source=? AND received_at>? AND received_at<?)",
            ),
            (
                SCOPED,
                "event_by_scoped_sender_id (sender_id=? AND received_at>? AND received_at<?)",
            ),
        ] {
            let plan = plan(&store, &list(of)).await;
            assert!(plan.iter().any(|line| line.contains(index)), "{plan:?}");
            let sorts = plan.iter().any(|line| line.contains("TEMP B-TREE"));
            assert!(!sorts, "{plan:?}");
        }
        let plan = plan(&store, &list(UNSCOPED)).await;
        let by_id = |line: &String| line.contains("sqlite_autoindex_event_1 (id=?)");
        assert!(plan.iter().any(by_id), "{plan:?}");
    }
}
