//! Answers of services that fail or want less of it, in the form that clients read.

use std::io::{Error, Result};

use serde_json::{Value, json};

use super::http::{self, Head};

/// That a service failed inside.
pub(super) fn broken(head: &Head) -> Vec<u8> {
    refused(500, head, "InternalServerError")
}

/// That a service takes no more now.
pub(super) fn throttled(head: &Head) -> Vec<u8> {
    let service = head.service();
    if service.starts_with("DynamoDB_") {
        refused(400, head, "ProvisionedThroughputExceededException")
    } else {
        refused(400, head, "ThrottlingException")
    }
}

fn refused(status: u16, head: &Head, kind: &str) -> Vec<u8> {
    let kind = format!("{}#{kind}", head.service());
    let said = json!({ "__type": kind, "message": "as the test wants" });
    http::answer(status, &said.to_string())
}

/// Passes a batch on without its last entry; the answer says of that one that it failed.
pub(super) fn without_last_entry(
    body: &[u8],
    mut pass: impl FnMut(&[u8]) -> Result<Vec<u8>>,
) -> Result<Vec<u8>> {
    let mut batch: Value = serde_json::from_slice(body).map_err(Error::other)?;
    let entries = batch.get_mut("Entries").and_then(Value::as_array_mut);
    let last = entries.and_then(|entries| Some((entries.pop()?, entries.len())));
    let Some((last, left)) = last else {
        return Err(Error::other("it is no batch"));
    };
    let mut said = json!({ "Successful": [], "Failed": [] });
    if left > 0 {
        let answer = pass(batch.to_string().as_bytes())?;
        said = serde_json::from_slice(http::body_of(&answer)).map_err(Error::other)?;
    }
    let id = last.get("Id").cloned().unwrap_or_default();
    let failed = json!({ "Id": id, "Code": "InternalError", "SenderFault": false });
    if let Some(said) = said.as_object_mut() {
        let all = said.entry("Failed").or_insert_with(|| json!([]));
        if let Some(all) = all.as_array_mut() {
            all.push(failed);
        }
    }
    Ok(http::answer(200, &said.to_string()))
}
