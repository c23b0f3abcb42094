//! An alert as it is posted: a JSON object without a body, a secret or an address.

use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use serde::Serialize;

use super::{Alert, Standing, Trouble};
use crate::address::Address;
use crate::configuration::TIME_LIMIT;
use crate::identity::AlertId;
use crate::names::DestinationName;
use crate::ports::Outgoing;
use crate::time::{self, Timestamp};

/// Version of the object; what has another meaning gets another number, what is added does not.
const VERSION: u32 = 1;

/// The object, its members in the order they are written in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Message {
    version: u32,
    alert: &'static str,
    id: AlertId,
    destination: DestinationName,
    /// When this was written; on a further attempt a later moment, and the numbers as of then.
    at: Timestamp,
    raised_at: Timestamp,
    recovered_at: Option<Timestamp>,
    dead_letters: u32,
    waiting: u64,
    held: u64,
    oldest_waiting_s: Option<u64>,
    text: String,
}

impl Message {
    /// What `alert` says at `now`; `after` is how long a delivery may wait.
    pub fn new(alert: Alert, standing: &Standing, now: Timestamp, after: Duration) -> Self {
        let (raised_at, recovered_at) = match alert {
            Alert::Raised(_, at) => (at, None),
            Alert::Recovered(recovered) => (recovered.raised_at, Some(recovered.at)),
        };
        let oldest = standing.waiting_since.map(|since| now.since(since));
        Self {
            version: VERSION,
            alert: alert.kind(),
            id: alert.id(&standing.destination),
            destination: standing.destination.clone(),
            at: now,
            raised_at,
            recovered_at,
            dead_letters: standing.dead_letters,
            waiting: standing.waiting,
            held: standing.held,
            oldest_waiting_s: oldest.map(|oldest| oldest.as_secs()),
            text: text(alert, standing, oldest.unwrap_or_default(), after),
        }
    }

    /// The request that tells it. Its key is the alert's id: the same alert told twice is known by it.
    pub fn request(&self, address: &Address) -> Option<Outgoing> {
        let body = serde_json::to_vec(self).ok()?;
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let key = HeaderValue::from_str(self.id.as_str()).ok()?;
        headers.insert(HeaderName::from_static("idempotency-key"), key);
        Some(Outgoing {
            address: address.clone(),
            // It has no certificates of its own, as your endpoint has none.
            destination: DestinationName::your_endpoint(),
            headers,
            body: Bytes::from(body),
            time_limit: TIME_LIMIT,
        })
    }
}

/// The sentence for a person.
fn text(alert: Alert, standing: &Standing, oldest: Duration, after: Duration) -> String {
    let name = &standing.destination;
    let many = if standing.dead_letters == Standing::COUNTED {
        "at least "
    } else {
        ""
    };
    let numbers = format!(
        "{many}{} dead, {} waiting, {} held",
        standing.dead_letters, standing.waiting, standing.held
    );
    match alert {
        Alert::Raised(Trouble::DeadLetter, _) => format!(
            "{name} has a dead letter: no attempt is left, and it waits to be sent again ({numbers})."
        ),
        Alert::Raised(Trouble::WaitingTooLong, _) => format!(
            "{name} is behind: its oldest waiting delivery waits for {}, over the limit of {} ({numbers}).",
            span(oldest),
            span(after)
        ),
        Alert::Recovered(recovered) => format!(
            "{name} has recovered after {}: no dead letter is left, and nothing waits for too long ({numbers}).",
            span(recovered.at.since(recovered.raised_at))
        ),
    }
}

/// A span in whole seconds, as a person reads it.
fn span(span: Duration) -> String {
    time::span(Duration::from_secs(span.as_secs()))
}
