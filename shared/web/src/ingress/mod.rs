//! Where senders post: `POST /in/{source}`, exactly that. What can be turned away without reading the body is; what
//! is decided about the rest is core's. The sender is told next to nothing.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::any;
use bytes::Bytes;
use http::header::{CONTENT_LENGTH, EXPECT};
use http::request::Parts;
use http::{HeaderMap, Method};
use switchboard_core::ingress::{Ingress, Reply};
use switchboard_core::names::SourceName;
use switchboard_core::ports::Backend;
use switchboard_core::refusal::Cause;
use tokio::sync::OwnedSemaphorePermit;

use self::body::Budget;
use self::count::{Counter, Declined};
use self::whole::{BrokeOff, Whole};

mod answer;
mod body;
mod count;
mod whole;

/// What every source's address starts with.
const PREFIX: &str = "/in/";

/// How much of our time and memory a sender may take.
#[derive(Clone, Copy, Debug)]
pub struct IngressLimits {
    /// How long a whole body may take.
    pub body_time: Duration,
    /// How long a body may stand still.
    pub body_pause: Duration,
    /// Memory for all bodies at once, in bytes; each request counts for 16 KiB more.
    pub memory: usize,
    /// How long checking and storing may take before the sender is told to try again.
    pub accept_time: Duration,
    /// How much longer a sender waits that has waited for all of that: until it is counted. Nothing where a count that is
    /// begun goes on behind the answer; where the process stands still then, as much as there is.
    pub count_time: Duration,
    /// How many declined requests are being counted at once. One more is answered without waiting for its count, which
    /// is kept for later: the totals stay exact.
    pub counts: usize,
    /// How much of an unwanted body is read, in bytes, so that a sender who is still writing gets its answer.
    pub unwanted_bytes: usize,
    /// How long an unwanted body is read for.
    pub unwanted_time: Duration,
}

impl Default for IngressLimits {
    fn default() -> Self {
        Self {
            body_time: Duration::from_secs(30),
            body_pause: Duration::from_secs(10),
            memory: 256 * 1024 * 1024,
            accept_time: Duration::from_secs(10),
            count_time: Duration::ZERO,
            counts: 1_000,
            unwanted_bytes: 16 * 1024 * 1024,
            unwanted_time: Duration::from_secs(5),
        }
    }
}

/// All that a request meets.
struct Door<B> {
    ingress: Arc<Ingress<B>>,
    max_body: usize,
    limits: IngressLimits,
    budget: Budget,
    counter: Arc<Counter<B>>,
}

/// The router of every source's address, and of everything else below `/in/`, which is answered 404. Bodies longer
/// than `max_body` bytes are answered 413.
pub fn router<B: Backend>(
    ingress: Arc<Ingress<B>>,
    max_body: usize,
    limits: IngressLimits,
) -> Router {
    let door = Arc::new(Door {
        counter: Counter::new(Arc::clone(&ingress), limits.counts),
        ingress,
        max_body,
        budget: Budget::new(limits.memory),
        limits,
    });
    Router::new()
        .route(PREFIX, any(receive::<B>))
        .route("/in/{*path}", any(receive::<B>))
        .with_state(door)
}

async fn receive<B: Backend>(State(door): State<Arc<Door<B>>>, request: Request) -> Response {
    let (parts, mut body) = request.into_parts();
    let path = parts.uri.path();
    // The path as it came: an encoded, doubled or final slash is part of a name that no source has.
    let name = path.strip_prefix(PREFIX).unwrap_or_default();
    let Some(source) = door.ingress.source(name).map(|source| source.name.clone()) else {
        let answer = door.decline(None, path, Cause::UnknownSource).await;
        door.leave_unread(&parts, body);
        return answer;
    };
    let turned_away = if parts.method != Method::POST {
        Some(answer::only_post())
    } else if declared(&parts.headers).is_some_and(|length| length > door.max_body) {
        Some(door.decline(Some(&source), name, Cause::TooLarge).await)
    } else {
        None
    };
    if let Some(answer) = turned_away {
        door.leave_unread(&parts, body);
        return answer;
    }
    let read = body::whole(
        &mut body,
        &parts.headers,
        door.max_body,
        &door.budget,
        &door.limits,
    );
    match read.await {
        Ok((bytes, memory)) => door.accept(source, parts, bytes, memory).await,
        Err(cause) => {
            let answer = door.decline(Some(&source), name, cause).await;
            door.leave_unread(&parts, body);
            answer
        }
    }
}

/// The length that a request announces, in bytes.
fn declared(headers: &HeaderMap) -> Option<usize> {
    // More digits than a usize has is a length over every limit.
    let text = headers.get(CONTENT_LENGTH)?.to_str().ok()?;
    Some(text.parse().unwrap_or(usize::MAX))
}

impl<B: Backend> Door<B> {
    /// Checks and stores. `memory` is given back when that is done, also after the sender has been answered.
    async fn accept(
        self: &Arc<Self>,
        name: SourceName,
        parts: Parts,
        body: Bytes,
        memory: OwnedSemaphorePermit,
    ) -> Response {
        let door = Arc::clone(self);
        let source = name.clone();
        let step = async move {
            let reply = match door.ingress.source(source.as_str()) {
                Some(found) => door.ingress.receive(found, &parts.headers, body).await,
                None => Reply::Declined(Cause::UnknownSource),
            };
            drop(memory);
            reply
        };
        if let Some(reply) = self.whole_step(step).await {
            return answer::to(&reply);
        }
        let cause = Cause::StoreUnavailable;
        let declined = Declined::new(Some(&name), name.as_str(), cause);
        if let Some(counted) = self.counter.count(declined)
            && !self.limits.count_time.is_zero()
        {
            // Counted in time or not: the answer is the same.
            let _ = tokio::time::timeout(self.limits.count_time, counted).await;
        }
        answer::to(&Reply::Declined(cause))
    }

    async fn decline(&self, source: Option<&SourceName>, path: &str, cause: Cause) -> Response {
        let declined = Declined::new(source, path, cause);
        // The answer waits for the count, within bounds, so that whoever has the answer can read the count.
        if let Some(counted) = self.counter.count(declined)
            && tokio::time::timeout(self.limits.accept_time, counted)
                .await
                .is_err()
        {
            tracing::warn!("a declined request was not counted in time");
        }
        answer::to(&Reply::Declined(cause))
    }

    /// Waits for a step that neither a sender who hangs up nor the time limit cuts in the middle. `None` when it failed
    /// or takes too long; it may still be done then, and the sender's next copy is a repeat.
    async fn whole_step(
        &self,
        step: impl Future<Output = Reply> + Send + 'static,
    ) -> Option<Reply> {
        match tokio::time::timeout(self.limits.accept_time, Whole::new(step)).await {
            Ok(Ok(reply)) => Some(reply),
            Ok(Err(BrokeOff)) => {
                tracing::error!("receiving failed half-way");
                None
            }
            Err(_) => {
                let limit = self.limits.accept_time.as_millis();
                let limit_ms = u64::try_from(limit).unwrap_or(u64::MAX);
                tracing::error!(limit_ms, "receiving takes too long");
                None
            }
        }
    }

    /// Reads on for a while what nobody wants: closing at once would reset the connection of a sender who is still
    /// writing, and its answer would be lost. A sender who waits for our leave to write gets none.
    fn leave_unread(&self, parts: &Parts, body: axum::body::Body) {
        if !parts.headers.contains_key(EXPECT) {
            tokio::spawn(body::pass_over(body, self.limits));
        }
    }
}
