//! One second of a soak: what the binary held of the machine and how long it took.

use std::path::Path;

use serde_json::Value;

use crate::command::Failure;
use crate::process::{Process, number};

/// A second. Sizes in MB, times in milliseconds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sample {
    pub(crate) memory: f64,
    pub(crate) handles: f64,
    pub(crate) threads: f64,
    pub(crate) answer_p50: Option<f64>,
    pub(crate) answer_p99: Option<f64>,
    pub(crate) arrival_p50: Option<f64>,
    pub(crate) arrival_p99: Option<f64>,
    pub(crate) log_size: f64,
    pub(crate) database_size: f64,
}

#[expect(clippy::cast_precision_loss, reason = "shown, and compared roughly")]
fn count(number: usize) -> f64 {
    number as f64
}

#[expect(clippy::cast_precision_loss, reason = "shown, and compared roughly")]
fn megabytes(file: &Path) -> f64 {
    // A log that is not there is empty.
    std::fs::metadata(file).map_or(0.0, |file| file.len() as f64 / 1e6)
}

impl Sample {
    /// Looks at a Switchboard with its data folder; `answers` are the percentiles of what it answered in this second,
    /// and `counts` what came to its destinations.
    pub(crate) fn of(
        switchboard: &Process,
        data: &Path,
        answers: &Value,
        counts: &Value,
    ) -> Result<Self, Failure> {
        let folder = format!("/proc/{}/fd", switchboard.id());
        let handles = std::fs::read_dir(&folder)
            .map_err(|cause| Failure(format!("{folder}: {cause}")))?
            .count();
        let status = switchboard.book("status")?;
        let threads = status
            .lines()
            .find_map(|line| line.strip_prefix("Threads:")?.trim().parse().ok());
        let healthy = counts.get("/healthy").unwrap_or(&Value::Null);
        Ok(Self {
            memory: switchboard.resident()?,
            handles: count(handles),
            threads: threads.ok_or_else(|| Failure("its threads cannot be read".to_owned()))?,
            answer_p50: number(answers, "/p50_ms").ok(),
            answer_p99: number(answers, "/p99_ms").ok(),
            arrival_p50: number(healthy, "/under_way/p50_ms").ok(),
            arrival_p99: number(healthy, "/under_way/p99_ms").ok(),
            log_size: megabytes(&data.join("switchboard.sqlite-wal")),
            database_size: megabytes(&data.join("switchboard.sqlite")),
        })
    }
}
