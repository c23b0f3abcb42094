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

/// Passes only the last key of a batch that reads on; the answer says that the service did not come to the others.
pub(super) fn with_last_key_alone(
    body: &[u8],
    mut pass: impl FnMut(&[u8]) -> Result<Vec<u8>>,
) -> Result<Vec<u8>> {
    let mut batch: Value = serde_json::from_slice(body).map_err(Error::other)?;
    let tables = batch.get_mut("RequestItems").and_then(Value::as_object_mut);
    let table = tables.and_then(|tables| tables.iter_mut().next());
    let Some((name, asked)) = table.map(|(name, asked)| (name.clone(), asked)) else {
        return Err(Error::other("it is no batch"));
    };
    let mut open = asked.clone();
    let keys = open.get_mut("Keys").and_then(Value::as_array_mut);
    let Some((last, are_others)) = keys.and_then(|keys| Some((keys.pop()?, !keys.is_empty())))
    else {
        return Err(Error::other("it has no keys"));
    };
    if let Some(asked) = asked.as_object_mut() {
        asked.insert("Keys".to_owned(), json!([last]));
    }
    let answer = pass(batch.to_string().as_bytes())?;
    let mut said: Value = serde_json::from_slice(http::body_of(&answer)).map_err(Error::other)?;
    if let Some(said) = said.as_object_mut().filter(|_| are_others) {
        said.insert("UnprocessedKeys".to_owned(), json!({ name: open }));
    }
    Ok(http::answer(200, &said.to_string()))
}
