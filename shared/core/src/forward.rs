//! Which of the sender's headers go on to destinations, what is added, and how any text becomes a header value.

use std::borrow::Cow;

use http::header::{CONNECTION, HeaderMap, HeaderName, HeaderValue};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

use crate::attempt::Attempt;

/// Hop-by-hop headers (RFC 9110 section 7.6.1 and its forerunners) and those that would speak for the sender's
/// connection, credentials or route instead of ours.
const NOT_FORWARDED: [&str; 17] = [
    "authorization",
    "connection",
    "content-length",
    "cookie",
    "expect",
    "forwarded",
    "host",
    "idempotency-key",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "via",
];

/// Families of headers that are not forwarded.
const PREFIXES_NOT_FORWARDED: [&str; 3] = ["x-forwarded-", "x-amz", "switchboard-"];

/// Families that only a signed delivery drops, since it brings its own.
const SIGNATURE_PREFIXES: [&str; 2] = ["webhook-", "svix-"];

/// Everything outside visible ASCII, and the escape character itself.
const ENCODED: &AsciiSet = &CONTROLS.add(b' ').add(b'%');

/// Most headers of an event.
const MOST: usize = 64;
/// Most bytes that they come to.
const LONGEST: usize = 12 * 1024;

/// The sender's headers that go on, in the order they came, names in lower case.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct KeptHeaders(Vec<(HeaderName, HeaderValue)>);

impl KeptHeaders {
    /// Keeps what may go on of a request's headers.
    pub fn of(headers: &HeaderMap) -> Self {
        let named = named_in_connection(headers);
        let goes_on = |name: &HeaderName| {
            let name = name.as_str();
            !NOT_FORWARDED.contains(&name)
                && !PREFIXES_NOT_FORWARDED
                    .iter()
                    .any(|prefix| name.starts_with(prefix))
                && !named.iter().any(|other| other == name)
        };
        Self(
            headers
                .iter()
                .filter(|(name, _)| goes_on(name))
                .map(|(n, v)| (n.clone(), v.clone()))
                .collect(),
        )
    }

    /// The kept headers.
    pub fn iter(&self) -> impl Iterator<Item = (&HeaderName, &HeaderValue)> {
        self.0.iter().map(|(name, value)| (name, value))
    }

    /// Whether destinations take so many: the usual servers end at 100 headers, ours among them, and at 16 KiB of them, with what is added.
    pub(crate) fn fit(&self) -> bool {
        self.0.len() <= MOST && self.length() <= LONGEST
    }

    /// The length of [`Self::to_lines`].
    fn length(&self) -> usize {
        let lengths = self
            .0
            .iter()
            .map(|(name, value)| name.as_str().len() + value.len() + 3);
        lengths.sum()
    }

    /// One `name: value` line each, for the store; a header value never holds a line end.
    pub fn to_lines(&self) -> Vec<u8> {
        let mut lines = Vec::with_capacity(self.length());
        for (name, value) in &self.0 {
            lines.extend_from_slice(name.as_str().as_bytes());
            lines.extend_from_slice(b": ");
            lines.extend_from_slice(value.as_bytes());
            lines.push(b'\n');
        }
        lines
    }

    /// Reads what [`Self::to_lines`] wrote; a line that is no header is passed over.
    pub fn from_lines(lines: &[u8]) -> Self {
        let read = |line: &[u8]| {
            let colon = line.iter().position(|b| *b == b':')?;
            let (name, value) = line.split_at_checked(colon)?;
            let value = value.strip_prefix(b": ")?;
            Some((
                HeaderName::from_bytes(name).ok()?,
                HeaderValue::from_bytes(value).ok()?,
            ))
        };
        Self(lines.split(|b| *b == b'\n').filter_map(read).collect())
    }
}

/// Every name in `Connection`. It is read as bytes: beside one that is not text the others count all the same.
fn named_in_connection(headers: &HeaderMap) -> Vec<String> {
    headers
        .get_all(CONNECTION)
        .iter()
        .flat_map(|value| value.as_bytes().split(|byte| *byte == b','))
        .map(|name| String::from_utf8_lossy(name.trim_ascii()).to_ascii_lowercase())
        .collect()
}

/// Any text as a header value: bytes outside visible ASCII are percent-encoded.
pub fn encoded(text: &str) -> HeaderValue {
    let plain = Cow::from(utf8_percent_encode(text, ENCODED));
    HeaderValue::from_str(&plain).unwrap_or(HeaderValue::from_static(""))
}

