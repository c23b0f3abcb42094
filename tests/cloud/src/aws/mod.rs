//! The APIs of AWS as the emulator serves them: one request each, signed by an account's own key, which may do everything. No SDK: this is asked seldom, and
//! is to be built quickly.

mod sign;
mod xml;

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use serde_json::Value;
use switchboard_tests::sender::now;
use switchboard_web::client;
use url::Url;

pub use xml::Xml;

/// The region of everything.
pub const REGION: &str = "us-east-1";
/// The account of everything. An HTTP API is open to everybody, and whoever asks it without a key is taken to be of this one.
pub const ACCOUNT: &str = "000000000000";
/// How long one answer may take: an upload, or a function that is called by hand.
const DEADLINE: Duration = Duration::from_secs(90);

/// The services that are asked, by the name that requests are signed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// HTTP APIs.
    ApiGateway,
    /// Stacks.
    CloudFormation,
    /// Tables.
    DynamoDb,
    /// Functions.
    Lambda,
    /// Logs.
    Logs,
    /// Files.
    S3,
    /// Secrets.
    SecretsManager,
    /// Queues.
    Sqs,
}

impl Service {
    /// The name in a signature, and what stands before an operation's name.
    const fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::ApiGateway => ("apigateway", ""),
            Self::CloudFormation => ("cloudformation", ""),
            Self::DynamoDb => ("dynamodb", "DynamoDB_20120810."),
            Self::Lambda => ("lambda", ""),
            Self::Logs => ("logs", "Logs_20140328."),
            Self::S3 => ("s3", ""),
            Self::SecretsManager => ("secretsmanager", "secretsmanager."),
            Self::Sqs => ("sqs", "AmazonSQS."),
        }
    }
}

/// Where AWS is asked.
#[derive(Clone, Debug)]
pub struct Aws {
    endpoint: Url,
}

impl Aws {
    /// The emulator at this address.
    pub fn at(endpoint: &str) -> Self {
        let endpoint = endpoint.parse().expect("an address");
        Self { endpoint }
    }

    /// Where it is asked.
    pub const fn endpoint(&self) -> &Url {
        &self.endpoint
    }

    /// One operation of a service that speaks JSON.
    pub async fn json(&self, service: Service, operation: &str, input: &Value) -> Value {
        let (_, prefix) = service.names();
        let mut headers = HeaderMap::new();
        let target = HeaderValue::from_str(&format!("{prefix}{operation}"));
        headers.insert("x-amz-target", target.expect("a name"));
        headers.insert(
            http::header::CONTENT_TYPE,
            HeaderValue::from_static("application/x-amz-json-1.0"),
        );
        let body = Bytes::from(input.to_string());
        let answer = self.ask(service, Method::POST, "/", headers, body).await;
        let answer = answer.unwrap_or_else(|why| panic!("{operation} {input}: {why}"));
        read(&answer)
    }

    /// One operation of a service that speaks forms and XML.
    pub async fn query(&self, service: Service, form: &[(&str, &str)]) -> Result<Xml, String> {
        let body = Bytes::from(written(form));
        let mut headers = HeaderMap::new();
        headers.insert(
            http::header::CONTENT_TYPE,
            HeaderValue::from_static("application/x-www-form-urlencoded"),
        );
        let answer = self.ask(service, Method::POST, "/", headers, body).await?;
        Ok(Xml::from(String::from_utf8_lossy(&answer).into_owned()))
    }

    /// Something at a path of a service's own.
    pub async fn rest(
        &self,
        service: Service,
        method: Method,
        path: &str,
        body: impl Into<Bytes>,
    ) -> Bytes {
        let mut headers = HeaderMap::new();
        headers.insert(
            http::header::CONTENT_TYPE,
            HeaderValue::from_static("application/json"),
        );
        let answer = self
            .ask(service, method.clone(), path, headers, body.into())
            .await;
        answer.unwrap_or_else(|why| panic!("{method} {path}: {why}"))
    }

    /// The answer's body; `Err` holds the status and what was answered, where it is no success.
    async fn ask(
        &self,
        service: Service,
        method: Method,
        path: &str,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<Bytes, String> {
        let url = self.endpoint.join(path).expect("a path");
        let (name, _) = service.names();
        let signer = sign::Signer {
            key: ACCOUNT,
            region: REGION,
            service: name,
            now: now(),
        };
        let headers = signer.signed(&method, &url, headers, &body);
        let answered = client::request(method, &url, headers, body, DEADLINE).await;
        let (status, body) = answered.map_err(|cause| cause.to_string())?;
        match status {
            StatusCode::OK
            | StatusCode::CREATED
            | StatusCode::ACCEPTED
            | StatusCode::NO_CONTENT => Ok(body),
            status => Err(format!("{status}: {}", String::from_utf8_lossy(&body))),
        }
    }
}

/// A form as it is sent.
fn written(form: &[(&str, &str)]) -> String {
    let mut written = url::form_urlencoded::Serializer::new(String::new());
    written.extend_pairs(form).finish()
}

/// JSON, or nothing at all.
pub(crate) fn read(body: &[u8]) -> Value {
    if body.is_empty() {
        return Value::Null;
    }
    serde_json::from_slice(body).unwrap_or_else(|cause| {
        panic!(
            "expected JSON ({cause}), found {}",
            String::from_utf8_lossy(body)
        )
    })
}
