//! What Stripe posts: an event around the object that changed. Id and kind stand in the body.

use serde_json::{Value, json};

use super::{Sender, What};

pub(super) const SENDER: Sender = Sender {
    scheme: "stripe",
    usual_kind: "payment_intent.succeeded",
    id: |unique| unique.text("evt_1"),
    body,
    headers: |_| {
        vec![
            ("content-type", "application/json; charset=utf-8".to_owned()),
            (
                "user-agent",
                "Stripe/1.0 (+https://stripe.com/docs/webhooks)".to_owned(),
            ),
            ("accept", "*/*; q=0.5, application/xml".to_owned()),
            ("cache-control", "no-cache".to_owned()),
        ]
    },
};

fn body(what: &What<'_>) -> Value {
    json!({
        "id": what.id,
        "object": "event",
        "api_version": "2026-06-30.basil",
        "created": what.now.seconds(),
        "data": { "object": object(what) },
        "livemode": false,
        "pending_webhooks": 1,
        "request": { "id": what.unique.text("req_"), "idempotency_key": what.unique.uuid(2) },
        "type": what.kind,
    })
}

fn object(what: &What<'_>) -> Value {
    let unique = what.unique;
    match what.kind.rsplit_once('.') {
        Some(("payment_intent", change)) => json!({
            "id": unique.text("pi_3"),
            "object": "payment_intent",
            "amount": unique.cents(),
            "amount_received": if change == "succeeded" { unique.cents() } else { 0 },
            "created": what.now.seconds(),
            "currency": "eur",
            "customer": unique.text("cus_"),
            "description": "Teahouse order",
            "latest_charge": unique.text("ch_3"),
            "livemode": false,
            "metadata": { "order_id": unique.order().to_string() },
            "status": if change == "succeeded" { "succeeded" } else { "processing" },
        }),
        Some((object, _)) => json!({
            "id": unique.text("obj_"),
            "object": object,
            "created": what.now.seconds(),
            "livemode": false,
            "metadata": {},
        }),
        None => {
            json!({ "id": unique.text("obj_"), "object": what.kind, "livemode": false, "metadata": {} })
        }
    }
}