/// Whether a delivery brings Standard Webhooks headers of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signed {
    /// It does: the sender's `webhook-*` and `svix-*` stay behind.
    Yes,
    /// It does not.
    No,
}

/// About how many headers an attempt gets from Switchboard and from HTTP itself.
const MOST_ADDED: usize = 12;

/// The headers of one attempt: the sender's, what Switchboard adds, and `own`, the destination's configured ones,
/// which win over the sender's of the same name.
pub fn outgoing(attempt: &Attempt, own: &HeaderMap, signed: Signed) -> HeaderMap {
    let kept = attempt.event.headers.0.len();
    let mut headers =
        HeaderMap::with_capacity(kept.saturating_add(own.len()).saturating_add(MOST_ADDED));
    for (name, value) in attempt.event.headers.iter() {
        let replaced = SIGNATURE_PREFIXES
            .iter()
            .any(|prefix| name.as_str().starts_with(prefix));
        if own.contains_key(name) || (signed == Signed::Yes && replaced) {
            continue;
        }
        headers.append(name.clone(), value.clone());
    }
    let added: [(&'static str, &str); 6] = [
        ("idempotency-key", attempt.key.id.as_str()),
        ("switchboard-event", attempt.event.id.as_str()),
        ("switchboard-source", attempt.event.source.as_str()),
        ("switchboard-kind", attempt.event.kind.as_str()),
        ("switchboard-action", attempt.key.action.as_str()),
        ("switchboard-attempt", &attempt.number.to_string()),
    ];
    for (name, value) in added {
        headers.insert(HeaderName::from_static(name), encoded(value));
    }
    for (name, value) in own {
        headers.insert(name.clone(), value.clone());
    }
    headers
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(lines: &[(&str, &str)]) -> HeaderMap {
        lines
            .iter()
            .map(|(n, v)| {
                (
                    HeaderName::from_bytes(n.as_bytes()).expect("name"),
                    HeaderValue::from_str(v).expect("value"),
                )
            })
            .collect()
    }

    #[test]
    fn what_belongs_to_the_senders_connection_or_credentials_stays_behind() {
        let came = map(&[
            ("Connection", "x-foo, Keep-Alive"),
            ("X-Foo", "1"),
            ("Keep-Alive", "5"),
            ("TE", "trailers"),
            ("Trailer", "x"),
            ("Transfer-Encoding", "chunked"),
            ("Upgrade", "h2c"),
            ("Expect", "100-continue"),
            ("Host", "in"),
            ("Content-Length", "3"),
            ("Cookie", "a=b"),
            ("Authorization", "Bearer x"),
            ("Forwarded", "for=1"),
            ("X-Forwarded-For", "1"),
            ("X-Amzn-Trace-Id", "r"),
            ("Idempotency-Key", "theirs"),
            ("Switchboard-Event", "fake"),
            ("Proxy-Authorization", "x"),
            ("Content-Type", "application/json; charset=utf-8"),
            ("X-Shopify-Topic", "orders/create"),
        ]);
        let kept: Vec<_> = KeptHeaders::of(&came)
            .iter()
            .map(|(n, _)| n.as_str().to_owned())
            .collect();
        assert_eq!(kept, ["content-type", "x-shopify-topic"]);
    }

    #[test]
    fn a_name_in_connection_counts_beside_one_that_is_not_text() {
        let mut came = map(&[("x-foo", "1"), ("x-bar", "2")]);
        let value = HeaderValue::from_bytes(b"\xff, X-Foo").expect("value");
        came.insert(CONNECTION, value);
        let kept = KeptHeaders::of(&came);
        let names: Vec<_> = kept.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["x-bar"]);
    }

    #[test]
    fn kept_headers_survive_the_store_byte_for_byte() {
        let mut came = map(&[("a", "1"), ("b", "with: colon "), ("c", "")]);
        came.append("a", HeaderValue::from_bytes(&[0xe4, 0xff]).expect("value"));
        let kept = KeptHeaders::of(&came);
        assert_eq!(KeptHeaders::from_lines(&kept.to_lines()), kept);
        assert_eq!(
            KeptHeaders::from_lines(b"no colon\n\n:\n"),
            KeptHeaders::default()
        );
    }

    #[test]
    fn a_text_from_a_sender_cannot_add_a_header() {
        assert_eq!(encoded("x\r\nX-Evil: 1"), "x%0D%0AX-Evil:%201");
        assert_eq!(encoded("größe 100%\0"), "gr%C3%B6%C3%9Fe%20100%25%00");
    }
}
