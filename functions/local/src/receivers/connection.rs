//! Connections: accepted until the end is asked for, and closed without an answer where the router says so.

use std::convert::Infallible;
use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use axum::Router;
use axum::response::{IntoResponse, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};

/// How long answers under way may still take after the end was asked for: over the pause of a late one.
const LAST_ANSWERS: Duration = Duration::from_secs(5);
/// How long nothing is accepted after the system had no place for a connection.
const NO_PLACE: Duration = Duration::from_millis(100);

/// In a response's extensions: no byte of it is sent, the connection is closed instead.
#[derive(Clone, Copy, Debug)]
struct Unanswered;

/// Instead of an answer: the connection is closed.
#[derive(Debug, thiserror::Error)]
#[error("closed without an answer, as the switch says")]
struct Closed;

/// The response that stands for no response.
pub(super) fn unanswered() -> Response {
    let mut response = ().into_response();
    response.extensions_mut().insert(Unanswered);
    response
}

/// Serves `router` until `shutdown`, then finishes what is under way.
pub(super) async fn serve(
    listener: TcpListener,
    router: Router,
    shutdown: impl Future<Output = ()>,
) {
    let graceful = GracefulShutdown::new();
    let mut shutdown = pin!(shutdown);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut shutdown => break,
        };
        match accepted {
            Ok((stream, _)) => talk(stream, router.clone(), &graceful),
            Err(error) => {
                tracing::warn!(%error, "a connection to the sample receivers could not be accepted");
                drop(tokio::time::timeout(NO_PLACE, std::future::pending::<()>()).await);
            }
        }
    }
    drop(listener);
    drop(tokio::time::timeout(LAST_ANSWERS, graceful.shutdown()).await);
}

/// Speaks HTTP on one connection, in a task of its own.
fn talk(stream: TcpStream, router: Router, graceful: &GracefulShutdown) {
    let router = TowerToHyperService::new(router);
    let service = service_fn(move |request: http::Request<Incoming>| {
        let answered = router.call(request);
        async move {
            let response = answered
                .await
                .unwrap_or_else(|never: Infallible| match never {});
            if response.extensions().get::<Unanswered>().is_some() {
                // hyper drops the connection of a service that failed, without writing anything.
                return Err(Closed);
            }
            Ok(response)
        }
    });
    let mut http = http1::Builder::new();
    let talking = http
        .timer(TokioTimer::new())
        .serve_connection(TokioIo::new(stream), service);
    let talking = graceful.watch(talking);
    tokio::spawn(async move {
        if let Err(error) = talking.await {
            tracing::debug!(%error, "a connection to the sample receivers ended");
        }
    });
}
