//! Schemes: how senders sign. Each scheme is one file and one row of [`ALL`]; checking a signature over the raw
//! bytes, trying each secret, and the limit on time are the same for all of them and stand here.

use std::time::Duration;

use hmac::{Hmac, KeyInit, Mac};
use http::HeaderMap;
use sha2::Sha256;

use crate::names::{Kind, SenderId};
use crate::refusal::{Reason, Unreadable};
use crate::secret::Secret;
use crate::time::Timestamp;

pub mod github;
pub mod header;
pub mod near_miss;
pub mod shopify;
pub mod standard_webhooks;
pub mod stripe;

/// How far a signed time may lie from ours, either way, inclusive (Stripe's and Standard Webhooks' own limit).
pub const TOLERANCE: Duration = Duration::from_mins(5);
/// Keys shorter than this, in bytes, are warned of.
pub const SHORTEST_SAFE_KEY: usize = 16;

/// Length of a signature, in bytes: what is shorter or longer is of the wrong form, not a wrong value.
const SIGNATURE_BYTES: usize = 32;

/// Every scheme there is.
pub const ALL: [&Scheme; 4] = [
    &shopify::SCHEME,
    &stripe::SCHEME,
    &github::SCHEME,
    &standard_webhooks::SCHEME,
];

/// How one kind of sender signs, names and identifies its events.
#[derive(Debug)]
pub struct Scheme {
    /// Its name in configurations.
    pub name: &'static str,
    /// How its signatures are written.
    pub encoding: Encoding,
    /// Makes the key of a secret as its owner pasted it.
    pub key: fn(&Secret) -> Result<Key, SecretFault>,
    /// Reads what a request claims: the signatures, and what was signed besides the body.
    pub claim: fn(&HeaderMap) -> Result<Claim, Reason>,
    /// Reads the sender's id and the kind of a request whose signature held.
    pub identify: fn(&HeaderMap, &[u8]) -> Result<Identity, Unreadable>,
    /// Writes the headers that a sender would send: the signature and whatever carries id and kind.
    pub sign: fn(&Key, &Draft<'_>) -> Vec<(&'static str, String)>,
}

impl Scheme {
    /// The scheme of that name.
    pub fn named(name: &str) -> Option<&'static Self> {
        ALL.into_iter().find(|scheme| scheme.name == name)
    }
}

impl PartialEq for Scheme {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// Why a secret cannot be used. None of these texts holds any of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SecretFault {
    /// Nothing is left to sign with.
    #[error("is empty, or nothing but zeros")]
    Empty,
    /// Not base64.
    #[error("is not base64, with or without whsec_ before it")]
    NotBase64,
    /// base64 of the other alphabet, or a plain text that could be it.
    #[error(
        "is not base64: - and _ stand in plain text and in url-safe base64; give it in base64 with + and /"
    )]
    UrlSafe,
    /// The text of a signature header in front of it.
    #[error("begins with \"v1,\": give only what follows, from whsec_ on")]
    Versioned,
}

/// A signing key, ready to use.
#[derive(Clone)]
pub struct Key {
    mac: Hmac<Sha256>,
    length: usize,
}

impl Key {
    /// A key of these bytes.
    pub fn new(bytes: &[u8]) -> Result<Self, SecretFault> {
        // HMAC fills a short key up with zeros, so a key of zeros is the empty key, which anyone can sign with.
        if bytes.iter().all(|byte| *byte == 0) {
            return Err(SecretFault::Empty);
        }
        let mac = Hmac::<Sha256>::new_from_slice(bytes).map_err(|_| SecretFault::Empty)?;
        Ok(Self {
            mac,
            length: bytes.len(),
        })
    }

    /// Whether the key is shorter than what is safe.
    pub fn is_short(&self) -> bool {
        self.length < SHORTEST_SAFE_KEY
    }

    fn over(&self, before: &[u8], body: &[u8]) -> Hmac<Sha256> {
        let mut mac = self.mac.clone();
        mac.update(before);
        mac.update(body);
        mac
    }

