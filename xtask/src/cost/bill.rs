//! What a million events of one kind cost under a load, by where the dollars go. Calls, units and bytes are counted; how full
//! batches are and how long functions are billed for is assumed.

use super::counted::{Calls, Counted, OfEvents, Scene, Sum};
use super::idle::of_a_busy_process;
use super::prices::{
    BESIDE_A_LINE, COLD_MS, COLD_ONE_IN, DESTINATION_MS, EARLY_MS, FAIR_QUEUE_REQUEST,
    GATEWAY_REQUEST, GATEWAY_STEP, GIGABYTE_SECOND, INVOCATION, KEPT_MONTHS, LOG_KEPT, LOGGED,
    Load, MEMORY, OWN_MS, OWN_MS_PER_MEGABYTE, QUEUE_SEND_MS, QUEUE_STEP, READ_BYTES, READ_RECORDS,
    READ_UNIT, RECOVERABLE, SENT_OUT, SHARDS, STORED, STREAM_READ, TABLE_READ_MS, TABLE_WRITE_MS,
    WALK_AT_ONCE, WRITE_UNIT,
};
use crate::command::Failure;

const MILLION: f64 = 1_000_000.0;
const MEGABYTE: f64 = 1024.0 * 1024.0;

/// Dollars for a million events.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bill {
    pub(super) gateway: f64,
    pub(super) functions: f64,
    pub(super) table: f64,
    pub(super) queues: f64,
    pub(super) logs: f64,
    /// The share of the keeper that events add: walks and fold.
    pub(super) keeper: f64,
    /// Requests to destinations, over the internet.
    pub(super) sent_out: f64,
    /// Not of events but of time, and no part of the total: what warm processes read for themselves, shared by the events
    /// that come meanwhile.
    pub(super) by_time: f64,
    /// Nor this: what stays, for as long as events are kept.
    pub(super) kept: f64,
}

impl Bill {
    /// The lines of the total, by name.
    pub(super) const fn lines(&self) -> [(&'static str, f64); 7] {
        [
            ("gateway", self.gateway),
            ("functions", self.functions),
            ("table", self.table),
            ("queues", self.queues),
            ("logs", self.logs),
            ("keeper", self.keeper),
            ("sent_out", self.sent_out),
        ]
    }

    /// All that is charged because an event came.
    pub(super) fn total(&self) -> f64 {
        self.lines().iter().map(|(_, dollars)| dollars).sum()
    }
}

/// An event under a load: what is asked for it by whom, and the bill.
#[derive(Clone, Debug)]
pub(super) struct Billed<'a> {
    pub(super) scene: &'a Scene,
    pub(super) load: Load,
    /// What Lambda and its polling ask for, for one event.
    pub(super) platform: Calls,
    /// What the keeper asks for, for one event.
    pub(super) keeper: Calls,
    pub(super) bill: Bill,
}

/// How often a function runs for one event, and how long each time, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Runs {
    count: f64,
    milliseconds: f64,
}

impl Runs {
    fn dollars(self) -> f64 {
        let cold = COLD_MS / COLD_ONE_IN;
        let seconds = self.count * (self.milliseconds + cold) / 1000.0;
        INVOCATION.of(self.count) + GIGABYTE_SECOND.of(seconds * MEMORY)
    }

    /// Processes that this keeps busy.
    fn processes(self, events_per_second: f64) -> f64 {
        (events_per_second * self.count * self.milliseconds / 1000.0)
            .ceil()
            .max(1.0)
    }
}

/// What the keeper does for one event more.
struct Keeping {
    queries: f64,
    transactions: f64,
    dollars: f64,
}

impl<'a> Billed<'a> {
    /// Of one scene.
    pub(super) fn of(scene: &'a Scene, counted: &Counted, load: Load) -> Result<Self, Failure> {
        let of_events = counted.minutes.of_events.iter();
        let mut of_events = of_events.filter(|one| one.destinations == scene.destinations);
        let of_events = of_events.next().ok_or_else(|| {
            let count = scene.destinations;
            Failure(format!("no minute of the keeper with {count} destinations"))
        })?;
        let both = scene.both();
        let (ingress, worker) = (ingress(scene), worker(scene, load));
        let chunks = (load.batch * scene.hint_bytes / scene.hints / QUEUE_STEP).ceil();
        let polled = worker.count * (chunks + 1.0);
        let logged = scene.log_bytes + scene.log_lines * BESIDE_A_LINE;
        let steps = (f64::from(scene.body_bytes) / GATEWAY_STEP).ceil();
        let keeping = keeping(&both, of_events, load);
        let by_time = by_time(scene, counted, load, ingress, worker);
        let stored = STORED.of(both.stored_bytes) + RECOVERABLE.of(both.stored_bytes);
        let bill = Bill {
            gateway: GATEWAY_REQUEST.of(steps) * MILLION,
            functions: (ingress.dollars() + worker.dollars()) * MILLION,
            table: (WRITE_UNIT.of(both.write_units) + READ_UNIT.of(both.read_units)) * MILLION,
            queues: FAIR_QUEUE_REQUEST.of(both.queue_requests + polled) * MILLION,
            logs: LOGGED.of(logged) * MILLION,
            keeper: keeping.dollars * MILLION,
            sent_out: SENT_OUT.of(scene.out_bytes) * MILLION,
            by_time: by_time * MILLION,
            kept: (stored + LOG_KEPT.of(logged)) * KEPT_MONTHS * MILLION,
        };
        let invocations = 1.0 + worker.count;
        Ok(Self {
            scene,
            load,
            platform: calls(&[
                ("lambda", "Invoke", invocations),
                ("sqs", "ReceiveMessage", worker.count),
                ("sqs", "DeleteMessageBatch", worker.count),
            ]),
            keeper: calls(&[
                ("dynamodb", "Query", keeping.queries),
                ("dynamodb", "TransactWriteItems", keeping.transactions),
                ("dynamodb-streams", "GetRecords", keeping.transactions),
            ]),
            bill,
        })
    }
}

