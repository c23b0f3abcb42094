//! A minute of the keeper: with nothing to do, and with an hour of events to walk over and to fold. What an event adds to it
//! is the difference.

use serde::Serialize;
use serde_json::json;
use switchboard_testkit::emulator::Emulator;
use switchboard_tests::setting::SOURCES;

use crate::board::{Board, KINDS, Running, SOURCE};
use crate::call::{Call, Cause, Sum};
use crate::past;

/// How often is counted at most.
const COUNTS: u32 = 5;

/// What the keeper asks for.
#[derive(Clone, Debug, Serialize)]
pub struct Minutes {
    /// In a minute with nothing to do, when every source was used before.
    pub idle: Sum,
    /// What it reads for itself.
    pub upkeep: Sum,
    /// Lines of its log in a minute.
    pub log_lines: usize,
    /// Bytes of them.
    pub log_bytes: usize,
    /// What events add to it, by how many destinations they go to.
    pub of_events: Vec<OfEvents>,
}

/// What events add.
#[derive(Clone, Debug, Serialize)]
pub struct OfEvents {
    /// To how many destinations each of them went.
    pub destinations: usize,
    /// Queries of both walks for one event.
    pub walk_queries: f64,
    /// Read units of these, with what the pages of the walks grow by.
    pub walk_read_units: f64,
    /// Write units of one transaction of the fold, with the counters of a full hour.
    pub fold_write_units: f64,
}

/// Counts all of it.
pub async fn count(emulator: &Emulator) -> Minutes {
    let mut minutes = anew(async || idle(emulator).await).await;
    for (destinations, _) in KINDS {
        minutes.of_events.push(events(emulator, destinations).await);
    }
    minutes
}

/// What an event to so many destinations adds.
pub async fn events(emulator: &Emulator, destinations: usize) -> OfEvents {
    anew(async || behind_an_hour(emulator, destinations).await).await
}

/// Counts until the machine was not too busy for it.
async fn anew<T>(count: impl AsyncFn() -> Option<T>) -> T {
    for _ in 0..COUNTS {
        if let Some(counted) = count().await {
            return counted;
        }
    }
    panic!(
        "in {COUNTS} minutes some call was not answered in time: the machine is too busy to count"
    )
}

async fn idle(emulator: &Emulator) -> Option<Minutes> {
    let board = Board::start(emulator).await;
    for (source, ..) in SOURCES {
        past::fill(&board, source, 1).await;
    }
    run(&board.function("keeper").await).await?;
    // The hour was folded by another process: this one reads for itself once.
    let keeper = board.function("keeper").await;
    let first = run(&keeper).await?;
    let before = keeper.lambda.text();
    let idle = run(&keeper).await?;
    let log = keeper.lambda.text().split_off(before.len());
    Some(Minutes {
        idle: Sum::of(&idle, Cause::Work),
        upkeep: Sum::of(&first, Cause::Upkeep),
        log_lines: log.lines().count(),
        log_bytes: log.len(),
        of_events: Vec::new(),
    })
}

async fn behind_an_hour(emulator: &Emulator, destinations: usize) -> Option<OfEvents> {
    let board = Board::start(emulator).await;
    past::fill(&board, SOURCE, destinations).await;
    let keeper = board.function("keeper").await;
    let busy = run(&keeper).await?;
    let idle = run(&keeper).await?;
    let queries = |calls: &[Call]| Sum::all(calls.iter().filter(|call| call.operation == "Query"));
    let (with, without) = (queries(&busy), queries(&idle));
    let more = with.count("dynamodb", "Query") - without.count("dynamodb", "Query");
    let folds = busy
        .iter()
        .filter(|call| call.operation == "TransactWriteItems");
    let units = folds.map(|call| call.billed.writes).fold(0.0, f64::max);
    Some(OfEvents {
        destinations,
        walk_queries: f64::from(more) / f64::from(past::EVENTS),
        walk_read_units: (with.read_units - without.read_units) / f64::from(past::EVENTS),
        fold_write_units: units,
    })
}

/// One run, as the schedule begins it. `None` where a call was not answered in time.
async fn run(keeper: &Running) -> Option<Vec<Call>> {
    drop(keeper.counter.take());
    let scheduled = json!({ "source": "aws.events" });
    keeper.lambda.invoke(&scheduled).await.answer();
    let lines = keeper.lambda.lines();
    let kept = lines.iter().rfind(|line| line["message"] == "kept");
    let kept = kept.expect("a run ends with its line");
    assert_eq!(kept["without_record"], 0, "nothing was lost: {kept}");
    let calls = keeper.counter.take();
    let is_whole = kept["failed"] == 0 && calls.iter().all(|call| call.attempt == 1);
    is_whole.then_some(calls)
}
