//! Runs a router on a listener: HTTP/1.1 with every wait bounded, so that no client can take the server from the
//! others, and an end that lets requests under way finish.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use futures_util::FutureExt;
use http::HeaderValue;
use http::header::CONNECTION;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tower::Service;

use self::seats::{Seat, Seats};

mod seats;

/// The least that the parser can be given for a head, in bytes.
const SHORTEST_HEAD: usize = 8192;

const CLOSE: HeaderValue = HeaderValue::from_static("close");

/// How much of our time and memory a client may take.
#[derive(Clone, Copy, Debug)]
pub struct ServerLimits {
    /// Most connections at once; for one more, the one that has rested longest is closed.
    pub connections: usize,
    /// How long a request's head may take, from the end of the request before it: also the longest rest between two.
    pub head_time: Duration,
    /// Longest head, in bytes, from 8 KiB; beyond it, or beyond 100 header lines, 431.
    pub head_bytes: usize,
    /// How long an answer may lie unread before its connection is closed.
    pub unread_time: Duration,
    /// How long accepting rests when there are no file handles left.
    pub accept_pause: Duration,
    /// How long requests under way have when the server is shut down.
    pub shutdown_time: Duration,
    /// How long a fresh connection then has to send its request.
    pub last_request: Duration,
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            connections: 10_000,
            head_time: Duration::from_secs(30),
            head_bytes: 64 * 1024,
            unread_time: Duration::from_mins(1),
            accept_pause: Duration::from_millis(500),
            shutdown_time: Duration::from_secs(10),
            last_request: Duration::from_secs(1),
        }
    }
}

/// Serves `router` on `listener` until `shutdown` is ready and the requests under way are finished, or time is up.
pub async fn serve(listener: TcpListener, router: Router, shutdown: impl Future<Output = ()>) {
    serve_within(ServerLimits::default(), listener, router, shutdown).await;
}

/// [`serve`], with limits of the caller's.
pub async fn serve_within(
    limits: ServerLimits,
    listener: TcpListener,
    router: Router,
    shutdown: impl Future<Output = ()>,
) {
    let (stop, stopped) = watch::channel(());
    let server = Server {
        limits,
        router,
        seats: Arc::new(Seats::default()),
        stopped,
    };
    let mut open = JoinSet::new();
    let mut shutdown = pin!(shutdown);
    loop {
        let accepted = tokio::select! {
            () = &mut shutdown => break,
            Some(ended) = open.join_next() => {
                report(ended);
                continue;
            }
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) => server.admit(stream, &mut open),
            Err(error) if is_of_one_connection(&error) => {}
            Err(error) => {
                tracing::error!(error = %error, "no connection can be accepted for now");
                server.seats.free_one();
                // Whatever ends next gives its file handle back; trying again before that would only burn time.
                if let Ok(Some(ended)) = timeout(limits.accept_pause, open.join_next()).await {
                    report(ended);
                }
            }
        }
    }
    let _ = stop.send(());
    // What the system accepted for us already is served too; a closed listener would reset it.
    while let Some(Ok((stream, _))) = listener.accept().now_or_never() {
        server.admit(stream, &mut open);
    }
    drop(listener);
    let finished = async {
        while let Some(ended) = open.join_next().await {
            report(ended);
        }
    };
    if timeout(limits.shutdown_time, finished).await.is_err() {
        tracing::warn!(
            connections = open.len(),
            "requests under way were cut at the shutdown"
        );
        open.shutdown().await;
    }
}

/// A failure of the one connection that was to be accepted: the next may be fine.
fn is_of_one_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::Interrupted
    )
}

fn report(ended: Result<(), tokio::task::JoinError>) {
    if let Err(error) = ended
        && error.is_panic()
    {
        tracing::error!(error = %error, "a request failed half-way");
    }
}

/// What every connection is served with.
struct Server {
    limits: ServerLimits,
    router: Router,
    seats: Arc<Seats>,
    stopped: watch::Receiver<()>,
}

impl Server {
    /// Serves a connection in a task of its own, if there is a seat for it or one can be freed.
    fn admit(&self, stream: TcpStream, open: &mut JoinSet<()>) {
        if open.len() >= self.limits.connections && !self.seats.free_one() {
            return;
        }
        // Answers are small and written whole: waiting for more to send would only hold them up.
        let _ = stream.set_nodelay(true);
        let seat = Arc::new(Seat::new(Arc::clone(&self.seats)));
        open.spawn(connection(
            stream,
            self.router.clone(),
            self.limits,
            seat,
            self.stopped.clone(),
        ));
    }
}

/// Serves one connection to its end.
async fn connection(
    stream: TcpStream,
    router: Router,
    limits: ServerLimits,
    seat: Arc<Seat>,
    mut stopped: watch::Receiver<()>,
) {
    let at_work = Arc::clone(&seat);
    let told_to_stop = stopped.clone();
    let service = service_fn(move |request: http::Request<Incoming>| {
        let work = at_work.work();
        let answer = router.clone().call(request);
        let is_last = told_to_stop.has_changed().unwrap_or(true);
        async move {
            let mut answer = answer.await?;
            if is_last {
                answer.headers_mut().insert(CONNECTION, CLOSE);
            }
            drop(work);
            Ok::<_, Infallible>(answer)
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_time)
        .max_buf_size(limits.head_bytes.max(SHORTEST_HEAD))
        // A client may close its sending side once the request is out, and still wait for the answer.
        .half_close(true)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    let mut is_stopping = false;
    let mut requests = seat.requests();
    loop {
        let limit = if is_stopping {
            limits.last_request
        } else {
            limits.unread_time
        };
        tokio::select! {
            biased;
            ended = timeout(limit, connection.as_mut()) => {
                let is_over = ended.is_ok() || (seat.rests() && seat.requests() == requests);
                if is_over {
                    return;
                }
                requests = seat.requests();
            }
            () = seat.asked_to_leave() => {
                if seat.rests() {
                    return;
                }
            }
            _ = stopped.changed(), if !is_stopping => {
                is_stopping = true;
                requests = seat.requests();
                // A fresh connection's request may be on its way already, and some senders send it once only.
                if requests > 0 {
                    connection.as_mut().graceful_shutdown();
                }
            }
        }
    }
}
