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
const HIDDEN: [&str; 15] = [
    "assertion",
    "auth",
    "bearer",
    "cookie",
    "credential",
    "hmac",
    "jwt",
    "key",
    "oidc",
    "pass",
    "proof",
    "secret",
    "session",
    "sig",
    "token",
];
/// So many letters and digits in a row are no word and no id of a sender's: a digest has 40 in hex, a key of 256 bits 43 in
/// base64.
const LONG: usize = 40;

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
            let value = (!is_hidden(name) && !is_opaque(value)).then(|| text(value));
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

/// Whether a value may be a proof or a key, whatever it is called.
fn is_opaque(value: &HeaderValue) -> bool {
    let is_of_one = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/_-".contains(byte);
    let mut runs = value.as_bytes().split(|byte| !is_of_one(byte));
    runs.any(|run| run.len() >= LONG && run.iter().any(u8::is_ascii_digit))
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
            "paypal-transmission-sig",
            "x-payload-sign",
            "x-amzn-oidc-data",
            "x-passcode",
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

    #[test]
    fn a_value_that_may_be_a_key_is_hidden_whatever_it_is_called() {
        for opaque in [
            "da39a3ee5e6b4b0d3255bfef95601890afd80709",
            "v=Xq4r3mGJ0nDkP1sYw8T5uEoZc7VbN2aLfHtRiKjQxMU=",
            "k8-3Jx_9Qw-ZrT5y-Lm2Np4-Vb7Hs6-Gd1Fa0Ku-Ce8",
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4ifQ.sflKx",
        ] {
            assert!(is_opaque(&HeaderValue::from_static(opaque)), "{opaque}");
        }
        for plain in [
            "application/vnd.shop.orders+json;charset=utf-8",
            "msg_2bN4mGJ0nDkP1sYw8T5uEoZc7Vb",
            "evt_1Q2xX2Eb5Fv4kbKVqkYp0w3n",
            "72d3162e-cc78-11e3-81ab-4c9367dc0958",
            "Mozilla/5.0 (compatible; Shop-Captain-Hook)",
            "an-identifier-of-many-words-that-has-no-digit-in-it-anywhere",
        ] {
            assert!(!is_opaque(&HeaderValue::from_static(plain)), "{plain}");
        }
    }
}
