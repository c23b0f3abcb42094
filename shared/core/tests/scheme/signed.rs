//! Requests as the four senders make them, signed over whatever text a test wants signed.

use hmac::{Hmac, KeyInit, Mac};
use http::{HeaderMap, HeaderName, HeaderValue};
use sha2::Sha256;
use switchboard_core::configuration::Source;
use switchboard_core::names::SourceName;
use switchboard_core::refusal::Reason;
use switchboard_core::scheme::{self, Checked, Encoding, Key, Scheme, SecretFault};
use switchboard_core::secret::Secret;
use switchboard_core::time::Timestamp;

/// The present of every test, in seconds since 1970.
pub(crate) const NOW: i64 = 1_764_446_400;
/// The secret of a source whose scheme uses it as text.
pub(crate) const TEXT: &str = "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";
/// The secret of a source whose scheme decodes it, and its key.
pub(crate) const WHSEC: &str = "whsec_AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA=";
pub(crate) const WHSEC_KEY: &[u8] = &[
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26,
    27, 28, 29, 30, 31, 32,
];
pub(crate) const BODY: &[u8] = br#"{"id":"evt_1","type":"payment_intent.succeeded"}"#;

pub(crate) const TEXT_SCHEMES: [&str; 3] = ["shopify", "stripe", "github"];
pub(crate) const SCHEMES: [&str; 4] = ["shopify", "stripe", "github", "standard-webhooks"];

pub(crate) fn named(scheme: &str) -> &'static Scheme {
    Scheme::named(scheme).expect("a scheme of that name")
}

/// A source with these secrets, or why it cannot be configured.
pub(crate) fn configured(
    name: &str,
    scheme: &str,
    secrets: &[&str],
) -> Result<Source, SecretFault> {
    let scheme = named(scheme);
    let keyed = secrets.iter().map(|text| {
        let secret = Secret::new(text).ok_or(SecretFault::Empty)?;
        let key = (scheme.key)(&secret)?;
        Ok((secret, key))
    });
    let keyed: Result<Vec<(Secret, Key)>, SecretFault> = keyed.collect();
    let name = SourceName::parse(name).expect("name");
    Ok(Source::new(name, scheme, keyed?))
}

pub(crate) fn source(scheme: &str) -> Source {
    let secret = if TEXT_SCHEMES.contains(&scheme) {
        TEXT
    } else {
        WHSEC
    };
    configured("source", scheme, &[secret]).expect("a usable secret")
}

/// The key that a sender makes of [`TEXT`] or [`WHSEC`].
pub(crate) fn senders_key(scheme: &str) -> &'static [u8] {
    if TEXT_SCHEMES.contains(&scheme) {
        TEXT.as_bytes()
    } else {
        WHSEC_KEY
    }
}

/// Headers in this order, a repeated name more than once; values outside ASCII as UTF-8.
pub(crate) fn headers(lines: &[(&str, &str)]) -> HeaderMap {
    let mut map = HeaderMap::new();
    for (name, value) in lines {
        let name = HeaderName::from_bytes(name.as_bytes()).expect("name");
        let value = HeaderValue::from_bytes(value.as_bytes()).expect("value");
        map.append(name, value);
    }
    map
}

/// The 32 bytes that `key` signs `parts` with, one after the other.
pub(crate) fn mac(key: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    // Made by the library itself, so that keys that are refused can sign too.
    let mac = Hmac::<Sha256>::new_from_slice(key).expect("a key");
    mac.chain_update(parts.concat())
        .finalize()
        .into_bytes()
        .into()
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    Encoding::Hex.encode(bytes)
}

pub(crate) fn base64(bytes: &[u8]) -> String {
    Encoding::Base64.encode(bytes)
}

/// The bytes that a sender of `scheme` signs of [`BODY`] at [`NOW`], under the id `msg_1`.
pub(crate) fn signature(scheme: &str, key: &[u8], body: &[u8]) -> [u8; 32] {
    let before = match scheme {
        "stripe" => format!("{NOW}."),
        "standard-webhooks" => format!("msg_1.{NOW}."),
        _ => String::new(),
    };
    mac(key, &[before.as_bytes(), body])
}

/// The headers of a request at [`NOW`] whose one signature is written as `written`.
pub(crate) fn carrying(scheme: &str, written: &str) -> HeaderMap {
    let time = NOW.to_string();
    match scheme {
        "shopify" => headers(&[
            ("X-Shopify-Hmac-Sha256", written),
            ("X-Shopify-Webhook-Id", "msg_1"),
        ]),
        "stripe" => headers(&[("Stripe-Signature", &format!("t={NOW},v1={written}"))]),
        "github" => headers(&[
            ("X-Hub-Signature-256", &format!("sha256={written}")),
            ("X-GitHub-Delivery", "msg_1"),
        ]),
        "standard-webhooks" => headers(&[
            ("webhook-id", "msg_1"),
            ("webhook-timestamp", &time),
            ("webhook-signature", &format!("v1,{written}")),
        ]),
        other => panic!("no sender of {other}"),
    }
}

/// The headers of a request that a sender with `key` signed.
pub(crate) fn signed(scheme: &str, key: &[u8], body: &[u8]) -> HeaderMap {
    let signature = signature(scheme, key, body);
    carrying(scheme, &named(scheme).encoding.encode(&signature))
}

pub(crate) fn check(source: &Source, headers: &HeaderMap, body: &[u8]) -> Result<Checked, Reason> {
    let now = Timestamp::from_seconds(NOW);
    scheme::verify(source.scheme, source.keys(), headers, body, now).map_err(|(reason, _)| reason)
}
