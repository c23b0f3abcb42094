//! Debian's Chromium without a window, driven through its `ChromeDriver`.

use std::ffi::OsStr;
use std::process::Stdio;

use data_encoding::BASE64;
use fantoccini::wd::{Capabilities, WebDriverCompatibleCommand};
use fantoccini::{Client, ClientBuilder, Locator};
use http::Method;
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::time::timeout;
use url::{ParseError, Url};

use crate::wait::{self, DEADLINE};

/// Said where the browser is not there.
const MISSING: &str =
    "chromedriver is missing; this brings it: sudo apt-get install -y chromium-driver";

/// How the browser is started. It ends with whoever holds its pipe.
const ARGUMENTS: [&str; 11] = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--remote-debugging-pipe",
];

/// Whether the browser's driver is there; the line that brings it when not.
fn find(path: &OsStr) -> Result<(), &'static str> {
    let is_there = std::env::split_paths(path).any(|folder| folder.join("chromedriver").is_file());
    is_there.then_some(()).ok_or(MISSING)
}

/// A browser with one page.
pub struct Browser {
    driver: Child,
    client: Client,
    /// What it wrote to its console, and what broke the page's content policy.
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
        let log = std::fs::File::create(folder.path().join("log")).expect("a log");
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .env("HOME", folder.path())
            .stdout(Stdio::piped())
            .stderr(log)
            .kill_on_drop(true)
            .spawn()
            .expect("the driver starts");
        let mut lines = BufReader::new(driver.stdout.take().expect("a pipe")).lines();
        let port = timeout(DEADLINE, async {
            while let Some(line) = lines.next_line().await.expect("a line") {
                let line = line.trim_end_matches('.');
                if let Some((_, port)) = line.split_once("successfully on port ") {
                    return port.to_owned();
                }
            }
            panic!("the driver ended");
        });
        let port = port.await.expect("the driver starts in time");
        // Whatever else it says is read, so that it is never held up.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        let profile = folder.path().join("profile");
        let profile = format!("--user-data-dir={}", profile.display());
        let arguments: Vec<&str> = ARGUMENTS.into_iter().chain([&*profile]).collect();
        let wanted = json!({
            "goog:chromeOptions": { "args": arguments },
            "goog:loggingPrefs": { "browser": "ALL" },
        });
        let wanted: Capabilities = serde_json::from_value(wanted).expect("capabilities");
        let client = ClientBuilder::new(HttpConnector::new())
            .capabilities(wanted)
            .connect(&format!("http://127.0.0.1:{port}"))
            .await
            .expect("a browser");
        Self {
            driver,
            client,
            told: Vec::new(),
            _folder: folder,
        }
    }

    /// Opens an address and waits until it is loaded.
    pub async fn open(&mut self, url: &Url) {
        self.client.goto(url.as_str()).await.expect("it opens");
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
        let found = self.client.find(Locator::Css(selector)).await;
        found.expect(selector).text().await.expect("its text")
    }

    /// Clicks the first element that a selector finds, where a person would: it has to be in sight.
    pub async fn click(&mut self, selector: &str) {
        let found = self.client.find(Locator::Css(selector)).await;
        found.expect(selector).click().await.expect("a click");
    }

    /// Types into the first element that a selector finds.
    pub async fn write(&mut self, selector: &str, text: &str) {
        let found = self.client.find(Locator::Css(selector)).await;
        found.expect(selector).send_keys(text).await.expect("keys");
    }

    /// The whole page, also what is out of sight, as a PNG.
    pub async fn picture(&mut self) -> Vec<u8> {
        let metrics = self.command("Page.getLayoutMetrics", &json!({})).await;
        let size = &metrics["cssContentSize"];
        // Without the place of a scroll bar, which a picture of the whole has none of, the content would be cut at its right.
        let window = self.evaluate("innerWidth").await.as_f64();
        let content = size["width"].as_f64();
        let width = content.unwrap_or(0.0).max(window.unwrap_or(0.0));
        let clip = json!({ "x": 0, "y": 0, "width": width, "height": size["height"], "scale": 1 });
        let asked = json!({ "format": "png", "captureBeyondViewport": true, "clip": clip });
        let picture = self.command("Page.captureScreenshot", &asked).await;
        let picture = picture["data"].as_str().expect("a picture");
        BASE64.decode(picture.as_bytes()).expect("base64")
    }

    /// Makes the window as wide as that, in pixels of the page.
    pub async fn widen(&mut self, width: u32) {
        let size =
            json!({ "width": width, "height": 800, "deviceScaleFactor": 1, "mobile": false });
        self.command("Emulation.setDeviceMetricsOverride", &size)
            .await;
    }

    /// Every error of a script and every break of the content policy that the page has had so far. A dialog that a script
    /// opened fails whatever is asked next.
    pub async fn misbehaviour(&mut self) -> Vec<&Value> {
        let told = self.client.issue_cmd(Asked::log()).await.expect("a log");
        self.told.extend(told.as_array().cloned().expect("a list"));
        // That the server cannot be reached is told on the page, too.
        let bad = |told: &&Value| told["level"] == "SEVERE" && told["source"] != "network";
        self.told.iter().filter(bad).collect()
    }

    /// Ends it.
    pub async fn close(mut self) {
        self.client.close().await.expect("it ends");
        self.driver.kill().await.expect("the driver ends");
    }

    /// Asks it for anything that the Chrome `DevTools` protocol knows, and gives what it answers.
    pub async fn command(&mut self, method: &str, parameters: &Value) -> Value {
        match self.tried(method, parameters).await {
            Ok(answer) => answer,
            Err(error) => panic!("the browser would not {method}: {error}"),
        }
    }

    async fn tried(&self, method: &str, parameters: &Value) -> Result<Value, String> {
        let asked = Asked::of(method, parameters);
        let answer = timeout(DEADLINE, self.client.issue_cmd(asked)).await;
        let answer = answer.expect("the browser answers in time");
        answer.map_err(|error| error.to_string())
    }
}

/// What the driver is asked for beside what every browser's driver knows.
#[derive(Clone, Debug)]
struct Asked {
    path: &'static str,
    body: Value,
}

impl Asked {
    /// A command of the Chrome `DevTools` protocol.
    fn of(method: &str, parameters: &Value) -> Self {
        Self {
            path: "goog/cdp/execute",
            body: json!({ "cmd": method, "params": parameters }),
        }
    }

    /// What the console has had since it was last asked for.
    fn log() -> Self {
        Self {
            path: "se/log",
            body: json!({ "type": "browser" }),
        }
    }
}

impl WebDriverCompatibleCommand for Asked {
    fn endpoint(&self, base: &Url, session: Option<&str>) -> Result<Url, ParseError> {
        let session = session.unwrap_or_default();
        base.join(&format!("session/{session}/{}", self.path))
    }

    fn method_and_body(&self, _: &Url) -> (Method, Option<String>) {
        (Method::POST, Some(self.body.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_it_is_missing_the_test_fails_with_the_line_that_brings_it() {
        let line = find(OsStr::new("/nowhere:/nowhere-else")).expect_err("it is not there");
        assert!(
            line.ends_with("sudo apt-get install -y chromium-driver"),
            "{line}"
        );
    }
}
