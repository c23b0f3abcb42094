//! What a request that cannot be served is answered: a status and a short JSON text; causes go into the log only.

use axum::Json;
use axum::extract::rejection::{JsonRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts, Query, Request};
use axum::response::{IntoResponse, Response};
use http::header::{RETRY_AFTER, WWW_AUTHENTICATE};
use http::request::Parts;
use http::{HeaderValue, StatusCode};
use serde::de::DeserializeOwned;
use serde_json::json;
use switchboard_core::operate::OperateError;
use switchboard_core::ports::{BackendError, Version};

use super::LONGEST_BODY;

/// Seconds after which a client may ask again when the store was not reachable.
const ASK_AGAIN_S: u32 = 2;
const UNREACHABLE: &str = "the store is not reachable";

/// Why a request is not served.
#[derive(Debug)]
pub(super) enum Failure {
    /// 400: what is wrong with it.
    Unreadable(String),
    /// 401: no credentials, or wrong ones.
    NoCredentials(&'static str),
    /// 403: a page of another site sent it.
    OtherSite,
    /// 404.
    NotFound(String),
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
    /// 415.
    NotJson,
    /// 500: our own fault.
    Ours(String),
    /// 503: the store failed; its cause is logged already.
    Unreachable {
        /// Deliveries moved for certain, where that was the wish.
        moved: Option<u32>,
    },
}

impl Failure {
    /// The store failed while `doing`; logs why.
    pub(super) fn store(doing: &'static str, error: &BackendError) -> Self {
        tracing::error!(doing, error = %error.line(), "the store failed an operator");
        Self::Unreachable { moved: None }
    }

    fn parts(self) -> (StatusCode, serde_json::Value) {
        let text = |status, error: &str| (status, json!({ "error": error }));
        match self {
            Self::Unreadable(what) => text(StatusCode::BAD_REQUEST, &what),
            Self::NoCredentials(what) => text(StatusCode::UNAUTHORIZED, what),
            Self::OtherSite => text(
                StatusCode::FORBIDDEN,
                "sent by a page of another site: not allowed",
            ),
            Self::NotFound(what) => text(StatusCode::NOT_FOUND, &what),
            Self::NotSet(what) => text(StatusCode::CONFLICT, &what),
            Self::Unusable(faults) => (
                StatusCode::BAD_REQUEST,
                json!({ "error": "the configuration cannot be used", "faults": faults }),
            ),
            Self::OtherVersion { what, stands } => (
                StatusCode::CONFLICT,
                json!({ "error": what, "version": stands }),
            ),
            Self::TooLarge(limit) => text(
                StatusCode::PAYLOAD_TOO_LARGE,
                &format!("the body is over the limit of {} KiB", limit / 1024),
            ),
            Self::NotJson => text(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "the content type must be application/json",
            ),
            Self::Ours(what) => text(StatusCode::INTERNAL_SERVER_ERROR, &what),
            Self::Unreachable { moved: None } => text(StatusCode::SERVICE_UNAVAILABLE, UNREACHABLE),
            Self::Unreachable { moved: Some(moved) } => (
                StatusCode::SERVICE_UNAVAILABLE,
                json!({ "error": UNREACHABLE, "moved": moved }),
            ),
        }
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let (status, body) = self.parts();
        let mut response = (status, Json(body)).into_response();
        if status == StatusCode::UNAUTHORIZED {
            response
                .headers_mut()
                .insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if status == StatusCode::SERVICE_UNAVAILABLE {
            response
                .headers_mut()
                .insert(RETRY_AFTER, HeaderValue::from(ASK_AGAIN_S));
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

/// A JSON body of a known shape.
pub(super) trait Shape: DeserializeOwned + Send {
    /// The shape, for whoever sent another. Errors name it instead of quoting what came, which may hold a secret.
    const SHAPE: &'static str;
    /// Its longest body, in bytes. A route whose body may be longer than the others' needs a limit of its own besides.
    const LONGEST: usize = LONGEST_BODY;
}

/// A request's JSON body, whole and of its shape.
pub(super) struct Body<T>(pub(super) T);

impl<T: Shape, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = Failure;

    async fn from_request(request: Request, state: &S) -> Result<Self, Failure> {
        match Json::<T>::from_request(request, state).await {
            Ok(Json(body)) => Ok(Self(body)),
            Err(JsonRejection::MissingJsonContentType(_)) => Err(Failure::NotJson),
            Err(JsonRejection::BytesRejection(rejection))
                if rejection.status() == StatusCode::PAYLOAD_TOO_LARGE =>
            {
                Err(Failure::TooLarge(T::LONGEST))
            }
            // The rejections are an open enum of the HTTP library's.
            Err(_) => Err(Failure::Unreadable(format!(
                "the body must be {}",
                T::SHAPE
            ))),
        }
    }
}

/// A request's query, with no parameter that nobody knows.
pub(super) struct Asked<T>(pub(super) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Asked<T> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        Query::<T>::from_request_parts(parts, state)
            .await
            .map(|Query(asked)| Self(asked))
            .map_err(|_: QueryRejection| {
                Failure::Unreadable(
                    "unknown, repeated or unreadable parameter in the query".to_owned(),
                )
            })
    }
}
