//! What an open page asks for: its refreshes, each two seconds behind the last, while nothing waits and while something does.

use std::time::Duration;

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue};
use serde::Serialize;
use serde_json::Value;
use switchboard_testkit::emulator::Emulator;
use switchboard_tests::board::TOKEN;
use switchboard_tests::gateway::{asked, plain};
use switchboard_tests::setting::SOURCES;
use switchboard_tests::wait;

use crate::board::{Board, DESTINATIONS, KINDS, Running, posted};
use crate::call::Sum;
use crate::past;

/// Between two of them, as the page has it.
const EVERY: Duration = Duration::from_secs(2);
/// The first, which also fold what is there, and are not counted.
const FIRST: u32 = 3;
/// Those that are counted: as long as what is kept for the longest time is kept, twice.
const COUNTED: u32 = 10;

/// What is to be seen on the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Seen {
    /// Everything was delivered.
    Nothing,
    /// An event waits, for each of twelve destinations.
    Waiting,
}

/// An open page.
#[derive(Clone, Debug, Serialize)]
pub struct Open {
    /// What is to be seen on it.
    pub seen: Seen,
    /// How often it was read anew.
    pub refreshes: u32,
    /// What all of them asked for.
    pub sum: Sum,
    /// Bytes of all answers to the page.
    pub out_bytes: usize,
}

/// Counts both.
pub async fn count(emulator: &Emulator) -> Vec<Open> {
    let mut pages = Vec::new();
    for seen in [Seen::Nothing, Seen::Waiting] {
        pages.push(open(emulator, seen).await);
    }
    pages
}

/// Counts one.
pub async fn open(emulator: &Emulator, seen: Seen) -> Open {
    let board = Board::start(emulator).await;
    for (source, ..) in SOURCES {
        past::fill(&board, source, DESTINATIONS.len()).await;
    }
    if seen == Seen::Waiting {
        let (_, kind) = KINDS[KINDS.len() - 1];
        let ingress = board.function("ingress").await;
        let event = posted("b54557e4-bdd9-4b37-8a5f-ffffffffffff", kind, "{}");
        let answer = ingress.lambda.invoke(&event).await.answer();
        assert_eq!(answer["statusCode"], 200, "{answer}");
    }
    let status = board.function("status").await;
    for _ in 0..FIRST {
        refresh(&status).await;
    }
    drop(status.counter.take());
    let mut out_bytes = 0;
    for _ in 0..COUNTED {
        out_bytes += refresh(&status).await;
    }
    Open {
        seen,
        refreshes: COUNTED,
        sum: Sum::all(&status.counter.take()),
        out_bytes,
    }
}

/// One of them: the bytes of its answer.
async fn refresh(status: &Running) -> usize {
    let mut headers = HeaderMap::new();
    let token = HeaderValue::from_str(&format!("Bearer {TOKEN}")).expect("a value");
    headers.insert(AUTHORIZATION, token);
    let request: Value = asked("GET", "/api/overview", &headers, &plain(""));
    let answer = status.lambda.invoke(&request).await.answer();
    assert_eq!(answer["statusCode"], 200, "{}", status.lambda.text());
    wait::between(EVERY).await;
    answer["body"].as_str().map_or(0, str::len)
}
