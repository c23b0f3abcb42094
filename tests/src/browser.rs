//! Debian's Chromium without a window, driven over a pipe of its own, by the Chrome `DevTools` protocol.

use std::ffi::OsStr;
use std::process::Stdio;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;
use url::Url;

use crate::wait::{self, DEADLINE};

/// Said where the browser is not there.
const MISSING: &str = "chromium is missing; this brings it: sudo apt-get install -y chromium";

/// It reads its commands from file 3 and answers on file 4.
const START: &str = "exec chromium --headless=new --no-sandbox --disable-gpu --disable-quic --disable-dev-shm-usage \
    --no-first-run --disable-background-networking --disable-component-update --disable-sync --disable-extensions \
    --remote-debugging-pipe \"$@\" 3<&0 4>&1 0</dev/null 1>&2";

/// Whether the browser is there; the line that brings it when not.
fn find(path: &OsStr) -> Result<(), &'static str> {
    let is_there = std::env::split_paths(path).any(|folder| folder.join("chromium").is_file());
    is_there.then_some(()).ok_or(MISSING)
}

/// A browser with one page.
pub struct Browser {
    child: Child,
    commands: ChildStdin,
    answers: BufReader<ChildStdout>,
    number: u64,
    session: Option<String>,
    /// What it told without being asked, such as a dialog that a script opened.
    told: Vec<Value>,
    _folder: TempDir,
}

impl Browser {
    /// Starts one with an empty page and nothing remembered.
    pub async fn start() -> Self {
        let path = std::env::var_os("PATH").unwrap_or_default();
        if let Err(line) = find(&path) {
            panic!("{line}");
        }
        let folder = tempfile::tempdir().expect("a folder");
        let profile = format!(
            "--user-data-dir={}",
            folder.path().join("profile").display()
        );
        let log = std::fs::File::create(folder.path().join("log")).expect("a log");
        let mut child = Command::new("sh")
            .args(["-c", START, "chromium", &profile, "about:blank"])
            .env("HOME", folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log)
            .kill_on_drop(true)
            .spawn()
            .expect("sh");
        let mut browser = Self {
            commands: child.stdin.take().expect("a pipe"),
            answers: BufReader::new(child.stdout.take().expect("a pipe")),
            child,
            number: 0,
            session: None,
            told: Vec::new(),
            _folder: folder,
        };
        let target = browser
            .command("Target.createTarget", &json!({ "url": "about:blank" }))
            .await;
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let attached = browser.command("Target.attachToTarget", &attach).await;
        browser.session = attached["sessionId"].as_str().map(str::to_owned);
        for what in ["Page.enable", "Runtime.enable", "Log.enable"] {
            browser.command(what, &json!({})).await;
        }
        browser
    }

    /// Opens an address and waits until it is loaded.
    pub async fn open(&mut self, url: &Url) {
        let opened = self
            .command("Page.navigate", &json!({ "url": url.as_str() }))
            .await;
        assert!(opened.get("errorText").is_none(), "{url}: {opened}");
        self.wait("the page is loaded", "document.readyState === 'complete'")
            .await;
    }

    /// What a script in the page comes to.
    pub async fn evaluate(&mut self, script: &str) -> Value {
        let asked = json!({ "expression": script, "returnByValue": true, "awaitPromise": true });
        let mut answer = self.command("Runtime.evaluate", &asked).await;
        assert!(
            answer.get("exceptionDetails").is_none(),
            "{script}: {answer}"
        );
        answer["result"]["value"].take()
    }

    /// Waits until a script in the page comes to something true, and gives it. A page that is just being replaced
    /// counts as not yet.
    pub async fn wait(&mut self, what: &str, script: &str) -> Value {
        wait::until(&format!("{what} ({script})"), async || {
            let asked = json!({ "expression": script, "returnByValue": true });
            let mut answer = self.tried("Runtime.evaluate", &asked).await.ok()?;
            let value = answer["result"]["value"].take();
            let holds =
                !matches!(&value, Value::Null | Value::Bool(false)) && value != "" && value != 0;
            (holds && answer.get("exceptionDetails").is_none()).then_some(value)
        })
        .await
    }

    /// The text of the first element that a selector finds, as a reader sees it.
    pub async fn text(&mut self, selector: &str) -> String {
        let script = format!("document.querySelector({}).innerText", json!(selector));
        let text = self.evaluate(&script).await;
        text.as_str().unwrap_or_default().to_owned()
    }

    /// Makes the window as wide as that, in pixels of the page.
    pub async fn widen(&mut self, width: u32) {
        let size =
            json!({ "width": width, "height": 800, "deviceScaleFactor": 1, "mobile": false });
        self.command("Emulation.setDeviceMetricsOverride", &size)
            .await;
    }

    /// Every dialog, script error and broken content policy that the page has had so far.
    pub async fn misbehaviour(&mut self) -> Vec<&Value> {
        // What was told before this command was answered is read by then.
        self.command("Runtime.evaluate", &json!({ "expression": "0" }))
            .await;
        let bad = |told: &&Value| match told["method"].as_str() {
            Some("Page.javascriptDialogOpening" | "Runtime.exceptionThrown") => true,
            Some("Log.entryAdded") => told["params"]["entry"]["source"] == "security",
            Some(_) | None => false,
        };
        self.told.iter().filter(bad).collect()
    }

    /// Ends it.
    pub async fn close(mut self) {
        let _ = self.tried("Browser.close", &json!({})).await;
        let _ = timeout(DEADLINE, self.child.wait()).await;
    }

    /// Asks it for anything that the protocol knows, and gives what it answers.
    pub async fn command(&mut self, method: &str, parameters: &Value) -> Value {
        match self.tried(method, parameters).await {
            Ok(answer) => answer,
            Err(error) => panic!("the browser would not {method}: {error}"),
        }
    }

    async fn tried(&mut self, method: &str, parameters: &Value) -> Result<Value, Value> {
        self.number += 1;
        let mut command = json!({ "id": self.number, "method": method, "params": parameters });
        if let Some(session) = self.session.as_ref().filter(|_| method != "Browser.close") {
            command["sessionId"] = json!(session);
        }
        let written = format!("{command}\0");
        self.commands
            .write_all(written.as_bytes())
            .await
            .expect("the browser reads");
        loop {
            let mut answer = self.read().await;
            if answer["id"] != self.number {
                self.told.push(answer);
                continue;
            }
            return match answer.get_mut("error") {
                Some(error) => Err(error.take()),
                None => Ok(answer["result"].take()),
            };
        }
    }

    async fn read(&mut self) -> Value {
        let mut bytes = Vec::new();
        timeout(DEADLINE, self.answers.read_until(0, &mut bytes))
            .await
            .expect("the browser answers in time")
            .expect("the browser answers");
        assert_eq!(bytes.pop(), Some(0), "the browser ended");
        serde_json::from_slice(&bytes).expect("JSON")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_it_is_missing_the_test_fails_with_the_line_that_brings_it() {
        let line = find(OsStr::new("/nowhere:/nowhere-else")).expect_err("it is not there");
        assert!(line.ends_with("sudo apt-get install -y chromium"), "{line}");
    }
}
