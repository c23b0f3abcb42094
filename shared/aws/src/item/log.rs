//! The kept attempts of a delivery as JSON text.

use serde::{Deserialize, Serialize};
use switchboard_core::delivery::{AttemptRecord, Verdict};
use switchboard_core::time::Timestamp;

/// An attempt as it is stored: the record's own fields, its moment in milliseconds since 1970.
#[derive(Serialize, Deserialize)]
struct Stored {
    number: u32,
    at: i64,
    duration_ms: u64,
    outcome: Verdict,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    detail: String,
}

/// The text of a log.
pub(crate) fn text(log: &[AttemptRecord]) -> String {
    let stored: Vec<Stored> = log
        .iter()
        .map(|record| Stored {
            number: record.number,
            at: record.at.millis(),
            duration_ms: record.duration_ms,
            outcome: record.outcome,
            status: record.status,
            detail: record.detail.clone(),
        })
        .collect();
    // Numbers and texts: nothing that JSON cannot hold.
    serde_json::to_string(&stored).unwrap_or_default()
}

/// The log of a text; `None` when it is none.
pub(crate) fn read(text: &str) -> Option<Vec<AttemptRecord>> {
    let stored: Vec<Stored> = serde_json::from_str(text).ok()?;
    let record = |stored: Stored| AttemptRecord {
        number: stored.number,
        at: Timestamp::from_millis(stored.at),
        duration_ms: stored.duration_ms,
        outcome: stored.outcome,
        status: stored.status,
        detail: stored.detail,
    };
    Some(stored.into_iter().map(record).collect())
}
