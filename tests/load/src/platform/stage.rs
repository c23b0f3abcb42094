//! Everything around the functions, in one process: the services, the destinations, and hints as the real ingress sends
//! them.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use clap::ValueEnum;
use serde_json::Value;
use tokio::net::TcpListener;

use super::aws::Aws;
use super::destinations::{Healthy, silent};
use super::function::{Function, Program};
use super::gateway::{batch, posted};
use super::marks::{Mark, Marks};
use crate::serve::serve_on;

const SECRET: &str = "a-secret-for-measurements-only";
/// Nothing listens on it.
const NOBODY: &str = "127.0.0.1:1";

/// What the destination beside the measured one does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Beside {
    /// It is healthy too.
    Healthy,
    /// It accepts connections and never answers.
    Silent,
    /// It refuses connections.
    Refusing,
}

/// Which destination an event goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Destination {
    /// The one that is measured.
    Measured,
    /// The one beside it.
    Beside,
}

impl Destination {
    /// The kind of the events that go to it.
    fn kind(self) -> &'static str {
        match self {
            Self::Measured => "push",
            Self::Beside => "fork",
        }
    }
}

/// What surrounds the functions.
pub(crate) struct Stage {
    marks: Arc<Marks>,
    services: SocketAddr,
    aws: Arc<Aws>,
    /// What arrives at the measured destination.
    pub(crate) healthy: Arc<Healthy>,
}

impl Stage {
    /// With a destination of that kind beside the measured one.
    pub(crate) async fn new(beside: Beside) -> io::Result<Self> {
        let marks = Arc::new(Marks::new());
        let healthy = Arc::new(Healthy::new(Arc::clone(&marks)));
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let measured = listener.local_addr()?;
        let serving = Arc::clone(&healthy);
        tokio::spawn(serve_on(listener, move |request| {
            Arc::clone(&serving).answer(request)
        }));
        let beside = match beside {
            Beside::Healthy => measured.to_string(),
            Beside::Silent => silent().await?.to_string(),
            Beside::Refusing => NOBODY.to_owned(),
        };
        let configuration = configuration(&measured.to_string(), &beside);
        let aws = Arc::new(Aws::new(
            Arc::clone(&marks),
            configuration,
            SECRET.to_owned(),
        ));
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let services = listener.local_addr()?;
        let serving = Arc::clone(&aws);
        tokio::spawn(serve_on(listener, move |request| {
            Arc::clone(&serving).answer(request)
        }));
        Ok(Self {
            marks,
            services,
            aws,
            healthy,
        })
    }

    /// Starts a function's process.
    pub(crate) async fn start(&self, program: &Program) -> io::Result<Function> {
        Function::start(program, self.services, Arc::clone(&self.marks)).await
    }

    /// What came since the last start of a process.
    pub(crate) fn marks(&self) -> Vec<Mark> {
        self.marks.take()
    }

    /// The request that posts an event; of the same id it is the same event.
    pub(crate) fn posted(to: Destination, id: &str) -> io::Result<Bytes> {
        posted(SECRET, to.kind(), id).ok_or_else(|| io::Error::other("an event cannot be signed"))
    }

    /// Has the ingress accept an event; its hint.
    pub(crate) async fn accept(
        &self,
        ingress: &Function,
        to: Destination,
        id: &str,
    ) -> io::Result<String> {
        let answer = ingress.invoke(Self::posted(to, id)?).await?;
        if answer.get("statusCode") != Some(&Value::from(200)) {
            return Err(io::Error::other(format!(
                "an event was not accepted: {answer}"
            )));
        }
        match &mut self.aws.take_hints()[..] {
            [hint] => Ok(std::mem::take(hint)),
            hints => Err(io::Error::other(format!("not one hint: {hints:?}"))),
        }
    }

    /// Has a worker deal with hints, each received for the first time.
    pub(crate) async fn deal_with(worker: &Function, hints: &[String]) -> io::Result<()> {
        let answer = worker.invoke(batch(hints)).await?;
        match answer.get("batchItemFailures").and_then(Value::as_array) {
            Some(given_back) if given_back.is_empty() => Ok(()),
            Some(_) | None => Err(io::Error::other(format!("hints were given back: {answer}"))),
        }
    }

    /// Whether all that was asked of the services is served.
    pub(crate) fn judge(&self) -> io::Result<()> {
        let unknown = self.aws.unknown();
        if unknown.is_empty() {
            return Ok(());
        }
        Err(io::Error::other(format!("not served: {unknown:?}")))
    }
}

/// Each kind goes to a destination of its own.
fn configuration(measured: &str, beside: &str) -> String {
    format!(
        r#"allow_private_networks = true
[[source]]
name = "code"
scheme = "github"
secrets = ["secret:code"]
[[destination]]
name = "healthy"
url = "http://{measured}/healthy"
[[destination]]
name = "beside"
url = "http://{beside}/beside"
[[route]]
source = "code"
kind = "push"
deliver = [{{ to = "healthy" }}]
[[route]]
source = "code"
kind = "fork"
deliver = [{{ to = "beside" }}]
"#
    )
}
