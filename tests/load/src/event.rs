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
