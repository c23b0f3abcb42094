//! What a request asks for, read whole at the edge: its JSON body, its query, its place in a list.

use axum::Json;
use axum::extract::rejection::{JsonRejection, PathRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use http::StatusCode;
use http::request::Parts;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use switchboard_core::identity::EventId;
use switchboard_core::names::DestinationName;
use switchboard_core::views::PageAsk;

use super::LONGEST_BODY;
use super::answer::Failure;
use super::cursor::List;

/// Items of a page unless `limit` says otherwise, and the most it may say.
const USUAL_LIMIT: u32 = 50;
const MOST_LIMIT: u32 = 200;

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
            Err(_) => Err(not_of_shape::<T>()),
        }
    }
}

/// A body of another shape.
pub(super) fn not_of_shape<T: Shape>() -> Failure {
    Failure::Unreadable(format!("the body must be {}", T::SHAPE))
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

/// A query of which nothing is read: whatever stands in it is meant for another address, or another version.
pub(super) struct NothingAsked;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

impl<S: Send + Sync> FromRequestParts<S> for NothingAsked {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        let Asked(Nothing {}) = Asked::from_request_parts(parts, state).await?;
        Ok(Self)
    }
}

/// The event that a path names.
pub(super) struct EventPath(pub(super) EventId);

/// 404 of an event.
pub(super) fn no_such_event() -> Failure {
    Failure::NotFound("there is no such event".to_owned())
}

impl<S: Send + Sync> FromRequestParts<S> for EventPath {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        let named = Path::<String>::from_request_parts(parts, state).await;
        let Path(text) = named.map_err(|_: PathRejection| no_such_event())?;
        EventId::parse(&text).map(Self).ok_or_else(no_such_event)
    }
}

/// Which part of a list is meant.
pub(super) fn part_of(
    list: List,
    after: Option<String>,
    limit: Option<String>,
) -> Result<PageAsk, Failure> {
    let after = after.map(|text| list.taken_back(&text)).transpose()?;
    let limit = limit.map_or(Ok(USUAL_LIMIT), |text| {
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse()
            .ok()
            .filter(|limit| digits && (1..=MOST_LIMIT).contains(limit))
            .ok_or_else(|| Failure::Unreadable("limit must be 1 to 200".to_owned()))
    });
    Ok(PageAsk {
        after,
        limit: limit?,
    })
}

/// The destination that a text names.
pub(super) fn destination(text: &str) -> Result<DestinationName, Failure> {
    DestinationName::parse(text)
        .map_err(|error| Failure::Unreadable(format!("destination: {error}")))
}
