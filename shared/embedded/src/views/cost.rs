//! What is read every few seconds, and each page of a list, costs the same however many events are stored: SQLite's own
//! count of its steps tells, and its plans.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use rusqlite::trace::{TraceEvent, TraceEventCodes};
use rusqlite::{Connection, StatementStatus};
use switchboard_core::delivery::State;
use switchboard_core::names::{DestinationName, Kind, SourceName};
use switchboard_core::views::{DeadLetterSearch, LOOKED_AT};

use super::*;
use crate::open;

/// When the first event was received: one a second from then on.
const FIRST: i64 = 1_800_000_000_000;
/// When it is looked.
const NOW: Timestamp = Timestamp::from_millis(FIRST + 100_000_000);

/// Events of one source, each delivered to one destination, dead at a second and waiting for a third.
const FILL: &str = "
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT ?1)
    INSERT INTO event (seq, id, source, sender_id, kind, received_at, expires_at, expiry_looks_at, headers, body, body_digest)
    SELECT i, 'evt_' || replace(replace(replace(replace(printf('%026d', i), '0', 'a'), '1', 'b'), '8', 'i'), '9', 'j'), 'shop', 's' || i, 'push', ?2 + i * 1000, ?2, ?2, x'', zeroblob(200), x'' FROM n";
const DELIVERIES: &str = "
    INSERT INTO delivery (event, run, destination, action, id, state, due, attempts, changed_at, reason, log)
    SELECT seq, 0, ?2, 'deliver', 'dlv_' || replace(replace(replace(replace(printf('%026d', seq), '0', 'a'), '1', 'b'), '8', 'i'), '9', 'j'), ?1, received_at, 6, received_at, ?3, '[]' FROM event";
/// What the counters hold: as many rows whether there were few events or many.
const COUNTED: &str = "
    INSERT INTO total (name, label, detail, value) VALUES
      ('stored', 'shop', '', 9), ('delivered', 'good', '', 9), ('dead', 'bad', '', 9), ('waiting', 'slow', '', 9);
    INSERT INTO latest VALUES ('event', 'shop', 1, ''), ('failure', 'bad', 1, 'answer 500');
    WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n LIMIT 120)
    INSERT INTO minute SELECT 30001666 - i, d.column1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1
      FROM n, (VALUES (''), ('good'), ('bad')) AS d";

/// A store with so many events, read by a connection whose steps are counted.
struct Filled {
    connection: Connection,
    /// Of each statement how many steps it made so far.
    steps: Arc<Mutex<BTreeMap<String, i64>>>,
}

async fn filled(folder: &Path, count: i64) -> Filled {
    let store = Store::open(folder).expect("a store");
    store
        .step("filling", move |step| {
            step.execute(FILL, (count, FIRST))?;
            for (state, to, reason) in [(2, "good", None), (3, "bad", Some(0)), (0, "slow", None)] {
                step.execute(DELIVERIES, (state, to, reason))?;
            }
            Ok(step.execute_batch(COUNTED)?)
        })
        .await
        .expect("filled");
    let steps: Arc<Mutex<BTreeMap<String, i64>>> = Arc::default();
    let shared = Arc::clone(&steps);
    let trace = move |event: TraceEvent<'_>| {
        if let TraceEvent::Profile(statement, _) = event {
            let steps = i64::from(statement.get_status(StatementStatus::VmStep));
            let mut seen = shared.lock().expect("a lock");
            seen.insert(statement.sql().into_owned(), steps);
        }
    };
    let file = folder.join(open::FILE);
    let mut connection = open::reading(&file).expect("open");
    let codes = TraceEventCodes::SQLITE_TRACE_PROFILE;
    connection.trace_v2(codes, Some(trace)).expect("traced");
    Filled { connection, steps }
}

impl Filled {
    /// How many steps a read takes.
    fn cost<T>(&self, read: impl FnOnce(&Connection) -> Result<T, Failure>) -> (T, i64) {
        // Statements are counted from when they were prepared.
        self.connection.flush_prepared_statement_cache();
        self.steps.lock().expect("a lock").clear();
        let value = read(&self.connection).expect("read");
        let steps = std::mem::take(&mut *self.steps.lock().expect("a lock"));
        for sql in steps.keys() {
            self.goes_through_no_table(sql);
        }
        let steps = steps.into_values().sum();
        assert!(steps > 0, "something was counted");
        (value, steps)
    }

