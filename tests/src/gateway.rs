//! What the platform gives to a function and takes from it: a request as the gateway writes it, and a batch as the queue does.

use std::collections::BTreeMap;

use data_encoding::BASE64;
use http::HeaderMap;
use serde_json::{Value, json};

/// The gateway's own name.
pub const GATEWAY: &str = "board.execute-api.example";

/// A message of a batch.
#[derive(Clone, Debug)]
pub struct Record<'a> {
    /// What it is called when it is given back.
    pub id: &'a str,
    /// What it is removed by.
    pub receipt: &'a str,
    /// Its text.
    pub text: &'a str,
    /// How often it was received.
    pub receives: &'a str,
}

/// A body as the gateway writes it where it is no text.
pub fn encoded(body: &[u8]) -> (String, bool) {
    (BASE64.encode(body), true)
}

/// A body as the gateway writes it where it is text.
pub fn plain(body: &str) -> (String, bool) {
    (body.to_owned(), false)
}

/// What the gateway makes of a POST to a source.
pub fn posted(source: &str, headers: &HeaderMap, body: &(String, bool)) -> Value {
    asked("POST", &format!("/in/{source}"), headers, body)
}

/// What the gateway makes of a request.
pub fn asked(method: &str, path: &str, headers: &HeaderMap, body: &(String, bool)) -> Value {
    let mut lines: BTreeMap<&str, &str> = BTreeMap::from([("host", GATEWAY)]);
    for (name, value) in headers {
        lines.insert(name.as_str(), value.to_str().expect("text"));
    }
    json!({
        "version": "2.0",
        "routeKey": "ANY /{proxy+}",
        "rawPath": path,
        "rawQueryString": "",
        "headers": lines,
        "requestContext": {
            "accountId": "000000000000",
            "apiId": "board",
            "domainName": GATEWAY,
            "domainPrefix": "board",
            "http": {
                "method": method,
                "path": path,
                "protocol": "HTTP/1.1",
                "sourceIp": "192.0.2.1",
                "userAgent": "a sender",
            },
            "requestId": "request",
            "routeKey": "ANY /{proxy+}",
            "stage": "$default",
            "time": "01/Jan/2026:00:00:00 +0000",
            "timeEpoch": 1_767_225_600_000_u64,
        },
        "body": body.0,
        "isBase64Encoded": body.1,
    })
}

/// The body of an answer, as JSON.
pub fn body_of(answer: &Value) -> Value {
    let text = answer["body"].as_str().expect("a body");
    serde_json::from_str(text).expect("JSON")
}

/// A header of an answer.
pub fn header_of<'a>(answer: &'a Value, name: &str) -> Option<&'a str> {
    answer["headers"].get(name)?.as_str()
}

/// What the platform invokes the worker with.
pub fn batch<'a>(records: impl IntoIterator<Item = Record<'a>>) -> Value {
    let record = |record: Record<'_>| {
        json!({
            "messageId": record.id,
            "receiptHandle": record.receipt,
            "body": record.text,
            "attributes": { "ApproximateReceiveCount": record.receives },
            "messageAttributes": {},
            "eventSource": "aws:sqs",
        })
    };
    json!({ "Records": records.into_iter().map(record).collect::<Vec<_>>() })
}

/// The messages that a worker gave back.
pub fn given_back(answer: &Value) -> Vec<&str> {
    let all = answer["batchItemFailures"].as_array().expect("a list");
    let id = |one: &'_ Value| one["itemIdentifier"].as_str().map(str::len);
    assert!(all.iter().all(|one| id(one).is_some()), "{answer}");
    all.iter()
        .filter_map(|one| one["itemIdentifier"].as_str())
        .collect()
}
