//! `GET /api/openapi.json`: the API described, in `OpenAPI` 3.1. Tests hold every route and every answer against it.

use axum::response::{IntoResponse, Response};
use http::header::CONTENT_TYPE;

use super::access::Reader;
use super::asked::NothingAsked;

const DESCRIPTION: &str = include_str!("openapi.json");

/// `GET /api/openapi.json`
pub(super) async fn openapi(_: Reader, _: NothingAsked) -> Response {
    ([(CONTENT_TYPE, "application/json")], DESCRIPTION).into_response()
}
