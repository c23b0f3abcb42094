//! Stripe: `Stripe-Signature: t=…,v1=…`, HMAC-SHA256 in hex over `t`, a full stop and the raw body. The secret is
//! text, its `whsec_` included. Any `v1` may match; `v0` and unknown names never do. Id and kind stand in the body.

use http::HeaderMap;
use serde::Deserialize;

use super::{Claim, Draft, Encoding, Identity, Key, Scheme, header, text_key};
use crate::refusal::{Reason, Unreadable};

/// The row of the scheme table.
pub const SCHEME: Scheme = Scheme {
    name: "stripe",
    encoding: Encoding::Hex,
    key: text_key,
    claim,
    identify,
    sign,
};

const SIGNATURE: &str = "stripe-signature";

fn claim(headers: &HeaderMap) -> Result<Claim, Reason> {
    let value = header::signed(headers, SIGNATURE)?;
    let malformed = |why| Reason::MalformedHeader {
        header: SIGNATURE,
        why,
    };
    let mut time: Option<&str> = None;
    let mut signatures = Vec::new();
    for (name, text) in value
        .split(',')
        .filter_map(|element| element.split_once('='))
    {
        match (name, time) {
            // The same t serves the signature and the age; two of them are a trick or two headers joined on the way.
            (name, Some(_)) if name.trim_start() == "t" => {
                return Err(malformed("it holds more than one time (t=)"));
            }
            ("t", _) => time = Some(text),
            ("v1", _) => signatures.push(text.to_owned()),
            _ => {}
        }
    }
    let time = time.ok_or(malformed("it holds no time (t=)"))?;
    if signatures.is_empty() {
        return Err(malformed("it holds no v1 signature"));
    }
    let before = format!("{time}.").into_bytes();
    Ok(Claim {
        header: SIGNATURE,
        signatures,
        before,
        time: Some(header::time(time, SIGNATURE)?),
    })
}

/// The two fields that are read of a body; everything beside them is passed over unread, however deep it nests.
#[derive(Deserialize)]
struct Fields {
    id: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
}

fn identify(_headers: &HeaderMap, body: &[u8]) -> Result<Identity, Unreadable> {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    let fields: Fields = serde_json::from_slice(body).map_err(|_| Unreadable::BodyNotReadable)?;
    let id = fields.id.ok_or(Unreadable::BodyWithoutId)?;
    let kind = header::kind(&fields.kind.unwrap_or_default())?;
    Ok(Identity {
        sender_id: header::sender_id(&id)?,
        kind,
    })
}

fn sign(key: &Key, draft: &Draft<'_>) -> Vec<(&'static str, String)> {
    let time = draft.now.seconds();
    let signature = Encoding::Hex.encode(&key.sign(format!("{time}.").as_bytes(), draft.body));
    vec![(SIGNATURE, format!("t={time},v1={signature}"))]
}
