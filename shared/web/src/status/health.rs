//! Whether the store can take events now, asked at most once a second however often somebody wants to know: the
//! route is open to everyone, and asking writes.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde_json::json;
use switchboard_core::ports::Backend;

use super::Status;

/// How long an answer of the store is good for.
const GOOD_FOR: Duration = Duration::from_secs(1);
/// How long the store may take.
const TIME_LIMIT: Duration = Duration::from_secs(3);

#[derive(Clone, Copy, Debug)]
enum Ready {
    Yes,
    No,
}

/// The last answer and when it came, in ticks. Whoever asks meanwhile waits for the one who is asking.
#[derive(Default)]
pub(super) struct Shared(tokio::sync::Mutex<Option<(Duration, Ready)>>);

/// 200 when the store can take events, else 503.
pub(super) async fn healthz<B: Backend>(State(status): State<Arc<Status<B>>>) -> Response {
    match ready(&status).await {
        Ready::Yes => Json(json!({ "status": "ok" })).into_response(),
        Ready::No => (
            StatusCode::SERVICE_UNAVAILABLE,
            Json(json!({ "status": "the store is not reachable" })),
        )
            .into_response(),
    }
}

async fn ready<B: Backend>(status: &Status<B>) -> Ready {
    let mut last = status.health.0.lock().await;
    let fresh = last.filter(|(at, _)| status.clock.ticks().saturating_sub(*at) < GOOD_FOR);
    if let Some((_, ready)) = fresh {
        return ready;
    }
    let ready = match tokio::time::timeout(TIME_LIMIT, status.backend.ready()).await {
        Ok(Ok(())) => Ready::Yes,
        Ok(Err(error)) => {
            tracing::error!(error = %error.line(), "the store cannot take events");
            Ready::No
        }
        Err(_) => {
            tracing::error!(
                limit_ms = u64::try_from(TIME_LIMIT.as_millis()).unwrap_or(u64::MAX),
                "the store does not answer"
            );
            Ready::No
        }
    };
    *last = Some((status.clock.ticks(), ready));
    ready
}
