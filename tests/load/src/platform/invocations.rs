//! The API that a function takes its invocations from and answers them to: one for each process, which has one at a time.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Method, Request, StatusCode};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::sync::{Mutex as AsyncMutex, mpsc, oneshot};

use super::marks::Marks;
use crate::clock;
use crate::lock::locked;
use crate::serve::{Answer, answer};

/// The time that an invocation has.
const TIME: Duration = Duration::from_secs(90);
const ARN: &str = "arn:aws:lambda:us-east-1:000000000000:function:measured";

/// What a function made of an invocation.
pub(crate) type Done = Result<Bytes, String>;

/// One invocation: its event, and who waits for the answer.
pub(crate) struct Invocation {
    pub(crate) event: Bytes,
    pub(crate) done: oneshot::Sender<Done>,
}

/// The invocations of one process.
pub(crate) struct Invocations {
    marks: Arc<Marks>,
    waiting: AsyncMutex<mpsc::UnboundedReceiver<Invocation>>,
    open: Mutex<Option<oneshot::Sender<Done>>>,
    asked: AtomicBool,
}

impl Invocations {
    /// Those that come through `waiting`.
    pub(crate) fn new(marks: Arc<Marks>, waiting: mpsc::UnboundedReceiver<Invocation>) -> Self {
        Self {
            marks,
            waiting: AsyncMutex::new(waiting),
            open: Mutex::default(),
            asked: AtomicBool::new(false),
        }
    }

    /// Answers a request of the function.
    pub(crate) async fn answer(self: Arc<Self>, request: Request<Incoming>) -> Answer {
        let path = request.uri().path().to_owned();
        if request.method() == Method::GET && path.ends_with("/invocation/next") {
            return self.next().await;
        }
        let Ok(body) = request.into_body().collect().await else {
            return answer(StatusCode::BAD_REQUEST, "");
        };
        let body = body.to_bytes();
        let text = || String::from_utf8_lossy(&body).into_owned();
        match path.rsplit_once('/') {
            Some((_, "response")) => self.end(Ok(body)),
            // Of an invocation, or of the start.
            Some(_) | None => self.end(Err(text())),
        }
        answer(StatusCode::ACCEPTED, "{}")
    }

    async fn next(&self) -> Answer {
        // The first time only: what asks again is ready for the next measurement, and may be dead when it begins.
        if !self.asked.swap(true, Ordering::Relaxed) {
            self.marks.note("next");
        }
        let Some(Invocation { event, done }) = self.waiting.lock().await.recv().await else {
            return answer(StatusCode::GONE, "");
        };
        *locked(&self.open) = Some(done);
        let mut given = answer(StatusCode::OK, event);
        let time = u64::try_from(TIME.as_millis()).unwrap_or(u64::MAX);
        let deadline = (clock::now_ns() / 1_000_000).saturating_add(time);
        let headers = given.headers_mut();
        headers.insert(
            "lambda-runtime-aws-request-id",
            HeaderValue::from_static("1"),
        );
        headers.insert("lambda-runtime-deadline-ms", HeaderValue::from(deadline));
        headers.insert(
            "lambda-runtime-invoked-function-arn",
            HeaderValue::from_static(ARN),
        );
        given
    }

    fn end(&self, done: Done) {
        self.marks.note("answer");
        if let Some(waits) = locked(&self.open).take() {
            // Whoever invoked it may have given up waiting.
            drop(waits.send(done));
        }
    }
}
