//! A function of the AWS side as the platform runs it: its real binary, and on loopback the API that it takes invocations
//! from and answers them to.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use http::StatusCode;
use serde_json::Value;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::process::{Child, Command};
use tokio::sync::{Mutex as AsyncMutex, mpsc, oneshot, watch};
use tokio::time::timeout;

use crate::switchboard::beside;
use crate::wait::DEADLINE;

/// The time that an invocation has, unless the test says another.
pub const TIME: Duration = Duration::from_secs(30);

/// What became of an invocation.
#[derive(Clone, Debug, PartialEq)]
pub enum Invoked {
    /// The function answered it.
    Answered(Value),
    /// The function said that it failed; behind an HTTP API that is a 500.
    Failed(Value),
    /// Its process ended before it did.
    Died,
}

impl Invoked {
    /// The answer; anything else fails the test.
    pub fn answer(self) -> Value {
        match self {
            Self::Answered(answer) => answer,
            Self::Failed(error) => panic!("the invocation failed: {error}"),
            Self::Died => panic!("the function died"),
        }
    }

    /// What it said of its failure; an answer fails the test.
    pub fn failure(self) -> Value {
        match self {
            Self::Answered(answer) => panic!("the invocation was answered: {answer}"),
            Self::Failed(error) => error,
            Self::Died => panic!("the function died"),
        }
    }
}

struct Invocation {
    event: Bytes,
    time: Duration,
    done: oneshot::Sender<Invoked>,
}

struct Platform {
    number: AtomicU64,
    invocations: AsyncMutex<mpsc::UnboundedReceiver<Invocation>>,
    open: Mutex<HashMap<String, oneshot::Sender<Invoked>>>,
}

impl Platform {
    fn end(&self, id: &str, invoked: Invoked) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(done) = open.remove(id) {
            // Whoever invoked it may have given up waiting.
            drop(done.send(invoked));
        }
    }
}

/// How a function is started.
#[derive(Clone, Debug)]
pub struct Function {
    binary: PathBuf,
    environment: Vec<(String, String)>,
    ahead: Duration,
}

impl Function {
    /// The one whose binary has that name, with nothing in its environment but what the platform sets.
    pub fn named(name: &str) -> Self {
        Self {
            binary: beside(name),
            environment: [
                ("AWS_LAMBDA_FUNCTION_NAME", name),
                ("AWS_LAMBDA_FUNCTION_VERSION", "1"),
                ("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "512"),
                ("AWS_REGION", "us-east-1"),
                ("AWS_ACCESS_KEY_ID", "000000000000"),
                ("AWS_SECRET_ACCESS_KEY", "not-a-secret"),
                ("AWS_EC2_METADATA_DISABLED", "true"),
            ]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .to_vec(),
            ahead: Duration::ZERO,
        }
    }

    /// With its clock, and the platform's that it hears of, so far ahead of the machine's.
    #[must_use]
    pub fn ahead(self, ahead: Duration) -> Self {
        let seconds = ahead.as_secs().to_string();
        Self {
            ahead,
            ..self.set("SWITCHBOARD_CLOCK_AHEAD", &seconds)
        }
    }

    /// With one more variable, or another value of one.
    #[must_use]
    pub fn set(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Without a variable.
    #[must_use]
    pub fn unset(mut self, name: &str) -> Self {
        self.environment.retain(|(given, _)| given != name);
        self
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.binary);
        command
            .env_clear()
            .envs(self.environment.iter().cloned())
            .stdin(Stdio::null())
            .kill_on_drop(true);
        command
    }

    /// Starts it without a platform; its exit code and what it wrote on standard error. It has to end by itself.
    pub async fn fails(&self) -> (i32, String) {
        let output = self.command().output();
        let output = timeout(DEADLINE, output).await.expect("it ends");
        let output = output.expect("it runs");
        (
            output.status.code().unwrap_or(-1),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        )
    }

    /// Starts it under a platform of its own.
    pub async fn start(self) -> Lambda {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let (invoke, invocations) = mpsc::unbounded_channel();
        let platform = Arc::new(Platform {
            number: AtomicU64::new(1),
            invocations: AsyncMutex::new(invocations),
            open: Mutex::default(),
        });
        let router = Router::new()
            .route("/2018-06-01/runtime/invocation/next", get(next))
            .route(
                "/2018-06-01/runtime/invocation/{id}/response",
                post(response),
            )
            .route("/2018-06-01/runtime/invocation/{id}/error", post(error))
            .layer(DefaultBodyLimit::disable())
            .with_state(platform);
        let serving = tokio::spawn(async move { axum::serve(listener, router).await });
        let folder = tempfile::tempdir().expect("a folder");
        let log = std::fs::File::create(folder.path().join("log")).expect("a log");
        let child = self
            .command()
            .env("AWS_LAMBDA_RUNTIME_API", address.to_string())
            .stdout(log.try_clone().expect("a log"))
            .stderr(log)
            .spawn()
            .expect("it runs");
        let id = child.id().expect("it runs");
        let (kill, wishes) = mpsc::unbounded_channel();
        let (ending, ended) = watch::channel(false);
        Lambda {
            id,
            killer: Killer(kill),
            ended,
            watching: tokio::spawn(watch_over(child, wishes, ending)),
            address,
            invoke,
            ahead: self.ahead,
            serving,
            folder,
        }
    }
}

/// Waits until a process ends, by itself or by a wish.
async fn watch_over(
    mut child: Child,
    mut wishes: mpsc::UnboundedReceiver<Wish>,
    ending: watch::Sender<bool>,
) {
    let wish = tokio::select! {
        ended = child.wait() => {
            drop(ended);
            None
        }
        Some(wish) = wishes.recv() => Some(wish),
    };
    // Nothing is left of it when this is over.
    drop(child.kill().await);
    ending.send_replace(true);
    if let Some(wish) = wish {
        let _ = wish.send(());
    }
}

/// Told when the process is dead.
type Wish = std::sync::mpsc::Sender<()>;

/// Kills a running function; may outlive it.
#[derive(Clone, Debug)]
pub struct Killer(mpsc::UnboundedSender<Wish>);

impl Killer {
    /// Kills it and waits until it is dead. Not to be called where the test itself runs, which has to see to it.
    pub fn kill(&self) {
        let (dead, told) = std::sync::mpsc::channel();
        if self.0.send(dead).is_ok() {
            // It may have died by itself: then nobody tells.
            let _ = told.recv();
        }
    }
}

/// A running function. It is killed when this is dropped.
pub struct Lambda {
    id: u32,
    killer: Killer,
    ended: watch::Receiver<bool>,
    watching: tokio::task::JoinHandle<()>,
    address: SocketAddr,
    invoke: mpsc::UnboundedSender<Invocation>,
    ahead: Duration,
    serving: tokio::task::JoinHandle<std::io::Result<()>>,
    folder: TempDir,
}

impl Drop for Lambda {
    fn drop(&mut self) {
        self.serving.abort();
        // Its process is killed with this.
        self.watching.abort();
    }
}

impl Lambda {
    /// Invokes it and waits for what it comes to.
    pub async fn invoke(&self, event: &Value) -> Invoked {
        self.invoke_for(event, TIME).await
    }

