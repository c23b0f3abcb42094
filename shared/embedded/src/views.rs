//! What operators read. Every list is read by an index from where the page before ended.

use rusqlite::{Connection, Row};
use switchboard_core::delivery::State;
use switchboard_core::event::Event;
use switchboard_core::identity::EventId;
use switchboard_core::ports::{Answer, Views};
use switchboard_core::time::Timestamp;
use switchboard_core::views::{
    DeadLetter, DeadLetterGroups, DeadLetterSearch, Declined, DeclinedCount, EventRow, EventSearch,
    EventView, Overview, Page, PageAsk, Recent, RefusalRow, Searched,
};

use crate::failure::Failure;
use crate::rows;
use crate::store::Store;
use crate::totals::{DECLINED, EXPIRED, OTHER_BODIES, REFUSED, REPEATS, STORED, UNROUTED};

#[cfg(test)]
mod cost;
mod dead;
mod events;
mod recent;

impl Views for Store {
    async fn overview(&self) -> Answer<Overview> {
        self.read("reading the totals", overview).await
    }

    async fn recent(&self, now: Timestamp) -> Answer<Recent> {
        let in_flight = self.wakes.requests();
        self.read("reading the last hour", move |connection| {
            recent::recent(connection, &in_flight, now)
        })
        .await
    }

    async fn events(&self, search: &EventSearch, ask: &PageAsk) -> Answer<Searched<EventRow>> {
        let (search, ask) = (search.clone(), ask.clone());
        self.read("reading events", move |connection| {
            events::events(connection, &search, &ask)
        })
        .await
    }

    async fn event(&self, id: &EventId) -> Answer<Option<EventView>> {
        let id = id.clone();
        self.read("reading an event", move |connection| {
            events::event(connection, &id)
        })
        .await
    }

    async fn stored(&self, id: &EventId) -> Answer<Option<Event>> {
        let id = id.clone();
        self.read("reading an event's body", move |connection| {
            events::stored(connection, &id)
        })
        .await
    }

    async fn dead_letters(
        &self,
        search: &DeadLetterSearch,
        ask: &PageAsk,
    ) -> Answer<Page<DeadLetter>> {
        let (search, ask) = (search.clone(), ask.clone());
        self.read("reading dead letters", move |connection| {
            dead::dead_letters(connection, &search, &ask)
        })
        .await
    }

    async fn dead_letter_groups(&self) -> Answer<DeadLetterGroups> {
        self.read("grouping dead letters", dead::groups).await
    }

    async fn refusals(&self, ask: &PageAsk) -> Answer<Page<RefusalRow>> {
        let ask = ask.clone();
        self.read("reading refusals", move |connection| {
            let sql = "SELECT seq, at, source, detail FROM refusal WHERE seq < ?1 ORDER BY seq DESC LIMIT ?2";
            by_seq(connection, sql, &ask, |row| {
                let (source, detail): (String, String) = (row.get(2)?, row.get(3)?);
                let refusal = serde_json::from_str(&detail).map_err(|_| Failure::Unreadable("refusal"))?;
                Ok(RefusalRow { at: Timestamp::from_millis(row.get(1)?), source: rows::source(&source)?, refusal })
            })
        })
        .await
    }

    async fn declined(&self, ask: &PageAsk) -> Answer<Page<Declined>> {
        let ask = ask.clone();
        self.read("reading declined requests", move |connection| {
            let sql = "SELECT seq, at, source, path, status, cause FROM declined WHERE seq < ?1 ORDER BY seq DESC LIMIT ?2";
            by_seq(connection, sql, &ask, |row| {
                let source: Option<String> = row.get(2)?;
                Ok(Declined {
                    at: Timestamp::from_millis(row.get(1)?),
                    source: source.as_deref().map(rows::source).transpose()?,
                    path: row.get(3)?,
                    status: row.get(4)?,
                    cause: row.get(5)?,
                })
            })
        })
        .await
    }

