//! What a sender of Standard Webhooks posts: here a form on a website. The kind stands in the body.

use serde_json::{Value, json};

use super::{Sender, What};

pub(super) const SENDER: Sender = Sender {
    scheme: "standard-webhooks",
    usual_kind: "form.submitted",
    id: |unique| unique.text("msg_"),
    body,
    headers: |_| {
        vec![
            ("content-type", "application/json".to_owned()),
            ("user-agent", "Teahouse-Forms/1.4".to_owned()),
        ]
    },
};

fn body(what: &What<'_>) -> Value {
    json!({ "type": what.kind, "timestamp": what.now, "data": data(what) })
}

fn data(what: &What<'_>) -> Value {
    match what.kind.split_once('.') {
        Some(("form", _)) => json!({
            "form": "contact",
            "name": "José Ñúñez-Łukasiewicz",
            "email": "jose@example.org",
            "company": "Çay & Co.",
            "message": "Do you deliver to Kraków? – “As soon as possible”, please 🙏",
        }),
        _ => json!({ "id": what.unique.text("obj_") }),
    }
}
