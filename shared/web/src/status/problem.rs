//! Problems (RFC 9457): how everything that cannot be served is told.

use axum::response::{IntoResponse, Response};
use http::header::CONTENT_TYPE;
use http::{HeaderValue, StatusCode};
use serde::Serialize;
use serde_json::{Map, Value};

/// What a problem is sent as.
const PROBLEM: HeaderValue = HeaderValue::from_static("application/problem+json");

/// A problem's members.
#[derive(Serialize)]
struct Problem<'a> {
    /// No more is said by it than by the status.
    r#type: &'static str,
    title: &'a str,
    status: u16,
    /// Why, for a person.
    detail: &'a str,
    /// For programs, where there is more to say.
    #[serde(flatten)]
    more: Map<String, Value>,
}

/// The answer that tells a problem, with what more there is for programs.
pub(super) fn problem(status: StatusCode, detail: &str, more: Map<String, Value>) -> Response {
    let body = Problem {
        r#type: "about:blank",
        title: status.canonical_reason().unwrap_or_default(),
        status: status.as_u16(),
        detail,
        more,
    };
    // Of texts and numbers alone: it cannot fail.
    let body = serde_json::to_vec(&body).unwrap_or_default();
    (status, [(CONTENT_TYPE, PROBLEM)], body).into_response()
}