    async fn ready(&self) -> Answer<()> {
        self.step("writing to the store", |step| {
            let sql = "INSERT INTO setting (name, value) VALUES ('ready', '1')
                       ON CONFLICT (name) DO UPDATE SET value = CASE value WHEN '1' THEN '2' ELSE '1' END";
            step.prepare_cached(sql)?.execute([])?;
            Ok(())
        })
        .await
    }
}

fn overview(connection: &Connection) -> Result<Overview, Failure> {
    let mut overview = Overview::default();
    let mut statement =
        connection.prepare_cached("SELECT name, label, detail, value FROM total")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (name, label, detail): (String, String, String) =
            (row.get(0)?, row.get(1)?, row.get(2)?);
        count(&mut overview, &name, &label, &detail, row.get(3)?)?;
    }
    let totals = &mut overview.totals;
    for source in overview.sources.values() {
        totals.stored += source.stored;
        totals.repeats += source.repeats;
        totals.repeats_with_other_body += source.repeats_with_other_body;
        totals.refused += source.refused;
        totals.unrouted += source.unrouted;
    }
    for destination in overview.destinations.values() {
        totals.delivered += destination.delivered;
        totals.waiting += destination.waiting;
        totals.held += destination.held;
        totals.dead += destination.dead;
        totals.expired += destination.expired;
    }
    totals.received = totals.stored + totals.repeats;
    totals.declined = overview
        .declined
        .iter()
        .map(|declined| declined.count)
        .sum();
    Ok(overview)
}

/// Puts one stored total where it belongs.
fn count(
    overview: &mut Overview,
    name: &str,
    label: &str,
    detail: &str,
    value: u64,
) -> Result<(), Failure> {
    if name == DECLINED {
        let source = (!label.is_empty())
            .then(|| rows::source(label))
            .transpose()?;
        let (status, cause) = detail.split_once(' ').ok_or(Failure::Unreadable("total"))?;
        let status = status.parse().map_err(|_| Failure::Unreadable("total"))?;
        overview.declined.push(DeclinedCount {
            source,
            status,
            cause: cause.to_owned(),
            count: value,
        });
        return Ok(());
    }
    if name == EXPIRED {
        let of = overview.destinations.entry(rows::destination(label)?);
        of.or_default().expired = value;
        return Ok(());
    }
    if let Some(state) = State::ALL.into_iter().find(|state| state.as_str() == name) {
        let of = overview
            .destinations
            .entry(rows::destination(label)?)
            .or_default();
        match state {
            State::Waiting => of.waiting = value,
            State::Held => of.held = value,
            State::Delivered => of.delivered = value,
            State::Dead => of.dead = value,
        }
        return Ok(());
    }
    let of = overview.sources.entry(rows::source(label)?).or_default();
    match name {
        STORED => of.stored = value,
        REPEATS => of.repeats = value,
        OTHER_BODIES => of.repeats_with_other_body = value,
        REFUSED => of.refused = value,
        UNROUTED => of.unrouted = value,
        _ => return Err(Failure::Unreadable("total")),
    }
    Ok(())
}

/// A page of a list that is read by falling sequence number; `sql` takes the number to stay below and a limit.
fn by_seq<T>(
    connection: &Connection,
    sql: &str,
    ask: &PageAsk,
    read: impl Fn(&Row<'_>) -> Result<T, Failure>,
) -> Result<Page<T>, Failure> {
    let Some(below) = below(ask) else {
        return Ok(page(Vec::new(), ask.limit));
    };
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query((below, ask.limit.saturating_add(1)))?;
    let mut items = Vec::new();
    while let Some(row) = rows.next()? {
        items.push((row.get::<_, i64>(0)?.to_string(), read(row)?));
    }
    Ok(page(items, ask.limit))
}

/// The sequence number that a page stays below; `None` for a cursor that no page gave, behind which there is nothing.
fn below(ask: &PageAsk) -> Option<i64> {
    match &ask.after {
        None => Some(i64::MAX),
        Some(cursor) => cursor.as_str().parse().ok(),
    }
}

/// The first `limit` of the items, each with the cursor that stands for it.
fn page<T>(items: Vec<(String, T)>, limit: u32) -> Page<T> {
    Page::first_of(items, usize::try_from(limit).unwrap_or(usize::MAX))
}