    /// Invokes it with that much time until the platform would end it.
    pub async fn invoke_for(&self, event: &Value, time: Duration) -> Invoked {
        let (done, invoked) = oneshot::channel();
        let invocation = Invocation {
            event: event.to_string().into(),
            time: self.ahead + time,
            done,
        };
        let taken = self.invoke.send(invocation).is_ok();
        assert!(taken, "the platform runs");
        let within = DEADLINE + time;
        let mut ended = self.ended.clone();
        let ending = async {
            tokio::select! {
                biased;
                invoked = invoked => invoked.ok(),
                // It sends when it ends, and never goes before that.
                _ = ended.wait_for(|ended| *ended) => Some(Invoked::Died),
            }
        };
        let Ok(Some(invoked)) = timeout(within, ending).await else {
            panic!(
                "within {within:?} there was no answer; the log:\n{}",
                self.text()
            );
        };
        invoked
    }

    /// What kills it.
    pub fn killer(&self) -> Killer {
        self.killer.clone()
    }

    /// The platform's own address, which no delivery may reach.
    pub const fn platform(&self) -> SocketAddr {
        self.address
    }

    /// Its process.
    pub const fn id(&self) -> u32 {
        self.id
    }

    /// Everything it wrote.
    pub fn text(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).expect("a log")
    }

    /// Every line that it wrote; each has to be an object.
    pub fn lines(&self) -> Vec<Value> {
        let read = |line: &str| {
            serde_json::from_str(line).unwrap_or_else(|_| panic!("not an object: {line}"))
        };
        self.text().lines().map(read).collect()
    }
}

async fn next(State(platform): State<Arc<Platform>>) -> Response {
    let Some(invocation) = platform.invocations.lock().await.recv().await else {
        return StatusCode::GONE.into_response();
    };
    let id = platform.number.fetch_add(1, Ordering::Relaxed).to_string();
    let ends = jiff::Timestamp::now().as_millisecond();
    let ends = ends.saturating_add(i64::try_from(invocation.time.as_millis()).unwrap_or(i64::MAX));
    platform
        .open
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .insert(id.clone(), invocation.done);
    let headers = [
        ("lambda-runtime-aws-request-id", id),
        ("lambda-runtime-deadline-ms", ends.to_string()),
        (
            "lambda-runtime-invoked-function-arn",
            "arn:aws:lambda:us-east-1:000000000000:function:function".to_owned(),
        ),
    ];
    (headers, invocation.event).into_response()
}

async fn response(
    State(platform): State<Arc<Platform>>,
    Path(id): Path<String>,
    body: Bytes,
) -> StatusCode {
    platform.end(&id, Invoked::Answered(value(&body)));
    StatusCode::ACCEPTED
}

async fn error(
    State(platform): State<Arc<Platform>>,
    Path(id): Path<String>,
    body: Bytes,
) -> StatusCode {
    platform.end(&id, Invoked::Failed(value(&body)));
    StatusCode::ACCEPTED
}

fn value(body: &Bytes) -> Value {
    serde_json::from_slice(body).expect("an answer in JSON")
}
