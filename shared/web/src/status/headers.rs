//! What operators are shown of an event's headers: all names, and the values of those that carry no proof and no key. Those
//! of the last events are kept, so that an event's page, which is read again and again, does not read its body each time.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use http::header::CONTENT_TYPE;
use http::{HeaderName, HeaderValue};
use serde::Serialize;
use switchboard_core::event::Event;
use switchboard_core::identity::EventId;
use switchboard_core::time::Timestamp;

/// What stands in the name of a header whose value is nobody's to read.
const HIDDEN: [&str; 12] = [
    "auth",
    "bearer",
    "cookie",
    "credential",
    "hmac",
    "jwt",
    "key",
    "passw",
    "secret",
    "session",
    "signature",
    "token",
];

/// Events whose headers are kept.
const KEPT: usize = 16;

/// Headers as they are shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Told {
    /// Names and values in the order they came; no value where it is hidden.
    headers: Vec<(String, Option<String>)>,
    content_type: Option<String>,
}

impl Told {
    fn of(event: &Event) -> Self {
        let shown = |(name, value): (&HeaderName, &HeaderValue)| {
            let value = (!is_hidden(name)).then(|| text(value));
            (name.to_string(), value)
        };
        let mut kinds = event
            .headers
            .iter()
            .filter(|(name, _)| *name == CONTENT_TYPE);
        Self {
            headers: event.headers.iter().map(shown).collect(),
            content_type: kinds.next().map(|(_, value)| text(value)),
        }
    }
}

fn is_hidden(name: &HeaderName) -> bool {
    HIDDEN.iter().any(|part| name.as_str().contains(part))
}

fn text(value: &HeaderValue) -> String {
    String::from_utf8_lossy(value.as_bytes()).into_owned()
}

/// The headers of the events that were looked at last. An id may come to life again: when it was received tells which.
#[derive(Default)]
pub(super) struct KnownHeaders(Mutex<VecDeque<(EventId, Timestamp, Told)>>);

impl KnownHeaders {
    /// Those of an event, where they are kept.
    pub(super) fn of(&self, id: &EventId, at: Timestamp) -> Option<Told> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut known = known.iter();
        let found = known.find(|(of, received, _)| of == id && *received == at);
        found.map(|(_, _, told)| told.clone())
    }

    /// Keeps an event's, in the place of the oldest.
    pub(super) fn keep(&self, event: &Event) -> Told {
        let told = Told::of(event);
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|(of, _, _)| *of != event.id);
        known.truncate(KEPT.saturating_sub(1));
        known.push_front((event.id.clone(), event.received_at, told.clone()));
        told
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_carries_a_proof_or_a_key_is_hidden_and_nothing_else() {
        for hidden in [
            "stripe-signature",
            "x-hub-signature-256",
            "x-shopify-hmac-sha256",
            "webhook-signature",
            "x-auth-request",
            "x-api-key",
            "x-gitlab-token",
            "set-cookie",
            "x-client-secret",
        ] {
            assert!(is_hidden(&HeaderName::from_static(hidden)), "{hidden}");
        }
        for shown in [
            "content-type",
            "content-digest",
            "webhook-id",
            "webhook-timestamp",
            "x-github-event",
            "x-shopify-topic",
            "user-agent",
        ] {
            assert!(!is_hidden(&HeaderName::from_static(shown)), "{shown}");
        }
    }
}
