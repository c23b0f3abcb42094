//! The services behind the functions: a table that holds the settings and the configuration, queues, and secrets. Every
//! write succeeds and nothing is kept of it but the hints that are sent: a measurement delivers each of them once.

use std::sync::{Arc, Mutex};

use http::{Request, StatusCode};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use serde_json::{Value, json};

use super::marks::Marks;
use crate::lock::locked;
use crate::serve::{Answer, answer};

/// The services.
pub(crate) struct Aws {
    marks: Arc<Marks>,
    configuration: String,
    secret: String,
    hints: Mutex<Vec<String>>,
    unknown: Mutex<Vec<String>>,
}

impl Aws {
    /// Services whose table holds this configuration, and whose every secret is `secret`.
    pub(crate) fn new(marks: Arc<Marks>, configuration: String, secret: String) -> Self {
        Self {
            marks,
            configuration,
            secret,
            hints: Mutex::default(),
            unknown: Mutex::default(),
        }
    }

    /// The hints that were sent since the last time.
    pub(crate) fn take_hints(&self) -> Vec<String> {
        std::mem::take(&mut *locked(&self.hints))
    }

    /// What was asked for that is not served.
    pub(crate) fn unknown(&self) -> Vec<String> {
        locked(&self.unknown).clone()
    }

    /// Answers a request.
    pub(crate) async fn answer(self: Arc<Self>, request: Request<Incoming>) -> Answer {
        let named = request.headers().get("x-amz-target");
        let named = named.and_then(|named| named.to_str().ok());
        let operation = named
            .and_then(|named| named.rsplit_once('.'))
            .map(|(_, operation)| operation.to_owned())
            .unwrap_or_default();
        let body = request.into_body().collect().await;
        let asked = body.ok().and_then(|body| {
            let asked: Value = serde_json::from_slice(&body.to_bytes()).ok()?;
            Some(asked)
        });
        let asked = asked.unwrap_or_default();
        self.marks.note(what(&operation, &asked));
        if let Some(told) = self.told(&operation, &asked) {
            return answer(StatusCode::OK, told.to_string());
        }
        locked(&self.unknown).push(operation);
        let error = json!({ "__type": "ValidationException", "message": "it is not served" });
        answer(StatusCode::BAD_REQUEST, error.to_string())
    }

    fn told(&self, operation: &str, asked: &Value) -> Option<Value> {
        match operation {
            "GetItem" => Some(match key(asked) {
                "configuration" => json!({ "Item": self.configuration_item() }),
                "settings" => json!({ "Item": settings_item() }),
                _ => json!({}),
            }),
            "PutItem" | "UpdateItem" | "ChangeMessageVisibility" => Some(json!({})),
            "SendMessage" => Some(json!({ "MessageId": "m", "MD5OfMessageBody": "" })),
            "SendMessageBatch" => Some(self.queue(asked)),
            "GetSecretValue" => Some(json!({ "SecretString": self.secret })),
            _ => None,
        }
    }

    fn configuration_item(&self) -> Value {
        json!({
            "pk": { "S": "S" },
            "sk": { "S": "configuration" },
            "v": { "N": "1" },
            "vr": { "N": "1" },
            "tx": { "S": self.configuration },
            "at": { "N": "1767225600000" },
        })
    }

    fn queue(&self, asked: &Value) -> Value {
        let entries = asked.get("Entries").and_then(Value::as_array);
        let entries = entries.map(Vec::as_slice).unwrap_or_default();
        let bodies = entries.iter().filter_map(|entry| {
            let body = entry.get("MessageBody")?.as_str()?;
            Some(body.to_owned())
        });
        locked(&self.hints).extend(bodies);
        let sent = entries.iter().map(
            |entry| json!({ "Id": entry.get("Id"), "MessageId": "m", "MD5OfMessageBody": "" }),
        );
        json!({ "Successful": sent.collect::<Vec<_>>(), "Failed": [] })
    }
}

/// The settings of a Switchboard that has stored events and seen deliveries fail before, and where nothing is held.
fn settings_item() -> Value {
    json!({
        "pk": { "S": "S" },
        "sk": { "S": "settings" },
        "v": { "N": "1" },
        "vr": { "N": "1" },
        "js": { "S": r#"{"endpoint":null,"held":[],"releases":{}}"# },
        "srcs": { "SS": ["code"] },
        "dsts": { "SS": ["beside", "healthy"] },
    })
}

/// The place in its partition of the item that is asked for.
fn key(asked: &Value) -> &str {
    let sort = asked.pointer("/Key/sk/S");
    sort.and_then(Value::as_str).unwrap_or_default()
}

/// An operation, with what it is about where several are alike.
fn what(operation: &str, asked: &Value) -> String {
    match (operation, key(asked)) {
        ("GetItem", about @ ("configuration" | "settings")) => format!("{operation} {about}"),
        _ => operation.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn aws() -> Aws {
        let marks = Arc::new(Marks::new());
        Aws::new(marks, "the text".to_owned(), "a secret".to_owned())
    }

    #[test]
    fn every_entry_of_a_batch_is_answered_for_and_its_hint_given_once() {
        let aws = aws();
        let asked = json!({ "Entries": [
            { "Id": "0", "MessageBody": "first" },
            { "Id": "1", "MessageBody": "second" },
        ]});
        let told = aws.told("SendMessageBatch", &asked).expect("served");
        assert_eq!(told["Successful"][1]["Id"], "1");
        assert_eq!(aws.take_hints(), ["first", "second"]);
        assert!(aws.take_hints().is_empty());
    }

    #[test]
    fn the_table_holds_the_configuration_and_the_settings_and_nothing_else() {
        let aws = aws();
        let get = |sort: &str| {
            let asked = json!({ "Key": { "pk": { "S": "S" }, "sk": { "S": sort } } });
            let told = aws.told("GetItem", &asked).expect("served");
            (what("GetItem", &asked), told)
        };
        let (what, told) = get("configuration");
        assert_eq!(what, "GetItem configuration");
        assert_eq!(told["Item"]["tx"]["S"], "the text");
        let (what, told) = get("settings");
        assert_eq!(what, "GetItem settings");
        assert_eq!(told["Item"]["srcs"]["SS"], json!(["code"]));
        assert_eq!(get("anything"), ("GetItem".to_owned(), json!({})));
        assert_eq!(aws.told("Scan", &json!({})), None);
    }
}
