//! A function's process, started as the platform starts it.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::invocations::{Invocation, Invocations};
use super::marks::Marks;
use crate::serve::serve_on;

/// How long an answer is waited for before something is said to be wrong.
const PATIENCE: Duration = Duration::from_mins(2);

/// How a function's process is started.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    /// Its binary.
    pub(crate) file: PathBuf,
    /// Behind the binary's name; the functions take none.
    pub(crate) arguments: Vec<String>,
}

impl Program {
    /// A function's own binary.
    pub(crate) fn function(file: PathBuf) -> Self {
        Self {
            file,
            arguments: Vec::new(),
        }
    }

    /// The bare function beside it: a role of this program.
    pub(crate) fn floor() -> io::Result<Self> {
        Ok(Self {
            file: std::env::current_exe()?,
            arguments: vec!["floor-function".to_owned()],
        })
    }
}

/// A running process; it is killed when this is dropped.
pub(crate) struct Function {
    child: Child,
    invoke: mpsc::UnboundedSender<Invocation>,
    serving: JoinHandle<io::Result<()>>,
}

impl Drop for Function {
    fn drop(&mut self) {
        self.serving.abort();
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Function {
    /// Starts one for an invocation that is there already, as the platform does: it gives it as soon as it is asked. The
    /// marks begin with the start of the process.
    pub(crate) async fn start(
        program: &Program,
        services: SocketAddr,
        marks: Arc<Marks>,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let platform = listener.local_addr()?;
        let (invoke, waiting) = mpsc::unbounded_channel();
        let invocations = Arc::new(Invocations::new(Arc::clone(&marks), waiting));
        let serving = tokio::spawn(serve_on(listener, move |request| {
            Arc::clone(&invocations).answer(request)
        }));
        let mut command = Command::new(&program.file);
        command
            .args(&program.arguments)
            .env_clear()
            .envs(environment(platform, services))
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        marks.begin();
        Ok(Self {
            child: command.spawn()?,
            invoke,
            serving,
        })
    }

    /// Invokes it; the answer, or why there is none.
    pub(crate) async fn invoke(&self, event: Bytes) -> io::Result<Value> {
        let (done, answer) = oneshot::channel();
        let invocation = Invocation { event, done };
        self.invoke.send(invocation).map_err(io::Error::other)?;
        let answer = timeout(PATIENCE, answer).await;
        let answer = answer.map_err(|_| io::Error::other("a function did not answer"))?;
        let answer = answer
            .map_err(io::Error::other)?
            .map_err(io::Error::other)?;
        serde_json::from_slice(&answer).map_err(io::Error::other)
    }

    /// Its process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }
}

/// What the platform and the template set.
fn environment(platform: SocketAddr, services: SocketAddr) -> Vec<(&'static str, String)> {
    let services = format!("http://{services}");
    let queue = |name: &str| format!("{services}/000000000000/{name}");
    vec![
        ("AWS_LAMBDA_RUNTIME_API", platform.to_string()),
        ("AWS_LAMBDA_FUNCTION_NAME", "measured".to_owned()),
        ("AWS_LAMBDA_FUNCTION_VERSION", "1".to_owned()),
        ("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "512".to_owned()),
        ("AWS_REGION", "us-east-1".to_owned()),
        ("AWS_ACCESS_KEY_ID", "000000000000".to_owned()),
        ("AWS_SECRET_ACCESS_KEY", "not-a-secret".to_owned()),
        ("SWITCHBOARD_TABLE", "board".to_owned()),
        ("SWITCHBOARD_DELIVERIES", queue("deliveries")),
        ("SWITCHBOARD_RETURNED", queue("returned")),
        ("SWITCHBOARD_DEAD_LETTERS", queue("dead-letters")),
        ("SWITCHBOARD_SECRETS", "board".to_owned()),
        ("RUST_LOG", "info".to_owned()),
        ("AWS_ENDPOINT_URL", services),
    ]
}
