//! Waiting for what a measurement waits for, with a deadline.

use std::time::Duration;

use serde_json::Value;

use crate::clock::Stopwatch;
use crate::command::Failure;
use crate::process::{Process, number};

/// How long a condition is waited for.
const DEADLINE: Duration = Duration::from_mins(10);

/// Waits until something holds, and gives it.
pub(crate) fn until<T>(
    what: &str,
    mut holds: impl FnMut() -> Result<Option<T>, Failure>,
) -> Result<T, Failure> {
    let waited = Stopwatch::start();
    while waited.read() < DEADLINE {
        if let Some(value) = holds()? {
            return Ok(value);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Err(Failure(format!("it never held that {what}")))
}

/// Waits until a total of a Switchboard is at least so much.
pub(crate) fn until_total(of: &Process, name: &str, least: u32) -> Result<(), Failure> {
    until(&format!("{name} is {least}"), || {
        let overview = of.json("/api/overview")?;
        let total = number(&overview, &format!("/totals/{name}"))?;
        Ok((total >= f64::from(least)).then_some(()))
    })
}

/// What came to each path of a sink, once it was so many requests in all.
pub(crate) fn until_counted(sink: &Process, requests: u32) -> Result<Value, Failure> {
    until(&format!("{requests} requests came"), || {
        let counts = sink.json("/counts")?;
        let all = counts.as_object().map_or(0.0, |paths| {
            paths
                .values()
                .filter_map(|path| number(path, "/requests").ok())
                .sum()
        });
        Ok((all >= f64::from(requests)).then_some(counts))
    })
}