    /// A count of a whole table is one step, so the plan is asked, too.
    fn goes_through_no_table(&self, sql: &str) {
        let explain = format!("EXPLAIN QUERY PLAN {sql}");
        let mut statement = self.connection.prepare(&explain).expect("a plan");
        let mut lines = statement.raw_query();
        while let Some(line) = lines.next().expect("a line") {
            let line: String = line.get(3).expect("a text");
            let of_history = ["SCAN event", "SCAN delivery", "SCAN e ", "SCAN d "];
            let scans = of_history.iter().any(|scan| line.starts_with(scan));
            assert!(!scans, "{sql}: {line}");
        }
    }
}

fn page_of(limit: u32) -> PageAsk {
    PageAsk { after: None, limit }
}

/// Searches that an index answers.
fn found_by_index() -> Vec<EventSearch> {
    let any = EventSearch::default;
    vec![
        any(),
        EventSearch {
            source: Some(SourceName::parse("shop").expect("a name")),
            ..any()
        },
        EventSearch {
            from: Some(Timestamp::from_millis(FIRST + 300_000)),
            until: Some(Timestamp::from_millis(FIRST + 400_000)),
            ..any()
        },
        EventSearch {
            sender_id: Some("s77".to_owned()),
            ..any()
        },
    ]
}

#[tokio::test]
async fn what_is_read_again_and_again_costs_the_same_with_a_hundred_times_as_many_events() {
    let (few, many) = (tempfile::tempdir(), tempfile::tempdir());
    let (few, many) = (few.expect("a folder"), many.expect("a folder"));
    let few = filled(few.path(), 1_000).await;
    let many = filled(many.path(), 100_000).await;
    let costs = |store: &Filled| {
        let (overview, whole) = store.cost(overview);
        assert_eq!(overview.totals.stored, 9);
        let none = BTreeMap::new();
        let (recent, hour) = store.cost(|connection| recent::recent(connection, &none, NOW));
        let deliveries: u64 = recent.minutes.iter().map(|minute| minute.deliveries).sum();
        assert_eq!(deliveries, 60 * 3, "the hour is read");
        let slow = DestinationName::parse("slow").expect("a name");
        let due = recent.destinations.get(&slow).and_then(|to| to.oldest_due);
        assert_eq!(due, Some(Timestamp::from_millis(FIRST + 1000)));
        let mut costs = vec![whole, hour];
        for search in found_by_index() {
            let read = |connection: &Connection| events::events(connection, &search, &page_of(50));
            costs.push(store.cost(read).1);
        }
        let of_bad = DeadLetterSearch {
            destination: Some(DestinationName::parse("bad").expect("a name")),
        };
        for search in [DeadLetterSearch::default(), of_bad] {
            let read =
                |connection: &Connection| dead::dead_letters(connection, &search, &page_of(50));
            let (page, cost) = store.cost(read);
            assert_eq!(page.items.len(), 50);
            costs.push(cost);
        }
        costs
    };
    assert_eq!(costs(&few), costs(&many));
}

#[tokio::test]
async fn what_no_index_answers_costs_no_more_than_the_events_it_may_look_at() {
    let (few, many) = (tempfile::tempdir(), tempfile::tempdir());
    let (few, many) = (few.expect("a folder"), many.expect("a folder"));
    let few = filled(few.path(), i64::from(LOOKED_AT) + 1).await;
    let many = filled(many.path(), 20_000).await;
    let searches = [
        EventSearch {
            kind: Some(Kind::new("rare").expect("a kind")),
            ..EventSearch::default()
        },
        EventSearch {
            state: Some(State::Held),
            ..EventSearch::default()
        },
    ];
    for search in searches {
        let read = |connection: &Connection| events::events(connection, &search, &page_of(50));
        let ((few, small), (many, large)) = (few.cost(read), many.cost(read));
        assert_eq!(small, large, "{search:?}");
        assert_eq!((few.looked.at, many.looked.at), (LOOKED_AT, LOOKED_AT));
    }
    let ((few, small), (many, large)) = (few.cost(dead::groups), many.cost(dead::groups));
    assert_eq!(small, large, "groups");
    assert_eq!((few.looked.at, many.looked.at), (LOOKED_AT, LOOKED_AT));
}