fn calls(counts: &[(&str, &str, f64)]) -> Calls {
    let mut calls = Calls::new();
    for (service, operation, count) in counts {
        let operations = calls.entry((*service).to_owned()).or_default();
        operations.insert((*operation).to_owned(), *count);
    }
    calls
}

/// One request: the put, and one batch of hints behind the other.
fn ingress(scene: &Scene) -> Runs {
    let batches = scene.ingress.count("sqs", "SendMessageBatch");
    let milliseconds = own_ms(scene) + TABLE_WRITE_MS + QUEUE_SEND_MS * batches;
    Runs {
        count: 1.0,
        milliseconds: milliseconds.ceil(),
    }
}

/// A batch of attempts, all at once but for the processor's part of them.
fn worker(scene: &Scene, load: Load) -> Runs {
    // Of a delivery's attempts some read and some queue another hint.
    let reads = scene.worker.count("dynamodb", "GetItem") / 2.0 / scene.hints;
    let hints = scene.worker.count("sqs", "SendMessageBatch") / scene.hints;
    let waits = DESTINATION_MS + TABLE_WRITE_MS + reads * TABLE_READ_MS + hints * QUEUE_SEND_MS;
    // Hints of retries come in batches of their own; such a batch waits for the last of them.
    let retries = f64::from(scene.retries);
    let waited = EARLY_MS * load.batch / (load.batch + 1.0) * retries / (1.0 + retries);
    Runs {
        count: scene.hints / load.batch,
        milliseconds: (waits + waited + load.batch * own_ms(scene)).ceil(),
    }
}

fn own_ms(scene: &Scene) -> f64 {
    OWN_MS + OWN_MS_PER_MEGABYTE * f64::from(scene.body_bytes) / MEGABYTE
}

/// Both walks see each event; the fold reads what the table's stream tells of it, as many records at once as a read gives
/// and at least once in each shard and minute, and writes one transaction for each read.
fn keeping(both: &Sum, of_events: &OfEvents, load: Load) -> Keeping {
    let events = load.events_per_second * 60.0;
    let full = (events * both.stream_records / READ_RECORDS)
        .max(events * both.stream_bytes / READ_BYTES)
        .ceil();
    let reads = full.max(SHARDS) / events;
    let queries = of_events.walk_queries;
    let milliseconds =
        queries / WALK_AT_ONCE * TABLE_READ_MS + reads * (TABLE_READ_MS + TABLE_WRITE_MS);
    Keeping {
        queries,
        transactions: reads,
        dollars: READ_UNIT.of(of_events.walk_read_units)
            + WRITE_UNIT.of(reads * of_events.fold_write_units)
            + STREAM_READ.of(reads)
            + GIGABYTE_SECOND.of(milliseconds / 1000.0 * MEMORY),
    }
}

