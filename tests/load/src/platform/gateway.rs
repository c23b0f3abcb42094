//! What functions are invoked with: a sender's request as the gateway writes it, and a batch as the queue does.

use bytes::Bytes;
use serde_json::{Value, json};

use crate::event;

/// Bytes of each body.
const BODY: usize = 1024;

/// A rightly signed event of a kind; its sender's id is `id`.
pub(super) fn posted(secret: &str, kind: &str, id: &str) -> Option<Bytes> {
    let body = event::body(0, BODY);
    let signature = event::signature(secret, &body)?;
    let body = String::from_utf8(body).ok()?;
    let posted = json!({
        "version": "2.0",
        "routeKey": "ANY /in/{proxy+}",
        "rawPath": "/in/code",
        "rawQueryString": "",
        "headers": {
            "content-type": "application/json",
            "host": "board.execute-api.example",
            "user-agent": "load",
            "x-github-event": kind,
            "x-github-delivery": id,
            "x-hub-signature-256": signature,
        },
        "requestContext": {
            "accountId": "000000000000",
            "apiId": "board",
            "domainName": "board.execute-api.example",
            "domainPrefix": "board",
            "http": {
                "method": "POST",
                "path": "/in/code",
                "protocol": "HTTP/1.1",
                "sourceIp": "192.0.2.1",
                "userAgent": "load",
            },
            "requestId": "request",
            "routeKey": "ANY /in/{proxy+}",
            "stage": "$default",
            "time": "01/Jan/2026:00:00:00 +0000",
            "timeEpoch": 1_767_225_600_000_u64,
        },
        "body": body,
        "isBase64Encoded": false,
    });
    Some(Bytes::from(posted.to_string()))
}

/// Hints that are received for the first time.
pub(super) fn batch(hints: &[String]) -> Bytes {
    let records = (0..).zip(hints).map(|(n, hint): (u32, _)| {
        json!({
            "messageId": format!("m-{n}"),
            "receiptHandle": format!("r-{n}"),
            "body": hint,
            "attributes": { "ApproximateReceiveCount": "1" },
            "messageAttributes": {},
            "eventSource": "aws:sqs",
        })
    });
    let records: Vec<Value> = records.collect();
    Bytes::from(json!({ "Records": records }).to_string())
}
