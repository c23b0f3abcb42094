//! GitHub: HMAC-SHA256 of the raw body in hex behind `sha256=`. The SHA-1 header beside it never counts. The id is
//! `X-GitHub-Delivery`, within `X-GitHub-Hook-ID` when that is present; a redelivery carries the same id.

use http::HeaderMap;

use super::{Claim, Draft, Encoding, Identity, Key, Scheme, header, text_key};
use crate::names::LONGEST_SENDER_ID;
use crate::refusal::{Reason, Unreadable};

/// The row of the scheme table.
pub const SCHEME: Scheme = Scheme {
    name: "github",
    encoding: Encoding::Hex,
    key: text_key,
    claim,
    identify,
    sign,
};

const SIGNATURE: &str = "x-hub-signature-256";
const DELIVERY: &str = "x-github-delivery";
const HOOK: &str = "x-github-hook-id";
const EVENT: &str = "x-github-event";
const PREFIX: &str = "sha256=";

fn claim(headers: &HeaderMap) -> Result<Claim, Reason> {
    let value = header::signed(headers, SIGNATURE)?;
    let Some(signature) = value.strip_prefix(PREFIX) else {
        return Err(Reason::MalformedHeader {
            header: SIGNATURE,
            why: "it does not begin with sha256=",
        });
    };
    Ok(Claim {
        header: SIGNATURE,
        signatures: vec![signature.to_owned()],
        before: Vec::new(),
        time: None,
    })
}

fn identify(headers: &HeaderMap, _body: &[u8]) -> Result<Identity, Unreadable> {
    let delivery = header::unsigned_id(headers, DELIVERY)?
        .ok_or(Unreadable::MissingHeader { header: DELIVERY })?;
    let kind = header::kind(&header::naming(headers, EVENT)?.unwrap_or_default())?;
    let sender_id = header::sender_id(&delivery)?;
    let sender_id = match header::unsigned_id(headers, HOOK)? {
        Some(hook) if hook.len() > LONGEST_SENDER_ID => return Err(Unreadable::IdLength),
        Some(hook) => sender_id.within(&hook),
        None => sender_id,
    };
    Ok(Identity { sender_id, kind })
}

fn sign(key: &Key, draft: &Draft<'_>) -> Vec<(&'static str, String)> {
    vec![
        (
            SIGNATURE,
            format!(
                "{PREFIX}{}",
                Encoding::Hex.encode(&key.sign(b"", draft.body))
            ),
        ),
        (DELIVERY, draft.id.to_owned()),
        (EVENT, draft.kind.to_owned()),
    ]
}
