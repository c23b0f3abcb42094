//! What the platform gives to a function and takes from it: a request as the gateway writes it, and a batch as the queue does.

use std::collections::BTreeMap;

use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use data_encoding::BASE64;
use http::header::{COOKIE, HOST, SET_COOKIE};
use http::{HeaderMap, HeaderName, HeaderValue, Request, StatusCode};
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

/// What the gateway makes of a whole request of somebody's. Cookies stand apart, and the host is its own.
pub fn taken(request: &Request<Bytes>) -> Value {
    let mut headers = request.headers().clone();
    headers.remove(HOST);
    let cookies = headers.remove(COOKIE);
    let (method, uri) = (request.method().as_str(), request.uri());
    let mut event = asked(method, uri.path(), &headers, &encoded(request.body()));
    event["rawQueryString"] = json!(uri.query().unwrap_or_default());
    if let Some(cookies) = cookies {
        let cookies = cookies.to_str().expect("text").split("; ");
        event["cookies"] = cookies.collect();
    }
    event
}

/// What the gateway answers where a function answered that.
pub fn given(answer: &Value) -> Response {
    let status = answer["statusCode"].as_u64().expect("a status");
    let status = u16::try_from(status).ok().map(StatusCode::from_u16);
    let text = answer["body"].as_str().unwrap_or_default();
    let body = match answer["isBase64Encoded"].as_bool() {
        Some(true) => BASE64.decode(text.as_bytes()).expect("base64"),
        Some(false) | None => text.as_bytes().to_vec(),
    };
    let mut response = (status.expect("a status").expect("a status"), body).into_response();
    let headers = response.headers_mut();
    headers.clear();
    let value = |text: &Value| -> HeaderValue {
        let text = text.as_str().expect("a text");
        text.parse().expect("a value")
    };
    for (name, text) in answer["headers"].as_object().into_iter().flatten() {
        let name: HeaderName = name.parse().expect("a name");
        headers.append(name, value(text));
    }
    for cookie in answer["cookies"].as_array().into_iter().flatten() {
        headers.append(SET_COOKIE, value(cookie));
    }
    response
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
