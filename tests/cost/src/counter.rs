//! What counts the calls of a function, before the emulator: it reads every request and its answer. A function that is told
//! its address as that of the services makes the same calls as ever; it is not asked for anything that production does not ask.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode};
use serde_json::{Value, json};
use switchboard_tests::front::{Behind, Front};

use crate::call::{Billed, Call, Cause};
use crate::images::{self, Writes};

/// Where a request says which operation it is.
const TARGET: HeaderName = HeaderName::from_static("x-amz-target");
/// Where the SDK says which attempt it is: `attempt=1; max=3`.
const ATTEMPT: HeaderName = HeaderName::from_static("amz-sdk-request");

/// The services, by how the name of an operation begins.
const SERVICES: [(&str, &str); 4] = [
    (DYNAMODB, "dynamodb"),
    ("DynamoDBStreams_20120810", "dynamodb-streams"),
    ("AmazonSQS", "sqs"),
    ("secretsmanager", "secretsmanager"),
];
const DYNAMODB: &str = "DynamoDB_20120810";

/// It, listening. It ends when this is dropped.
#[derive(Debug)]
pub struct Counter {
    front: Front,
    heard: Arc<Heard>,
}

#[derive(Debug, Default)]
struct Heard {
    calls: Mutex<Vec<Call>>,
    faults: Mutex<Vec<String>>,
}

impl Counter {
    /// Starts one before an emulator.
    pub async fn start(emulator: SocketAddr) -> Self {
        let heard = Arc::new(Heard::default());
        let own = Arc::clone(&heard);
        let front = Front::heard(emulator, move |behind, request| {
            let heard = Arc::clone(&own);
            async move { heard.answer(behind, request).await }
        });
        Self {
            front: front.await,
            heard,
        }
    }

    /// As an endpoint URL.
    pub fn url(&self) -> &str {
        self.front.url.as_str().trim_end_matches('/')
    }

    /// The calls since it was asked last.
    pub fn take(&self) -> Vec<Call> {
        let faults = self.heard.faults.lock();
        let faults = faults.unwrap_or_else(PoisonError::into_inner);
        assert!(faults.is_empty(), "not every call is counted: {faults:?}");
        let calls = self.heard.calls.lock();
        std::mem::take(&mut *calls.unwrap_or_else(PoisonError::into_inner))
    }
}

/// The services themselves, asked by whoever made a request.
pub(crate) struct Upstream {
    behind: Behind,
    authorization: HeaderValue,
}

impl Upstream {
    /// An operation of DynamoDB that nobody counts.
    pub(crate) async fn ask(&self, operation: &str, input: &Value) -> Value {
        let target = HeaderValue::from_str(&format!("{DYNAMODB}.{operation}"));
        let mut request = Request::new(Bytes::from(input.to_string()));
        *request.method_mut() = Method::POST;
        let json = HeaderValue::from_static("application/x-amz-json-1.0");
        let headers = request.headers_mut();
        headers.insert(TARGET, target.expect("a name"));
        headers.insert(AUTHORIZATION, self.authorization.clone());
        headers.insert(CONTENT_TYPE, json);
        let answer = self.behind.ask(request).await.expect("an answer");
        let (status, body) = (answer.status(), answer.body());
        let text = String::from_utf8_lossy(body);
        assert!(status.is_success(), "{operation} {input}: {status} {text}");
        serde_json::from_str(&text).expect("JSON")
    }
}

impl Heard {
    async fn answer(&self, behind: Behind, request: Request<Bytes>) -> Response {
        match self.counted(behind, request).await {
            Ok(answer) => answer.map(Body::from).into_response(),
            Err(why) => {
                let faults = self.faults.lock();
                let mut faults = faults.unwrap_or_else(PoisonError::into_inner);
                faults.push(why.clone());
                (StatusCode::BAD_GATEWAY, why).into_response()
            }
        }
    }

