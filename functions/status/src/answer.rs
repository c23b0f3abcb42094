//! One request of an operator, answered in time.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::response::{IntoResponse, Response};
use http::StatusCode;
use lambda_http::request::RequestContext;
use lambda_http::{Request, RequestExt};
use switchboard_functions::http::as_it_came;
use switchboard_web::status::{TrustedHost, try_again};
use tower::ServiceExt;
use url::Url;

use crate::carried::Carried;
use crate::desk::Desk;

/// How long a request may take: the gateway waits for 30 seconds, and the platform for 29.
const WHOLE: Duration = Duration::from_secs(25);

/// The router's answer, or that the operator is to ask again. Whatever is cut here, the same request may be made again: what
/// goes by steps does what is left; the first call of a replay plans nothing, and every further one plans the same once; a
/// rotation makes one more secret, and a test is made once more.
pub(crate) async fn within_time(desk: Arc<Desk>, request: Request) -> Result<Carried, Infallible> {
    Ok(Carried(answered(desk, request).await))
}

async fn answered(desk: Arc<Desk>, request: Request) -> Response {
    let Some(host) = gateway(&request) else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    let Ok(address) = Url::parse(&format!("https://{host}/")) else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    let path = request.raw_http_path().to_owned();
    let mut request = as_it_came(request, &path);
    request.extensions_mut().insert(TrustedHost::new(&host));
    let answering = async {
        match desk.router(address).await {
            Ok(router) => {
                let Ok(answer) = router.oneshot(request).await;
                answer
            }
            Err(error) => {
                tracing::error!(error = %error.line(), "there is no admin token");
                try_again()
            }
        }
    };
    if let Ok(answered) = tokio::time::timeout(WHOLE, answering).await {
        return answered;
    }
    let limit_ms = u64::try_from(WHOLE.as_millis()).unwrap_or(u64::MAX);
    tracing::error!(limit_ms, "a request took too long");
    try_again()
}

/// The name that the gateway took the request under: its own word, which no sender can change.
fn gateway(request: &Request) -> Option<String> {
    match request.request_context_ref()? {
        RequestContext::ApiGatewayV2(context) => context.domain_name.clone(),
        // The library's enum is open: nothing else invokes this function.
        _ => None,
    }
}
