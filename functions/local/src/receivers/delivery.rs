//! A delivery as a receiver sees it: what Switchboard's headers say of it, and its bytes.

use bytes::Bytes;
use http::HeaderMap;
use percent_encoding::percent_decode;
use serde::Serialize;
use switchboard_core::attempt;
use switchboard_core::time::Timestamp;
use switchboard_receiver::{IdempotencyKey, KeyError};

/// Longest label that is kept, in characters.
const LONGEST_LABEL: usize = 255;

/// A short text to be shown: what a header or a field said, cut.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Label(String);

impl Label {
    /// Takes a text, cut to [`LONGEST_LABEL`] characters.
    pub(super) fn new(text: &str) -> Self {
        Self(text.chars().take(LONGEST_LABEL).collect())
    }

    /// The text.
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// A header's text, percent-decoded; empty where it is missing.
    fn of(headers: &HeaderMap, name: &str) -> Self {
        let bytes = headers
            .get(name)
            .map(http::HeaderValue::as_bytes)
            .unwrap_or_default();
        Self::new(&percent_decode(bytes).decode_utf8_lossy())
    }
}

impl std::fmt::Display for Label {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// A delivery that came.
#[derive(Clone, Debug)]
pub(super) struct Delivery {
    /// What its copies are known by.
    pub(super) key: IdempotencyKey,
    /// The event's id.
    pub(super) event: Label,
    /// Who sent the event.
    pub(super) source: Label,
    /// The sender's name for it.
    pub(super) kind: Label,
    /// What the receiver is asked to do with it.
    pub(super) action: Label,
    /// Which attempt this is, if it says so.
    pub(super) attempt: Option<u32>,
    /// When it came.
    pub(super) at: Timestamp,
    /// Its bytes.
    pub(super) body: Bytes,
}

impl Delivery {
    /// Reads a delivery; only its key is needed, the rest is for the book.
    pub(super) fn read(
        headers: &HeaderMap,
        key: IdempotencyKey,
        body: Bytes,
        at: Timestamp,
    ) -> Self {
        Self {
            key,
            event: Label::of(headers, "switchboard-event"),
            source: Label::of(headers, "switchboard-source"),
            kind: Label::of(headers, "switchboard-kind"),
            action: Label::of(headers, "switchboard-action"),
            attempt: Label::of(headers, "switchboard-attempt").0.parse().ok(),
            at,
            body,
        }
    }
}

/// Whether it is a test: answered like any other, and in no book. Switchboard hands no header of that name on from a sender.
pub(super) fn is_test(headers: &HeaderMap) -> bool {
    headers
        .get(attempt::TEST)
        .is_some_and(|value| value == "true")
}

/// The request's idempotency key; `None` when it has none.
pub(super) fn key(headers: &HeaderMap) -> Option<Result<IdempotencyKey, KeyError>> {
    let mut values = headers.get_all("idempotency-key").iter();
    let value = values.next()?;
    if values.next().is_some() {
        return Some(Err(KeyError));
    }
    Some(
        value
            .to_str()
            .map_err(|_| KeyError)
            .and_then(IdempotencyKey::parse),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;
    use switchboard_core::forward;

    #[test]
    fn what_switchboard_encoded_is_read_back() {
        let mut headers = HeaderMap::new();
        headers.insert("switchboard-kind", forward::encoded("größe 100%"));
        let key = IdempotencyKey::parse("dlv_a").expect("key");
        let delivery = Delivery::read(&headers, key, Bytes::new(), Timestamp::default());
        assert_eq!(delivery.kind.as_str(), "größe 100%");
        assert_eq!(
            delivery.event.as_str(),
            "",
            "a missing header is an empty label"
        );
    }

    #[test]
    fn a_key_stands_once_or_is_none() {
        let mut headers = HeaderMap::new();
        assert!(key(&headers).is_none());
        headers.append("idempotency-key", HeaderValue::from_static("dlv_a"));
        assert!(matches!(key(&headers), Some(Ok(_))));
        headers.append("idempotency-key", HeaderValue::from_static("dlv_b"));
        assert!(matches!(key(&headers), Some(Err(_))));
    }
}
