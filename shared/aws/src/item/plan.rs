//! A plan as it is stored: JSON text of destination, action, and the milliseconds from the event's receipt to the first
//! attempt, as in `[["chat","post-line",0]]`.

use switchboard_core::delivery::DeliveryKey;
use switchboard_core::identity::{EventId, Run};
use switchboard_core::names::{ActionName, DestinationName};
use switchboard_core::ports::Queued;
use switchboard_core::time::Timestamp;

/// The text of a plan of an event that was received at `at`.
pub(crate) fn text(plan: &[Queued], at: Timestamp) -> String {
    let rows: Vec<(&str, &str, i64)> = plan
        .iter()
        .map(|queued| {
            let pause = queued.due.millis().saturating_sub(at.millis());
            (
                queued.key.destination.as_str(),
                queued.key.action.as_str(),
                pause,
            )
        })
        .collect();
    // Names and numbers: nothing that JSON cannot hold.
    serde_json::to_string(&rows).unwrap_or_default()
}

/// The plan of `run` of an event that was received at `at`; `None` when the text is none.
pub(crate) fn read(text: &str, event: &EventId, at: Timestamp, run: Run) -> Option<Vec<Queued>> {
    let rows: Vec<(String, String, i64)> = serde_json::from_str(text).ok()?;
    rows.into_iter()
        .map(|(destination, action, pause)| {
            let destination = DestinationName::parse(&destination).ok()?;
            let action = ActionName::parse(&action).ok()?;
            Some(Queued {
                key: DeliveryKey::of(event, destination, action, run),
                due: Timestamp::from_millis(at.millis().saturating_add(pause)),
            })
        })
        .collect()
}