/// What warm processes read for themselves, by event. The hints of one event come at once: as many batches are dealt with
/// side by side, each by a process of its own.
fn by_time(scene: &Scene, counted: &Counted, load: Load, ingress: Runs, worker: Runs) -> f64 {
    let at_once = (f64::from(scene.destinations) / load.batch).ceil();
    let workers = worker.processes(load.events_per_second).max(at_once);
    let (_, of_ingress) = of_a_busy_process(&counted.upkeep.ingress);
    let (_, of_worker) = of_a_busy_process(&counted.upkeep.worker);
    let all = ingress.processes(load.events_per_second) * of_ingress + workers * of_worker;
    all / (load.events_per_second * 60.0)
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::{Value, json};

    use super::super::prices::LOADS;
    use super::*;

    fn sum(calls: &Value, writes: f64, queue: f64) -> Value {
        json!({
            "calls": calls, "write_units": writes, "read_units": 0.0, "reported_units": writes,
            "queue_requests": queue, "request_bytes": 100, "answer_bytes": 10, "stored_bytes": 0,
            "stream_records": 0, "stream_bytes": 0,
        })
    }

    /// What was counted of the usual event, in round figures.
    pub(in super::super) fn sample() -> Counted {
        // Only the ingress has secrets to read: those of the sources.
        let mut own = sum(&json!({ "dynamodb": { "GetItem": 2 } }), 0.0, 0.0);
        own["read_units"] = json!(2.0);
        let mut of_ingress = own.clone();
        of_ingress["calls"]["secretsmanager"] = json!({ "GetSecretValue": 4 });
        let put = json!({ "dynamodb": { "PutItem": 1 }, "sqs": { "SendMessageBatch": 1 } });
        let mut counted = json!({
            "scenes": [{
                "destinations": 3, "body_bytes": 1024, "retries": 0,
                "ingress": sum(&put, 3.0, 1.0),
                "worker": sum(&json!({ "dynamodb": { "UpdateItem": 3 } }), 3.0, 0.0),
                "hints": 3, "hint_bytes": 7000, "out_bytes": 0, "log_lines": 4, "log_bytes": 0,
            }],
            "upkeep": { "ingress": of_ingress, "worker": own },
            "minutes": {
                "idle": sum(&json!({}), 3.0, 2.0), "upkeep": own, "log_lines": 1, "log_bytes": 200,
                "of_events": [{
                    "destinations": 3, "walk_queries": 2.0, "walk_read_units": 1.0, "fold_write_units": 10.0,
                }],
            },
        });
        let mut of_page = sum(
            &json!({
                "dynamodb": { "GetItem": 20, "Query": 10 }, "dynamodb-streams": { "GetRecords": 10 },
                "sqs": { "GetQueueAttributes": 10 },
            }),
            0.0,
            10.0,
        );
        of_page["read_units"] = json!(30.0);
        counted["pages"] = json!([
            { "seen": "nothing", "refreshes": 10, "sum": of_page, "out_bytes": 10_240 },
        ]);
        serde_json::from_value(counted).expect("as the program prints it")
    }

    fn near(found: f64, due: f64) -> bool {
        (found - due).abs() < 0.000_5
    }

    #[test]
    fn units_and_requests_are_charged_by_the_price_list() {
        let counted = sample();
        let [many, few] = LOADS.map(|load| {
            let billed = Billed::of(&counted.scenes[0], &counted, load);
            billed.expect("billed").bill
        });
        for bill in [many, few] {
            assert!(
                near(bill.gateway, 1.0) && near(bill.table, 6.0 * 0.625),
                "{bill:?}"
            );
            let beside = 4.0 * 26.0 * 0.5 / 1024.0 / 1.024 / 1.024;
            assert!(near(bill.logs, beside), "{bill:?}");
        }
        // A send; of three hints ten or one at once are received and removed.
        assert!(near(many.queues, 0.5 * (1.0 + 0.3 * 2.0)), "{many:?}");
        assert!(near(few.queues, 0.5 * (1.0 + 3.0 * 2.0)), "{few:?}");
        let seconds = |ms: f64| 0.000_013_333_4 * 0.5 * ms / 1000.0 * 1e6;
        let own: f64 = 60.0 / 1024.0;
        let put = 0.2 + seconds((16.0 + own).ceil() + 0.25);
        let alone = 0.2 + seconds((58.0 + own).ceil() + 0.25);
        assert!(near(few.functions, put + 3.0 * alone), "{few:?}");
        let ten = 0.2 + seconds((85.0 + own * 10.0).ceil() + 0.25);
        assert!(near(many.functions, put + 0.3 * ten), "{many:?}");
    }

    #[test]
    fn a_batch_of_retries_waits_until_the_last_of_them_is_due() {
        let counted = sample();
        let mut scene = counted.scenes[0].clone();
        scene.retries = 1;
        let [many, few] = LOADS.map(|load| {
            let without = worker(&counted.scenes[0], load).milliseconds;
            worker(&scene, load).milliseconds - without
        });
        assert!(
            (few - 250.0).abs() <= 1.0 && (many - 455.0).abs() <= 1.0,
            "{few} {many}"
        );
    }

    #[test]
    fn few_events_share_what_each_minute_costs_among_them() {
        let counted = sample();
        let [many, few] =
            LOADS.map(|load| Billed::of(&counted.scenes[0], &counted, load).expect("billed"));
        // Four shards are written down each minute, for 60 events or for 3,000.
        let fold = |billed: &Billed<'_>| billed.keeper["dynamodb"]["TransactWriteItems"];
        assert!(near(fold(&few), 4.0 / 60.0) && near(fold(&many), 4.0 / 3000.0));
        assert!(few.bill.keeper > many.bill.keeper);
        // One process of ingress, and one of the worker for each hint: of reads 24 a minute each, of secrets 4 the first alone.
        let minute = 4.0 * 24.0 * 0.125 + 4.0 * 5.0;
        assert!(near(few.bill.by_time, minute / 60.0), "{few:?}");
        assert!(!few.bill.lines().iter().any(|(name, _)| *name == "by_time"));
    }

    #[test]
    fn a_stream_of_big_events_takes_more_reads() {
        let counted = sample();
        let mut scene = counted.scenes[0].clone();
        scene.ingress.stream_bytes = 0.5 * 1024.0 * 1024.0;
        let billed = Billed::of(&scene, &counted, LOADS[1]).expect("billed");
        assert!(near(billed.keeper["dynamodb-streams"]["GetRecords"], 0.5));
    }
}
