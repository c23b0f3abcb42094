//! Shopify: HMAC-SHA256 of the raw body in base64. The id is `X-Shopify-Webhook-Id`, which Shopify's own client code
//! names as the idempotency key; `X-Shopify-Event-Id` is shared by all deliveries that one action of a merchant causes.

use http::HeaderMap;

use super::{Claim, Draft, Encoding, Identity, Key, Scheme, header, text_key};
use crate::refusal::{Reason, Unreadable};

/// The row of the scheme table.
pub const SCHEME: Scheme = Scheme {
    name: "shopify",
    encoding: Encoding::Base64,
    key: text_key,
    claim,
    identify,
    sign,
};

/// Names of one product's headers.
struct Names {
    signature: &'static str,
    webhook_id: &'static str,
    event_id: &'static str,
    topic: &'static str,
}

const WEBHOOKS: Names = Names {
    signature: "x-shopify-hmac-sha256",
    webhook_id: "x-shopify-webhook-id",
    event_id: "x-shopify-event-id",
    topic: "x-shopify-topic",
};

/// The "Events" product names the same things without `X-`.
const EVENTS: Names = Names {
    signature: "shopify-hmac-sha256",
    webhook_id: "shopify-webhook-id",
    event_id: "shopify-event-id",
    topic: "shopify-topic",
};

fn names(headers: &HeaderMap) -> &'static Names {
    if headers.contains_key(EVENTS.signature) && !headers.contains_key(WEBHOOKS.signature) {
        &EVENTS
    } else {
        &WEBHOOKS
    }
}

fn claim(headers: &HeaderMap) -> Result<Claim, Reason> {
    let name = names(headers).signature;
    let signature = header::signed(headers, name)?;
    Ok(Claim {
        header: name,
        signatures: vec![signature],
        before: Vec::new(),
        time: None,
    })
}

fn identify(headers: &HeaderMap, _body: &[u8]) -> Result<Identity, Unreadable> {
    let names = names(headers);
    let topic = header::naming(headers, names.topic)?.unwrap_or_default();
    let kind = header::kind(&topic)?;
    if let Some(id) = header::unsigned_id(headers, names.webhook_id)? {
        return Ok(Identity {
            sender_id: header::sender_id(&id)?,
            kind,
        });
    }
    match header::unsigned_id(headers, names.event_id)? {
        Some(id) => Ok(Identity {
            sender_id: header::sender_id(&id)?.within(&topic),
            kind,
        }),
        None => Err(Unreadable::MissingHeader {
            header: names.webhook_id,
        }),
    }
}

fn sign(key: &Key, draft: &Draft<'_>) -> Vec<(&'static str, String)> {
    vec![
        (
            WEBHOOKS.signature,
            Encoding::Base64.encode(&key.sign(b"", draft.body)),
        ),
        (WEBHOOKS.webhook_id, draft.id.to_owned()),
        (WEBHOOKS.topic, draft.kind.to_owned()),
    ]
}
