//! What senders are answered: a status and one word, as JSON.

use axum::body::Body;
use axum::response::Response;
use http::header::{ALLOW, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderValue, StatusCode};
use switchboard_core::identity::EventId;
use switchboard_core::ingress::Reply;
use switchboard_core::refusal::Cause;

/// Seconds after which a sender may come back, where nothing better is known.
const TRY_AGAIN_AFTER: HeaderValue = HeaderValue::from_static("5");

/// The answer to what became of a request.
pub(super) fn to(reply: &Reply) -> Response {
    match reply {
        Reply::Accepted(event) => stored("accepted", event),
        Reply::Repeat(event) => stored("repeat", event),
        Reply::Refused => said(StatusCode::UNAUTHORIZED, "refused"),
        Reply::Declined(cause) => declined(*cause),
    }
}

fn declined(cause: Cause) -> Response {
    match cause {
        Cause::Unreadable(_) => said(StatusCode::BAD_REQUEST, "unreadable"),
        Cause::UnknownSource => said(StatusCode::NOT_FOUND, "unknown source"),
        Cause::TooLarge => said(StatusCode::PAYLOAD_TOO_LARGE, "too large"),
        Cause::StoreUnavailable | Cause::Overloaded => {
            let mut answer = said(StatusCode::SERVICE_UNAVAILABLE, "try again");
            answer.headers_mut().insert(RETRY_AFTER, TRY_AGAIN_AFTER);
            answer
        }
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

#[cfg(test)]
mod tests {
    use switchboard_core::refusal::Unreadable;

    use super::*;

    #[test]
    fn a_declined_request_is_answered_with_the_status_that_operators_are_shown() {
        for cause in [
            Cause::Unreadable(Unreadable::BodyNotWhole),
            Cause::UnknownSource,
            Cause::TooLarge,
            Cause::StoreUnavailable,
            Cause::Overloaded,
        ] {
            let status = to(&Reply::Declined(cause)).status();
            assert_eq!(status.as_u16(), cause.status(), "{cause}");
        }
    }
}
