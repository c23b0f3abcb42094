//! One request, answered in time: a sender who has waited for four seconds is told to try again, whatever it waits for.

use std::convert::Infallible;
use std::time::Duration;

use axum::Router;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use lambda_http::{Request, RequestExt};
use switchboard_aws::Aws;
use switchboard_functions::http::as_it_came;
use switchboard_web::ingress::IngressLimits;
use tokio::time::timeout;
use tower::ServiceExt;

/// How long a request may take: less than the five seconds after which the first senders give up.
const WHOLE: Duration = Duration::from_secs(4);

/// What one request may take of an invocation, which has only the one. Its body is there already.
pub(crate) const LIMITS: IngressLimits = IngressLimits {
    body_time: Duration::from_secs(1),
    body_pause: Duration::from_secs(1),
    // The platform takes no more than 6 MiB.
    memory: 16 * 1024 * 1024,
    accept_time: Duration::from_millis(3_200),
    // Behind the answer the process stands still.
    count_time: Duration::from_millis(600),
    counts: 100,
    unwanted_bytes: 0,
    unwanted_time: Duration::ZERO,
};

/// The router's answer, or that the sender is to try again. What was begun then goes on when the process does. Beside it
/// `counting` is done, of which the answer waits for as much as for the request's own counts.
pub(crate) async fn within_time(
    router: Router,
    request: Request,
    counting: impl Future<Output = ()>,
) -> Result<Response, Infallible> {
    let path = request.raw_http_path().to_owned();
    let request = as_it_came(request, &path);
    let answering = timeout(WHOLE, router.oneshot(request));
    let counting = timeout(LIMITS.count_time, counting);
    // What is cut off of the counting is counted later.
    let (answered, _) = tokio::join!(answering, counting);
    if let Ok(answered) = answered {
        return answered;
    }
    let limit_ms = u64::try_from(WHOLE.as_millis()).unwrap_or(u64::MAX);
    tracing::error!(limit_ms, "a request took too long");
    Ok(try_again())
}

/// Writes what earlier requests left to be counted, if it is time.
pub(crate) async fn count(backend: &Aws) {
    if let Err(error) = backend.flush_due().await {
        tracing::error!(error = %error.line(), "not written to the journal; counted in memory");
    }
}

fn try_again() -> Response {
    let headers = [(CONTENT_TYPE, "application/json"), (RETRY_AFTER, "5")];
    let body = r#"{"status":"try again"}"#;
    (StatusCode::SERVICE_UNAVAILABLE, headers, body).into_response()
}

#[cfg(test)]
mod tests {
    use axum::routing::any;

    use super::*;

    /// Far longer than a request may take.
    const DEADLINE: Duration = Duration::from_secs(30);

    #[tokio::test]
    async fn whatever_a_request_waits_for_its_sender_is_told_to_try_again_in_time() {
        let stuck = Router::new().fallback(any(std::future::pending::<()>));
        let answering = within_time(stuck, Request::default(), std::future::pending());
        let answered = timeout(DEADLINE, answering).await;
        let Ok(answer) = answered.expect("in time");
        assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert!(answer.headers().contains_key(RETRY_AFTER));
    }

    #[test]
    fn storing_and_counting_end_before_the_whole_request_does() {
        assert!(LIMITS.accept_time + LIMITS.count_time < WHOLE);
    }
}
