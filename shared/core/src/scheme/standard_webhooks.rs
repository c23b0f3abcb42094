//! Standard Webhooks: HMAC-SHA256 in base64 over id, time and raw body with full stops between; the key is the base64
//! behind `whsec_`. Any `v1` of the space-separated list may match; `v1a` (ed25519) and unknown versions are passed
//! over. Senders on Svix spell the headers `svix-*`; a request is read by one set of names, never by a mixture.

use data_encoding::{BASE64, BASE64_NOPAD, BASE64URL, BASE64URL_NOPAD};
use http::HeaderMap;
use serde::Deserialize;

use super::{Claim, Draft, Encoding, Identity, Key, Scheme, SecretFault, header};
use crate::refusal::{Reason, Unreadable};
use crate::secret::Secret;

/// The row of the scheme table.
pub const SCHEME: Scheme = Scheme {
    name: "standard-webhooks",
    encoding: Encoding::Base64,
    key,
    claim,
    identify,
    sign,
};

/// What every secret of this scheme begins with; optional when one is read.
pub const PREFIX: &str = "whsec_";

/// Names of one spelling's headers.
struct Names {
    id: &'static str,
    time: &'static str,
    signature: &'static str,
}

const WEBHOOK: Names = Names {
    id: "webhook-id",
    time: "webhook-timestamp",
    signature: "webhook-signature",
};
const SVIX: Names = Names {
    id: "svix-id",
    time: "svix-timestamp",
    signature: "svix-signature",
};

/// Both spellings at once: `svix-*` wins, as in Svix's own libraries.
fn names(headers: &HeaderMap) -> &'static Names {
    if headers.contains_key(SVIX.signature) {
        &SVIX
    } else {
        &WEBHOOK
    }
}

/// Makes the key of a secret: base64, padded or not, with or without its prefix.
pub fn key(secret: &Secret) -> Result<Key, SecretFault> {
    let text = secret.expose().trim();
    if text.starts_with("v1,") {
        return Err(SecretFault::Versioned);
    }
    let encoded = text.strip_prefix(PREFIX).unwrap_or(text).as_bytes();
    let bytes = BASE64
        .decode(encoded)
        .or_else(|_| BASE64_NOPAD.decode(encoded));
    let url_safe = || {
        BASE64URL
            .decode(encoded)
            .or_else(|_| BASE64URL_NOPAD.decode(encoded))
            .is_ok()
    };
    match bytes {
        Ok(bytes) => Key::new(&bytes),
        Err(_) if url_safe() => Err(SecretFault::UrlSafe),
        Err(_) => Err(SecretFault::NotBase64),
    }
}

fn before(id: &str, time: &str) -> Vec<u8> {
    format!("{id}.{time}.").into_bytes()
}

fn claim(headers: &HeaderMap) -> Result<Claim, Reason> {
    let names = names(headers);
    let list = header::signed(headers, names.signature)?;
    let id = header::signed(headers, names.id)?;
    let time = header::signed(headers, names.time)?;
    if id.contains('.') {
        // Otherwise "a" at "100" with body "200.B" and "a.100" at "200" with body "B" are the same signed bytes.
        return Err(Reason::MalformedHeader {
            header: names.id,
            why: "an id with a full stop could be cut in two ways",
        });
    }
    let signatures: Vec<String> = list
        .split_ascii_whitespace()
        .filter_map(|part| part.strip_prefix("v1,"))
        .map(str::to_owned)
        .collect();
    if signatures.is_empty() {
        return Err(Reason::MalformedHeader {
            header: names.signature,
            why: "it holds no v1 signature",
        });
    }
    let seconds = header::time(&time, names.time)?;
    Ok(Claim {
        header: names.signature,
        signatures,
        before: before(&id, &time),
        time: Some(seconds),
    })
}

/// The one field that is read of a body.
#[derive(Deserialize)]
struct Fields {
    #[serde(rename = "type")]
    kind: Option<String>,
}

fn identify(headers: &HeaderMap, body: &[u8]) -> Result<Identity, Unreadable> {
    let name = names(headers).id;
    let id = header::naming(headers, name)?.ok_or(Unreadable::MissingHeader { header: name })?;
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    // The id is proven without the body, so a body without a readable type is kept as an event without a kind.
    let kind = serde_json::from_slice::<Fields>(body)
        .ok()
        .and_then(|fields| fields.kind)
        .unwrap_or_default();
    Ok(Identity {
        sender_id: header::sender_id(&id)?,
        kind: header::kind(&kind)?,
    })
}

fn sign(key: &Key, draft: &Draft<'_>) -> Vec<(&'static str, String)> {
    sign_with_all(std::slice::from_ref(key), draft)
}

/// The three headers of a delivery that Switchboard itself signs, with a signature of each key.
pub fn sign_with_all(keys: &[Key], draft: &Draft<'_>) -> Vec<(&'static str, String)> {
    let time = draft.now.seconds().to_string();
    let before = before(draft.id, &time);
    let signature = |key: &Key| {
        format!(
            "v1,{}",
            Encoding::Base64.encode(&key.sign(&before, draft.body))
        )
    };
    let signatures: Vec<String> = keys.iter().map(signature).collect();
    vec![
        (WEBHOOK.id, draft.id.to_owned()),
        (WEBHOOK.time, time),
        (WEBHOOK.signature, signatures.join(" ")),
    ]
}
