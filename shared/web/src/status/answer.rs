//! What a request that cannot be served is answered: a status and a problem; causes go into the log only.

use axum::response::{IntoResponse, Response};
use http::header::{RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderValue, StatusCode};
use serde_json::{Map, Value, json};
use switchboard_core::operate::OperateError;
use switchboard_core::ports::{BackendError, Version};

use super::guard;
use super::problem::problem;

/// Seconds after which a client may ask again when the store was not reachable.
const ASK_AGAIN_S: u32 = 2;
/// Seconds after which it is worth coming back while nothing is known of the configuration or the token.
const TRY_AGAIN_S: u32 = 5;
const UNREACHABLE: &str = "the store is not reachable";

/// Why a request is not served.
#[derive(Debug)]
pub(super) enum Failure {
    /// 400: what is wrong with it.
    Unreadable(String),
    /// 401: no credentials, or wrong ones.
    NoCredentials(&'static str),
    /// 403: a page of another site sent it, or might have.
    OtherSite(&'static str),
    /// 403: it names another Host.
    OtherHost,
    /// 404.
    NotFound(String),
    /// 405; the header says which methods are allowed.
    OtherMethod,
    /// 409: it does not fit what stands.
    NotSet(String),
    /// 400: everything that is wrong with a configuration.
    Unusable(Vec<String>),
    /// 409: another version of the configuration stands, or none.
    OtherVersion {
        /// What is to be said of it.
        what: String,
        /// Which one stands.
        stands: Option<Version>,
    },
    /// 413: over so many bytes.
    TooLarge(usize),
    /// 413: what would be answered, here.
    TooLong,
    /// 415.
    NotJson,
    /// 429: what it asks for is under way already.
    UnderWay(&'static str),
    /// 500: our own fault.
    Ours(String),
    /// 503: the store failed; its cause is logged already.
    Unreachable {
        /// Deliveries moved for certain, where that was the wish.
        moved: Option<u32>,
    },
    /// 503: nothing is known yet to answer by; why is logged already.
    NotReady,
}

/// What an operator is answered while nothing is known to answer by: 503, and when to come again.
pub fn try_again() -> Response {
    guard::close(Failure::NotReady.into_response())
}

/// What an operator is answered where the answer is longer than what carries it takes: 413.
pub fn too_long() -> Response {
    guard::close(Failure::TooLong.into_response())
}

impl Failure {
    /// The store failed while `doing`; logs why.
    pub(super) fn store(doing: &'static str, error: &BackendError) -> Self {
        tracing::error!(doing, error = %error.line(), "the store failed an operator");
        Self::Unreachable { moved: None }
    }

    fn status(&self) -> StatusCode {
        match self {
            Self::Unreadable(_) | Self::Unusable(_) => StatusCode::BAD_REQUEST,
            Self::NoCredentials(_) => StatusCode::UNAUTHORIZED,
            Self::OtherSite(_) | Self::OtherHost => StatusCode::FORBIDDEN,
            Self::NotFound(_) => StatusCode::NOT_FOUND,
            Self::OtherMethod => StatusCode::METHOD_NOT_ALLOWED,
            Self::NotSet(_) | Self::OtherVersion { .. } => StatusCode::CONFLICT,
            Self::TooLarge(_) | Self::TooLong => StatusCode::PAYLOAD_TOO_LARGE,
            Self::NotJson => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::UnderWay(_) => StatusCode::TOO_MANY_REQUESTS,
            Self::Ours(_) => StatusCode::INTERNAL_SERVER_ERROR,
            Self::Unreachable { .. } | Self::NotReady => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// Why, for a person.
    fn detail(&self) -> String {
        match self {
            Self::Unreadable(what)
            | Self::NotFound(what)
            | Self::NotSet(what)
            | Self::Ours(what)
            | Self::OtherVersion { what, .. } => return what.clone(),
            Self::TooLarge(limit) => {
                return format!("what was sent is over the limit of {} KiB", limit / 1024);
            }
            Self::TooLong => {
                "the answer is over the 6 MB that one may have on AWS; destinations get bodies of any length whole"
            }
            Self::NoCredentials(what) | Self::OtherSite(what) | Self::UnderWay(what) => what,
            Self::OtherHost => {
                "this answers to loopback names only; to allow this Host, add it to the key `hosts` of the configuration"
            }
            Self::OtherMethod => "this address does not take that method",
            Self::Unusable(_) => "the configuration cannot be used",
            Self::NotJson => "the content type must be application/json",
            Self::Unreachable { .. } => UNREACHABLE,
            Self::NotReady => "try again",
        }
        .to_owned()
    }

    /// What programs are told besides.
    fn more(self) -> Map<String, Value> {
        let member = match self {
            Self::Unusable(faults) => ("faults", json!(faults)),
            Self::OtherVersion { stands, .. } => ("version", json!(stands)),
            Self::Unreachable { moved: Some(moved) } => ("moved", json!(moved)),
            Self::Unreadable(_)
            | Self::NoCredentials(_)
            | Self::OtherSite(_)
            | Self::OtherHost
            | Self::NotFound(_)
            | Self::OtherMethod
            | Self::NotSet(_)
            | Self::TooLarge(_)
            | Self::TooLong
            | Self::NotJson
            | Self::UnderWay(_)
            | Self::Ours(_)
            | Self::Unreachable { moved: None }
            | Self::NotReady => return Map::new(),
        };
        Map::from_iter([(member.0.to_owned(), member.1)])
    }

    /// When it is worth asking again, in seconds.
    fn again(&self) -> Option<u32> {
        match self {
            Self::Unreachable { .. } | Self::UnderWay(_) => Some(ASK_AGAIN_S),
            Self::NotReady => Some(TRY_AGAIN_S),
            Self::Unreadable(_)
            | Self::NoCredentials(_)
            | Self::OtherSite(_)
            | Self::OtherHost
            | Self::NotFound(_)
            | Self::OtherMethod
            | Self::NotSet(_)
            | Self::Unusable(_)
            | Self::OtherVersion { .. }
            | Self::TooLarge(_)
            | Self::TooLong
            | Self::NotJson
            | Self::Ours(_) => None,
        }
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let (status, detail, again) = (self.status(), self.detail(), self.again());
        let mut response = problem(status, &detail, self.more());
        let headers = response.headers_mut();
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(seconds) = again {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

impl From<OperateError> for Failure {
    fn from(error: OperateError) -> Self {
        let text = error.to_string();
        match error {
            OperateError::UnknownDestination(_) => Self::NotFound(text),
            OperateError::Address(_) => Self::Unreadable(text),
            OperateError::EndpointNotSet => Self::NotSet(text),
            OperateError::NoSecret => Self::Ours(text),
            OperateError::Backend(cause) => Self::store("operate", &cause),
            OperateError::Interrupted { done, cause } => {
                tracing::error!(moved = done, error = %cause.line(), "the store failed an operator half-way");
                Self::Unreachable { moved: Some(done) }
            }
        }
    }
}
