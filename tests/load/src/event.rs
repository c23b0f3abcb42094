//! The events that are posted: of the `github` scheme, whose sender's id is a header, so that one signature serves for
//! many events.

use data_encoding::HEXLOWER;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// The kind of all of them.
pub(crate) const KIND: &str = "push";

/// The HMAC-SHA256 of a body.
pub(crate) fn mac(secret: &str, body: &[u8]) -> Option<Hmac<Sha256>> {
    let mut mac = Hmac::new_from_slice(secret.as_bytes()).ok()?;
    mac.update(body);
    Some(mac)
}

/// The value of the signature header.
pub(crate) fn signature(secret: &str, body: &[u8]) -> Option<String> {
    let mac = mac(secret, body)?.finalize().into_bytes();
    Some(format!("sha256={}", HEXLOWER.encode(&mac)))
}

/// A body of `length` bytes that says when it was sent; 0 when that is not asked for.
pub(crate) fn body(sent_ns: u64, length: usize) -> Vec<u8> {
    let mut body = format!(r#"{{"sent_ns":{sent_ns:020},"text":""#).into_bytes();
    body.resize(length.saturating_sub(2).max(body.len()), b'x');
    body.extend_from_slice(br#""}"#);
    body
}

/// A request that posts an event.
pub(crate) struct Request<'a> {
    /// Host and port.
    pub(crate) to: &'a str,
    pub(crate) path: &'a str,
    pub(crate) kind: &'a str,
    /// The sender's id.
    pub(crate) id: &'a str,
    pub(crate) signature: &'a str,
    pub(crate) body: &'a [u8],
}

impl Request<'_> {
    /// The request as it goes out.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let Self {
            to,
            path,
            kind,
            id,
            signature,
            body,
        } = self;
        let mut request = format!(
            "POST {path} HTTP/1.1\r\nhost: {to}\r\ncontent-type: application/json\r\nuser-agent: load\r\n\
             x-github-event: {kind}\r\nx-github-delivery: {id}\r\nx-hub-signature-256: {signature}\r\n\
             content-length: {}\r\n\r\n",
            body.len(),
        )
        .into_bytes();
        request.extend_from_slice(body);
        request
    }
}

/// When a body was sent, if it says so.
pub(crate) fn sent_ns(body: &[u8]) -> Option<u64> {
    let digits = body.strip_prefix(br#"{"sent_ns":"#)?.get(..20)?;
    let sent: u64 = std::str::from_utf8(digits).ok()?.parse().ok()?;
    (sent > 0).then_some(sent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_has_its_length_and_says_when_it_was_sent() {
        let body = body(1_790_000_000_123_456_789, 1024);
        assert_eq!(body.len(), 1024);
        assert_eq!(sent_ns(&body), Some(1_790_000_000_123_456_789));
        assert_eq!(sent_ns(&super::body(0, 64)), None);
    }
}
