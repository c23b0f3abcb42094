//! What senders are answered: a status and one word, as JSON.

use axum::body::Body;
use axum::response::Response;
use http::header::{ALLOW, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderValue, StatusCode};
use switchboard_core::identity::EventId;
use switchboard_core::ingress::Reply;

/// Seconds after which a sender may come back, where nothing better is known.
const TRY_AGAIN_AFTER: HeaderValue = HeaderValue::from_static("5");

/// The answer to what became of a request.
pub(super) fn to(reply: &Reply) -> Response {
    match reply {
        Reply::Accepted(event) => stored("accepted", event),
        Reply::Repeat(event) => stored("repeat", event),
        Reply::Refused => said(StatusCode::UNAUTHORIZED, "refused"),
        Reply::Declined(cause) => match cause.status() {
            400 => said(StatusCode::BAD_REQUEST, "unreadable"),
            404 => said(StatusCode::NOT_FOUND, "unknown source"),
            413 => said(StatusCode::PAYLOAD_TOO_LARGE, "too large"),
            _ => {
                let mut answer = said(StatusCode::SERVICE_UNAVAILABLE, "try again");
                answer.headers_mut().insert(RETRY_AFTER, TRY_AGAIN_AFTER);
                answer
            }
        },
    }
}

/// The answer to any method but POST.
pub(super) fn only_post() -> Response {
    let mut answer = said(StatusCode::METHOD_NOT_ALLOWED, "only POST");
    answer
        .headers_mut()
        .insert(ALLOW, HeaderValue::from_static("POST"));
    answer
}

fn stored(status: &str, event: &EventId) -> Response {
    json(
        StatusCode::OK,
        format!(r#"{{"status":"{status}","event":"{event}"}}"#),
    )
}

fn said(code: StatusCode, status: &str) -> Response {
    json(code, format!(r#"{{"status":"{status}"}}"#))
}

fn json(code: StatusCode, text: String) -> Response {
    let mut answer = Response::new(Body::from(text));
    *answer.status_mut() = code;
    answer
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}