    async fn counted(
        &self,
        behind: Behind,
        mut request: Request<Bytes>,
    ) -> Result<http::Response<Bytes>, String> {
        let (service, operation) = named(request.headers())?;
        let authorization = request.headers().get(AUTHORIZATION);
        let upstream = Upstream {
            behind: behind.clone(),
            authorization: authorization.ok_or("nobody signed a request")?.clone(),
        };
        let sent = request.body().len();
        let asked: Value =
            serde_json::from_slice(request.body()).map_err(|_| format!("{operation}: no JSON"))?;
        let is_table = service == "dynamodb";
        let mut writes = None;
        if is_table {
            writes = Some(Writes::before(&upstream, &operation, &asked).await);
            let mut asking = asked.clone();
            asking["ReturnConsumedCapacity"] = json!("INDEXES");
            *request.body_mut() = asking.to_string().into();
        }
        let attempt = attempt(request.headers()).unwrap_or(1);
        request.headers_mut().remove(CONTENT_LENGTH);
        let answered = behind.ask(request).await?;
        let answer: Value = serde_json::from_slice(answered.body()).unwrap_or_default();
        let (cause, billed) = match writes {
            Some(writes) => {
                let both = (&asked, &answer);
                let billed = images::billed(
                    &upstream,
                    &operation,
                    both,
                    answered.status().is_success(),
                    writes,
                );
                (images::cause(&operation, &asked), billed.await?)
            }
            None => (of_service(service), of_queue(&operation, &asked, &answer)),
        };
        // What only the counting asked for is no part of the answer.
        let capacity = answer.get("ConsumedCapacity").map(Value::to_string);
        let capacity = capacity.map(|text| text.len() + "\"ConsumedCapacity\": , ".len());
        let call = Call {
            service,
            operation,
            cause,
            attempt,
            sent,
            answered: answered
                .body()
                .len()
                .saturating_sub(capacity.unwrap_or_default()),
            billed,
        };
        let calls = self.calls.lock();
        calls.unwrap_or_else(PoisonError::into_inner).push(call);
        Ok(answered)
    }
}

/// The service and the operation that a request names.
fn named(headers: &HeaderMap) -> Result<(&'static str, String), String> {
    let target = headers.get(TARGET).and_then(|target| target.to_str().ok());
    let target = target.ok_or("a request names no operation")?;
    let (prefix, operation) = target.split_once('.').unwrap_or(("", target));
    let found = SERVICES.iter().find(|(known, _)| *known == prefix);
    let (_, service) = found.ok_or_else(|| format!("no service that is known: {target}"))?;
    Ok((service, operation.to_owned()))
}

fn attempt(headers: &HeaderMap) -> Option<u32> {
    let said = headers.get(ATTEMPT)?.to_str().ok()?;
    let number = said
        .split(';')
        .find_map(|part| part.trim().strip_prefix("attempt="));
    number?.parse().ok()
}

fn of_service(service: &str) -> Cause {
    match service {
        "secretsmanager" => Cause::Upkeep,
        _ => Cause::Work,
    }
}

/// The bytes of the messages that are sent or received, their attributes among them.
fn of_queue(operation: &str, asked: &Value, answer: &Value) -> Billed {
    let attributes = |message: &Value| {
        let all = message["MessageAttributes"].as_object();
        all.into_iter()
            .flatten()
            .map(|(name, value)| {
                let length = |field: &str| value[field].as_str().unwrap_or_default().len();
                name.len() + length("DataType") + length("StringValue")
            })
            .sum::<usize>()
    };
    let text = |message: &Value, field: &str| message[field].as_str().unwrap_or_default().len();
    let all = |list: &Value, field: &str| {
        let messages = list.as_array().into_iter().flatten();
        messages
            .map(|message| text(message, field) + attributes(message))
            .sum()
    };
    Billed {
        messages: match operation {
            "SendMessage" => text(asked, "MessageBody") + attributes(asked),
            "SendMessageBatch" => all(&asked["Entries"], "MessageBody"),
            "ReceiveMessage" => all(&answer["Messages"], "Body"),
            _ => 0,
        },
        ..Billed::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_attempt_is_what_the_sdk_says_and_the_operation_is_one_of_a_known_service() {
        let mut headers = HeaderMap::new();
        assert_eq!(attempt(&headers), None);
        headers.insert(
            ATTEMPT,
            HeaderValue::from_static("ttl=20261130; attempt=2; max=3"),
        );
        assert_eq!(attempt(&headers), Some(2));
        assert!(named(&headers).is_err());
        headers.insert(
            TARGET,
            HeaderValue::from_static("AmazonSQS.SendMessageBatch"),
        );
        let found = named(&headers);
        assert_eq!(found, Ok(("sqs", "SendMessageBatch".to_owned())));
        headers.insert(TARGET, HeaderValue::from_static("Other_20120810.PutItem"));
        assert!(named(&headers).is_err());
    }

    #[test]
    fn a_message_is_as_long_as_its_text_and_its_attributes() {
        let reason = json!({ "why": { "DataType": "String", "StringValue": "12345" } });
        let sent = json!({ "MessageBody": "123", "MessageAttributes": reason });
        let length = |operation: &str, asked: &Value, answer: &Value| {
            of_queue(operation, asked, answer).messages
        };
        assert_eq!(length("SendMessage", &sent, &Value::Null), 3 + 3 + 6 + 5);
        let both = json!({ "Entries": [{ "MessageBody": "123" }, { "MessageBody": "4567" }] });
        assert_eq!(length("SendMessageBatch", &both, &Value::Null), 7);
        let got = json!({ "Messages": [{ "Body": "12" }] });
        assert_eq!(length("ReceiveMessage", &json!({}), &got), 2);
        assert_eq!(length("DeleteMessageBatch", &both, &got), 0);
    }
}
