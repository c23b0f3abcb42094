//! The routers of a deployed Switchboard: made of its configuration, and made again when that changes, while they serve.

use std::sync::Arc;

use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use http::header::RETRY_AFTER;
use http::{HeaderValue, StatusCode};
use serde_json::json;
use switchboard_core::deployed::{Current, Deployed, Made};
use tower::ServiceExt;

use crate::status;

/// Seconds after which it is worth coming back: by then it is looked for again.
const TRY_AGAIN_AFTER: HeaderValue = HeaderValue::from_static("5");

/// A router that hands each request to the one that `build` made of the configuration that counts at that moment. While no
/// configuration could be read at all, everything is answered 503: what nobody knows of may well be a source.
pub fn router(
    deployed: Arc<Deployed>,
    build: impl Fn(&Current) -> Router + Send + Sync + 'static,
) -> Router {
    following(deployed, build, try_again)
}

/// The same for operators, who are told so by a problem.
pub fn operators(
    deployed: Arc<Deployed>,
    build: impl Fn(&Current) -> Router + Send + Sync + 'static,
) -> Router {
    following(deployed, build, status::try_again)
}

fn following(
    deployed: Arc<Deployed>,
    build: impl Fn(&Current) -> Router + Send + Sync + 'static,
    unknown: fn() -> Response,
) -> Router {
    let made = Arc::new(Made::new(build));
    Router::new().fallback(move |request: Request| {
        let (deployed, made) = (Arc::clone(&deployed), Arc::clone(&made));
        async move {
            match deployed.current().await {
                Ok(current) => match made.of(&current).oneshot(request).await {
                    Ok(response) => response,
                },
                Err(_) => unknown(),
            }
        }
    })
}

/// 503. Why is in the log already, where it began.
fn try_again() -> Response {
    let body = Json(json!({ "status": "try again" }));
    let mut response = (StatusCode::SERVICE_UNAVAILABLE, body).into_response();
    response.headers_mut().insert(RETRY_AFTER, TRY_AGAIN_AFTER);
    response
}
