//! What the last hour costs whoever writes: statements for a transaction, not for an event.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use rusqlite::trace::{TraceEvent, TraceEventCodes};
use switchboard_core::attempt::Attempt;
use switchboard_core::delivery::{AttemptRecord, DeliveryKey, Next, Outcome, Unanswered};
use switchboard_core::event::Event;
use switchboard_core::forward::KeptHeaders;
use switchboard_core::identity::{EventId, Run};
use switchboard_core::names::{ActionName, Kind, SenderId, SourceName};
use switchboard_core::piece::Piece;
use switchboard_core::ports::{Keep, Queued};
use switchboard_core::time::Timestamp;

use super::*;
use crate::{accept, record, schema};

const KEEP: Keep = Keep { days: 30 };
/// The first moment of a minute.
const START: Timestamp = Timestamp::from_seconds(1_800_000_000);

/// How many statements a transaction made: those of the last hour, and the others.
#[derive(Debug, PartialEq, Eq)]
struct Statements {
    hour: usize,
    others: usize,
}

struct Setting {
    connection: Connection,
    known: Known,
    seen: Arc<Mutex<Vec<String>>>,
}

fn setting() -> Setting {
    let mut connection = Connection::open_in_memory().expect("open");
    connection.set_prepared_statement_cache_capacity(64);
    schema::migrate(&mut connection).expect("migrated");
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let shared = Arc::clone(&seen);
    let trace = move |event: TraceEvent<'_>| {
        if let TraceEvent::Stmt(statement, _) = event {
            let mut seen = shared.lock().expect("a lock");
            seen.push(statement.sql().into_owned());
        }
    };
    let codes = TraceEventCodes::SQLITE_TRACE_STMT;
    connection.trace_v2(codes, Some(trace)).expect("traced");
    Setting {
        known: Known::of(&connection).expect("known"),
        connection,
        seen,
    }
}

impl Setting {
    /// Runs steps in one transaction.
    fn batch(&mut self, steps: Vec<Box<dyn WaitingStep>>) -> Statements {
        self.seen.lock().expect("a lock").clear();
        let mut steps = steps;
        write(&mut self.connection, &mut self.known, &mut steps).expect("written");
        let seen = self.seen.lock().expect("a lock");
        let of_hour = |sql: &&String| {
            ["INTO minute", "INTO latest"]
                .iter()
                .any(|table| sql.contains(table))
        };
        let hour = seen.iter().filter(of_hour).count();
        Statements {
            hour,
            others: seen.len() - hour,
        }
    }
}

fn call<T: Send + 'static>(
    step: impl FnMut(&mut Step<'_>) -> Result<T, Failure> + Send + 'static,
) -> Box<dyn WaitingStep> {
    let (reply, _) = oneshot::channel();
    Box::new(Call {
        step,
        value: None,
        reply,
    })
}

fn event(from: &str, n: usize) -> Arc<Event> {
    let source = SourceName::parse(from).expect("a name");
    let sender_id = SenderId::new(&n.to_string()).expect("an id");
    Arc::new(Event {
        id: EventId::of(&source, &sender_id),
        source,
        sender_id,
        kind: Kind::new("push").expect("a kind"),
        received_at: START,
        headers: KeptHeaders::default(),
        body: Bytes::from_static(b"{}"),
    })
}

fn keys(event: &Event) -> Vec<DeliveryKey> {
    let key = |name: &str| {
        let to = DestinationName::parse(name).expect("a name");
        DeliveryKey::of(&event.id, to, ActionName::deliver(), Run(0))
    };
    ["accounting", "chat", "warehouse"].map(key).to_vec()
}

/// Events of two sources, each to three destinations.
fn accepts(count: usize) -> Vec<Box<dyn WaitingStep>> {
    let accept = |n: usize| {
        let event = event(["shop", "code"][n % 2], n);
        let queue = |key| Queued { key, due: START };
        let plan: Vec<_> = keys(&event).into_iter().map(queue).collect();
        call(move |step| accept::accept(step, &event, &[0; 32], &plan, KEEP))
    };
    (0..count).map(accept).collect()
}

/// An attempt of each of their deliveries, one destination's failing.
fn records(count: usize) -> Vec<Box<dyn WaitingStep>> {
    let mut steps = Vec::new();
    for n in 0..count {
        let event = event(["shop", "code"][n % 2], n);
        for key in keys(&event) {
            let fails = key.destination.as_str() == "chat";
            let attempt = Attempt {
                key,
                event: Arc::clone(&event),
                number: 1,
                in_round: 1,
            };
            let (outcome, next) = if fails {
                let again = START.plus(Duration::from_secs(2));
                let outcome = Outcome::Unanswered(Unanswered::Closed);
                (outcome, Next::Waiting(again))
            } else {
                let piece = Piece::default();
                (Outcome::Answered { status: 200, piece }, Next::Delivered)
            };
            let kept = AttemptRecord::new(1, START, Duration::from_millis(n as u64), &outcome);
            let seq = i64::try_from(n + 1).ok();
            steps.push(call(move |step| {
                record::record(step, seq, &attempt, &kept, next, KEEP)
            }));
        }
    }
    steps
}

#[test]
fn the_last_hour_costs_a_few_statements_for_a_transaction_and_none_for_an_event() {
    let (mut few, mut many) = (setting(), setting());
    let (one, sixty) = (few.batch(accepts(2)), many.batch(accepts(64)));
    // The minute, and when each source last sent something.
    assert_eq!((one.hour, sixty.hour), (3, 3));
    assert_eq!(sixty.others - one.others, 2 * 62, "two for an event");
    let (one, sixty) = (few.batch(records(2)), many.batch(records(64)));
    // The minute of each destination, when each last answered well, and the last failure of the one that fails.
    assert_eq!((one.hour, sixty.hour), (6, 6));
    let (settled, failures_read) = (62 * 3, 62);
    assert_eq!(sixty.others - one.others, settled + failures_read);
    let sum: (i64, i64, i64) = many
        .connection
        .query_row(
            "SELECT sum(events), sum(delivered), sum(failed) FROM minute",
            [],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )
        .expect("counted");
    assert_eq!(sum, (64, 128, 64), "all of it is counted");
}
