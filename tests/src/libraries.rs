//! The official Standard Webhooks libraries in Python and JavaScript, which judge requests that a destination got. What else
//! judges is installed beside them.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use data_encoding::BASE64;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::process::Command;
use tokio::time::timeout;

use crate::sink::Received;
use crate::wait::DEADLINE;

/// The headers that a signature is made of.
const HEADERS: [&str; 3] = ["webhook-id", "webhook-timestamp", "webhook-signature"];

/// A request, and the secret that its signature is judged by.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The secret, as a developer gives it to the library.
    pub secret: String,
    /// The three headers.
    pub headers: Vec<(&'static str, String)>,
    /// The bytes.
    pub body: Vec<u8>,
}

impl Judged {
    /// A request that a destination got.
    pub fn of(received: &Received, secret: &str) -> Self {
        Self {
            secret: secret.to_owned(),
            headers: HEADERS
                .map(|name| (name, received.header(name).to_owned()))
                .into(),
            body: received.body.to_vec(),
        }
    }

    /// The same with another value in a header.
    #[must_use]
    pub fn with(mut self, header: &str, value: &str) -> Self {
        for (name, found) in &mut self.headers {
            if *name == header {
                value.clone_into(found);
            }
        }
        self
    }

    fn written(&self) -> Value {
        let headers = self
            .headers
            .iter()
            .map(|(name, value)| ((*name).to_owned(), json!(value)));
        json!({
            "secret": self.secret,
            "headers": Value::Object(headers.collect()),
            "body": BASE64.encode(&self.body),
        })
    }
}

/// Which of the requests hold, by both libraries: they must agree.
pub async fn hold(requests: &[Judged]) -> Vec<bool> {
    let folder = installed();
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("libraries");
    let input: Value = requests.iter().map(Judged::written).collect();
    let input = input.to_string();
    let mut python = Command::new(folder.join("python/bin/python"));
    python.arg(scripts.join("verify.py"));
    let mut node = Command::new("node");
    node.arg(scripts.join("verify.js"))
        .env("NODE_PATH", folder.join("node_modules"));
    let python = judge(python, &input).await;
    let node = judge(node, &input).await;
    assert_eq!(python, node, "the two libraries agree on {requests:#?}");
    assert_eq!(python.len(), requests.len(), "each request is judged");
    python
}

/// Where `cargo xtask test` installed them: beside the tests' own folder, in the same build folder.
pub fn installed() -> PathBuf {
    let own = std::env::current_exe().expect("a path");
    let folder = own
        .ancestors()
        .nth(3)
        .expect("a build folder")
        .join("libraries");
    assert!(
        folder.join("installed").exists(),
        "the tests' libraries are not in {}: run `cargo xtask test`, which installs them",
        folder.display()
    );
    folder
}

async fn judge(mut command: Command, input: &str) -> Vec<bool> {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("it runs");
    let mut stdin = child.stdin.take().expect("its input");
    stdin.write_all(input.as_bytes()).await.expect("it reads");
    drop(stdin);
    let ended = timeout(DEADLINE, child.wait_with_output())
        .await
        .expect("it ends")
        .expect("it runs");
    let complaint = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{command:?}: {complaint}");
    serde_json::from_slice(&ended.stdout).expect("a list of true and false")
}
