//! Sample events: what each built-in scheme's sender would post, with the headers that it sends and rightly signed.
//! Each scheme is one file and one row of the table.

use http::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use switchboard_core::forward;
use switchboard_core::scheme::{Draft, Key, Scheme};
use switchboard_core::time::Timestamp;

mod github;
mod shopify;
mod standard_webhooks;
mod stripe;
mod unique;

use unique::Unique;

/// What one scheme's sender posts.
struct Sender {
    /// The scheme's name.
    scheme: &'static str,
    /// The kind that the built-in sample routes.
    usual_kind: &'static str,
    /// The id it would give an event.
    id: fn(&Unique) -> String,
    /// The body it would send for a kind; a plausible one for a kind that has no sample of its own.
    body: fn(&What<'_>) -> Value,
    /// The headers it would send beside signature, id and kind.
    headers: fn(&What<'_>) -> Vec<(&'static str, String)>,
}

const SENDERS: [&Sender; 4] = [
    &shopify::SENDER,
    &stripe::SENDER,
    &github::SENDER,
    &standard_webhooks::SENDER,
];

/// What a body or headers are made of.
struct What<'a> {
    id: &'a str,
    kind: &'a str,
    now: Timestamp,
    unique: &'a Unique,
}

/// An event that is not signed yet.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    /// The sender's id.
    pub(crate) id: String,
    /// The sender's name for what happened.
    pub(crate) kind: String,
    /// The bytes.
    pub(crate) body: Vec<u8>,
    /// What the sender sends beside signature, id and kind.
    pub(crate) headers: HeaderMap,
}

/// The sender of a scheme; one without a row is taken for Standard Webhooks, whose body says the least.
fn sender(scheme: &Scheme) -> &'static Sender {
    SENDERS
        .into_iter()
        .find(|sender| sender.scheme == scheme.name)
        .unwrap_or(&standard_webhooks::SENDER)
}

/// The kind that the built-in sample routes for this scheme.
pub(crate) fn usual_kind(scheme: &Scheme) -> &'static str {
    sender(scheme).usual_kind
}

/// An event of that kind, as its sender would post it. Two with different `unique` bytes are two events; the order
/// that a payment is for is the one made of the same bytes. A body of the user's `own` is taken as it is: where a
/// scheme has id or kind in the body (Stripe both, Standard Webhooks the kind), what stands in it counts.
pub(crate) fn sample(
    scheme: &Scheme,
    kind: &str,
    now: Timestamp,
    unique: [u8; 16],
    own: Option<Vec<u8>>,
) -> Sample {
    let (sender, unique) = (sender(scheme), Unique::new(unique));
    let id = (sender.id)(&unique);
    let what = What {
        id: &id,
        kind,
        now,
        unique: &unique,
    };
    let body = own.unwrap_or_else(|| (sender.body)(&what).to_string().into_bytes());
    let mut headers = HeaderMap::new();
    for (name, text) in (sender.headers)(&what) {
        headers.insert(HeaderName::from_static(name), value(&text));
    }
    Sample {
        id,
        kind: kind.to_owned(),
        body,
        headers,
    }
}

/// All headers of the sample, signed at `now`.
pub(crate) fn signed(scheme: &Scheme, key: &Key, sample: &Sample, now: Timestamp) -> HeaderMap {
    let mut headers = sample.headers.clone();
    let draft = Draft {
        id: &sample.id,
        kind: &sample.kind,
        now,
        body: &sample.body,
    };
    for (name, text) in (scheme.sign)(key, &draft) {
        headers.insert(HeaderName::from_static(name), value(&text));
    }
    headers
}

/// A text as a header's value; percent-encoded where it could not stand in one.
fn value(text: &str) -> HeaderValue {
    HeaderValue::from_bytes(text.as_bytes()).unwrap_or_else(|_| forward::encoded(text))
}

#[cfg(test)]
mod tests;
