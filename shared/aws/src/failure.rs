//! What an error of the SDK becomes: a failed condition, with the item that was there before, or a failure of the backend.
//! Requests and answers stay behind: in their raw form the SDK's errors hold bodies and credentials.

use std::collections::HashMap;
use std::error::Error;

use aws_sdk_dynamodb::config::http::HttpResponse;
use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::operation::RequestId;
use aws_sdk_dynamodb::operation::delete_item::DeleteItemError;
use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::AttributeValue;
use switchboard_core::ports::BackendError;

/// An item of the table as the SDK gives it.
pub type Item = HashMap<String, AttributeValue>;

/// How much of a service's explanation is kept, in characters.
const LONGEST: usize = 300;

/// What became of a write with a condition.
#[derive(Clone, Debug, PartialEq)]
pub enum Conditional<T> {
    /// The condition was met and the write is made.
    Written(T),
    /// It was not, and nothing was written. The item that was there, if there was one and the write asked for it
    /// (`ReturnValuesOnConditionCheckFailure`).
    Unmet(Option<Item>),
}

/// The errors of writes that may have a condition.
pub trait ConditionError: ProvideErrorMetadata + Error + Send + Sync + 'static {
    /// The old item when the condition failed; the error itself when anything else did.
    fn old_item(self) -> Result<Option<Item>, Self>
    where
        Self: Sized;
}

macro_rules! condition_error {
    ($($error:ident),+) => {
        $(impl ConditionError for $error {
            fn old_item(self) -> Result<Option<Item>, Self> {
                match self {
                    Self::ConditionalCheckFailedException(failed) => Ok(failed.item),
                    // The SDK's errors are open: all others are failures.
                    other => Err(other),
                }
            }
        })+
    };
}
condition_error!(PutItemError, UpdateItemError, DeleteItemError);

/// Tells a failed condition from a failure of what was being done.
pub fn conditional<T, E: ConditionError>(
    doing: &'static str,
    written: Result<T, SdkError<E, HttpResponse>>,
) -> Result<Conditional<T>, BackendError> {
    match written {
        Ok(written) => Ok(Conditional::Written(written)),
        Err(SdkError::ServiceError(answer)) => {
            let status = answer.raw().status().as_u16();
            match answer.into_err().old_item() {
                Ok(item) => Ok(Conditional::Unmet(item)),
                Err(error) => Err(BackendError::new(doing, answered(status, &error))),
            }
        }
        Err(other) => Err(failed(doing, other)),
    }
}

/// The failure of what was being done.
pub fn failed<E: ProvideErrorMetadata + Error + Send + Sync + 'static>(
    doing: &'static str,
    error: SdkError<E, HttpResponse>,
) -> BackendError {
    let failure = match error {
        SdkError::ServiceError(answer) => answered(answer.raw().status().as_u16(), answer.err()),
        SdkError::ResponseError(answer) => Failure::Unreadable {
            status: answer.raw().status().as_u16(),
        },
        SdkError::TimeoutError(_) => Failure::TimedOut(cause(error)),
        SdkError::DispatchFailure(_) => Failure::Unanswered(cause(error)),
        // Nothing was sent; and what a later version of the SDK may add.
        _ => Failure::Unsent(cause(error)),
    };
    BackendError::new(doing, failure)
}