    /// The signature over `before` and `body`, one after the other.
    pub fn sign(&self, before: &[u8], body: &[u8]) -> [u8; SIGNATURE_BYTES] {
        self.over(before, body).finalize().into_bytes().into()
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(…)")
    }
}

/// The key of a secret that is used as text.
fn text_key(secret: &Secret) -> Result<Key, SecretFault> {
    Key::new(secret.expose().as_bytes())
}

/// How a scheme writes bytes as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Hexadecimal, either case.
    Hex,
    /// Standard base64 with padding.
    Base64,
}

impl Encoding {
    /// The bytes behind `text`; `None` when it is not of this encoding.
    pub fn decode(self, text: &str) -> Option<Vec<u8>> {
        match self {
            Self::Hex => data_encoding::HEXLOWER_PERMISSIVE
                .decode(text.as_bytes())
                .ok(),
            Self::Base64 => data_encoding::BASE64.decode(text.as_bytes()).ok(),
        }
    }

    /// `bytes` as text.
    pub fn encode(self, bytes: &[u8]) -> String {
        match self {
            Self::Hex => data_encoding::HEXLOWER.encode(bytes),
            Self::Base64 => data_encoding::BASE64.encode(bytes),
        }
    }
}

/// What a request claims to be signed with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The header the signatures stood in.
    pub header: &'static str,
    /// The signatures as written, of the version that counts.
    pub signatures: Vec<String>,
    /// What was signed before the body.
    pub before: Vec<u8>,
    /// The signed time, in seconds since 1970, where the scheme has one.
    pub time: Option<i64>,
}

/// The sender's id and the kind of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The sender's id: what a repeat is known by.
    pub sender_id: SenderId,
    /// The sender's name for what happened.
    pub kind: Kind,
}

/// What is to be signed as a sender would.
#[derive(Clone, Copy, Debug)]
pub struct Draft<'a> {
    /// The sender's id; for Stripe it already stands in the body.
    pub id: &'a str,
    /// The kind; for Stripe and Standard Webhooks it already stands in the body.
    pub kind: &'a str,
    /// The present.
    pub now: Timestamp,
    /// The raw bytes.
    pub body: &'a [u8],
}

/// How far the check came: what an operator is told of a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Checked {
    /// How many secrets were tried.
    pub secrets_tried: usize,
    /// Ours minus the sender's time, in seconds, where the request carried one.
    pub clock_distance_s: Option<i64>,
}

/// Checks a request's signature over its raw bytes, before anything of the body is parsed. The signed time is judged
/// after the signature, so that the reason of a refusal tells a late request from a forged one.
pub fn verify(
    scheme: &Scheme,
    keys: &[Key],
    headers: &HeaderMap,
    body: &[u8],
    now: Timestamp,
) -> Result<Checked, (Reason, Checked)> {
    let mut checked = Checked::default();
    let claim = (scheme.claim)(headers).map_err(|reason| (reason, checked))?;
    checked.clock_distance_s = claim.time.map(|time| now.seconds().saturating_sub(time));
    let signatures: Vec<Vec<u8>> = claim
        .signatures
        .iter()
        .filter_map(|text| scheme.encoding.decode(text))
        .filter(|signature| signature.len() == SIGNATURE_BYTES)
        .collect();
    if signatures.is_empty() {
        return Err((
            Reason::MalformedSignature {
                header: claim.header,
            },
            checked,
        ));
    }
    checked.secrets_tried = keys.len();
    if !keys
        .iter()
        .any(|key| holds(key, &claim.before, body, &signatures))
    {
        return Err((Reason::NoSecretMatched, checked));
    }
    let limit = TOLERANCE.as_secs();
    match checked.clock_distance_s {
        Some(distance) if distance.unsigned_abs() > limit => Err((Reason::TimeOutside, checked)),
        Some(_) | None => Ok(checked),
    }
}

/// Whether any of the signatures is the key's own. The comparison is the MAC's: whole digests, constant time.
fn holds(key: &Key, before: &[u8], body: &[u8], signatures: &[Vec<u8>]) -> bool {
    let mac = key.over(before, body);
    signatures
        .iter()
        .any(|signature| mac.clone().verify_slice(signature).is_ok())
}