/// What the SDK says of it: of connections and times, never of what was sent.
type Cause = Box<dyn Error + Send + Sync>;

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("the service answered {status} {code}{explanation}{request}")]
    Answered {
        status: u16,
        code: String,
        explanation: String,
        request: String,
    },
    #[error("the service answered {status} with what cannot be read")]
    Unreadable { status: u16 },
    #[error("there was no answer in time")]
    TimedOut(#[source] Cause),
    #[error("the connection failed")]
    Unanswered(#[source] Cause),
    #[error("the request could not be made")]
    Unsent(#[source] Cause),
}

fn answered(status: u16, error: &impl ProvideErrorMetadata) -> Failure {
    let meta = error.meta();
    let code = meta.code().unwrap_or("without a code");
    // Of a signature that does not fit, the explanation is the request with its headers: the session's token is one.
    let told = meta.message().filter(|_| !code.contains("Signature"));
    let cut = |text: &str| text.chars().take(LONGEST).collect::<String>();
    Failure::Answered {
        status,
        code: code.to_owned(),
        explanation: told.map_or_else(String::new, |text| format!(": {}", cut(text))),
        request: meta
            .request_id()
            .map_or_else(String::new, |id| format!(" (request {id})")),
    }
}

fn cause<E: Error + Send + Sync + 'static>(error: SdkError<E, HttpResponse>) -> Cause {
    let unknown = |_| "for a reason that the SDK does not give".into();
    error.into_source().unwrap_or_else(unknown)
}

#[cfg(test)]
mod tests {
    use aws_sdk_dynamodb::error::{ConnectorError, ErrorMetadata};
    use aws_sdk_dynamodb::types::error::ConditionalCheckFailedException;

    use super::*;

    type Written = Result<(), SdkError<PutItemError, HttpResponse>>;

    fn answer(code: &str, message: &str) -> SdkError<PutItemError, HttpResponse> {
        let meta = ErrorMetadata::builder().code(code).message(message).build();
        service_error(PutItemError::generic(meta))
    }

    fn service_error(error: PutItemError) -> SdkError<PutItemError, HttpResponse> {
        let status = 400.try_into().expect("a status");
        let raw = HttpResponse::new(status, "a body with very-secret in it".into());
        SdkError::service_error(error, raw)
    }

    #[test]
    fn an_unmet_condition_is_no_failure_and_gives_the_old_item() {
        let old = Item::from([("token".to_owned(), AttributeValue::S("mine".to_owned()))]);
        for item in [Some(old), None] {
            let unmet = ConditionalCheckFailedException::builder()
                .set_item(item.clone())
                .build();
            let error = PutItemError::ConditionalCheckFailedException(unmet);
            let written: Written = Err(service_error(error));
            let told = conditional("putting", written).expect("no failure");
            assert_eq!(told, Conditional::Unmet(item));
        }
        let written: Written = Ok(());
        let told = conditional("putting", written).expect("no failure");
        assert_eq!(told, Conditional::Written(()));
    }

    #[test]
    fn a_service_that_says_no_is_quoted() {
        let error = answer("ResourceNotFoundException", "no such table");
        let line = "putting: the service answered 400 ResourceNotFoundException: no such table";
        let told = conditional("putting", Written::Err(error)).expect_err("a failure");
        assert_eq!(told.line(), line);
        let error = answer("ResourceNotFoundException", "no such table");
        assert_eq!(failed("putting", error).line(), line);
    }

    #[test]
    fn neither_bodies_nor_what_was_signed_nor_endless_text_is_kept() {
        let long = "x".repeat(10_000);
        for (code, message) in [
            (
                "InvalidSignatureException",
                "x-amz-security-token:very-secret",
            ),
            ("SignatureDoesNotMatch", "x-amz-security-token:very-secret"),
            ("ValidationException", long.as_str()),
        ] {
            let told = failed("putting", answer(code, message));
            for shown in [told.line(), format!("{told:?}")] {
                assert!(shown.contains(code), "found: {shown}");
                assert!(!shown.contains("very-secret"), "found: {shown}");
                assert!(shown.len() < 600, "{} bytes", shown.len());
            }
        }
    }

    #[test]
    fn a_failure_on_the_way_keeps_its_causes() {
        let refused = std::io::Error::from(std::io::ErrorKind::ConnectionRefused);
        let error = SdkError::dispatch_failure(ConnectorError::io(refused.into()));
        let told = conditional("putting", Written::Err(error)).expect_err("a failure");
        assert_eq!(
            told.line(),
            "putting: the connection failed: io error: connection refused"
        );
        let error: SdkError<PutItemError, HttpResponse> = SdkError::timeout_error("after 3.5 s");
        assert_eq!(
            failed("putting", error).line(),
            "putting: there was no answer in time: after 3.5 s"
        );
        let error: SdkError<PutItemError, HttpResponse> = SdkError::construction_failure("no name");
        assert_eq!(
            failed("putting", error).line(),
            "putting: the request could not be made: no name"
        );
    }
}
