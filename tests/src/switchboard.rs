//! The real binary, running in a folder of its own.

use std::path::Path;
use std::process::ExitStatus;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use serde_json::Value;
use switchboard_core::time::Timestamp;
use switchboard_web::client;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};
use tokio::time::timeout;
use url::Url;

use self::start::serving;
pub use self::start::{Start, beside, binary, command};
use crate::sender::{Sender, now};
use crate::wait::{self, DEADLINE};

mod start;

/// The admin token of every Switchboard under test.
pub const TOKEN: &str = "a-token-for-tests-only";

/// The secrets of the built-in sample's sources are read from its own file, which is public.
pub const SAMPLE: &str = include_str!("../../switchboard.toml");

/// A running Switchboard. It is killed when this is dropped.
pub struct Switchboard {
    folder: TempDir,
    start: Start,
    child: Child,
    /// Its own address.
    pub url: Url,
    /// The sample receivers' address, when they run.
    pub receivers: Option<Url>,
    /// The link that signs in once.
    pub sign_in: Url,
    /// Everything it printed until it was running.
    pub printed: Vec<String>,
}

/// As of when an overview is.
fn as_of(overview: &Value) -> Timestamp {
    let at = overview["at"].as_str().and_then(Timestamp::parse);
    at.expect("a moment")
}

impl Switchboard {
    /// Starts one in a new folder.
    pub async fn start(start: Start) -> Self {
        Self::start_in(tempfile::tempdir().expect("a folder"), start).await
    }

    /// Starts one in a folder that may hold an earlier one's data.
    pub async fn start_in(folder: TempDir, start: Start) -> Self {
        match Self::begin(folder, start).await {
            Ok(switchboard) => switchboard,
            Err((status, folder)) => {
                let log = std::fs::read_to_string(folder.path().join("log")).unwrap_or_default();
                panic!("it did not start ({status}); its log:\n{log}")
            }
        }
    }

    /// Starts one that may die before it says where it is: how it ended then, and its folder.
    pub async fn begin(folder: TempDir, start: Start) -> Result<Self, (ExitStatus, TempDir)> {
        let mut child = serving(folder.path(), &start)
            .spawn()
            .expect("the binary starts");
        let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
        let mut printed = Vec::new();
        let announced = async {
            while let Some(line) = lines.next_line().await.expect("text") {
                let last = line.contains(" send ");
                printed.push(line);
                if last {
                    return;
                }
            }
        };
        timeout(DEADLINE, announced)
            .await
            .expect("it says where it is");
        let address = |what: &str| {
            let line = printed
                .iter()
                .find(|line| line.trim_start().starts_with(what))?;
            line.split_whitespace()
                .find(|word| word.starts_with("http://"))?
                .parse::<Url>()
                .ok()
        };
        let Some(url) = address("page") else {
            let ended = timeout(DEADLINE, child.wait()).await.expect("it ends");
            return Err((ended.expect("it ends"), folder));
        };
        let (receivers, sign_in) = (address("receivers"), address("sign in").expect("a link"));
        // What it prints later is read on, so that it never waits for a reader.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Ok(Self {
            folder,
            start,
            child,
            url,
            receivers,
            sign_in,
            printed,
        })
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Everything it has logged so far, in whole lines. They are written by a thread of their own, shortly after what they tell of.
    pub fn log(&self) -> String {
        let mut log = std::fs::read_to_string(self.folder.path().join("log")).expect("a log");
        log.truncate(log.rfind('\n').map_or(0, |end| end + 1));
        log
    }

    /// Everything it has logged, once that holds `line`.
    pub async fn log_with(&self, line: &str) -> String {
        let what = format!("the log holds {line:?}");
        wait::until(&what, async || {
            Some(self.log()).filter(|log| log.contains(line))
        })
        .await
    }

    /// A sender of one of its sources.
    pub fn sender(&self, source: &str, scheme: &str, secret: &str) -> Sender {
        Sender::new(self.at(&format!("/in/{source}")), scheme, secret)
    }

    /// An address on it.
    pub fn at(&self, path: &str) -> Url {
        self.url.join(path).expect("an address")
    }

    /// Asks it something with the admin token.
    pub async fn ask(
        &self,
        method: Method,
        path: &str,
        body: Option<Value>,
    ) -> (StatusCode, Value) {
        self.asked(method, path, body).await.expect("an answer")
    }

    /// [`Self::ask`], where it may die meanwhile; `None` without an answer.
    pub async fn asked(
        &self,
        method: Method,
        path: &str,
        body: Option<Value>,
    ) -> Option<(StatusCode, Value)> {
        let mut headers = HeaderMap::new();
        let bearer = format!("Bearer {TOKEN}");
        headers.insert(
            http::header::AUTHORIZATION,
            HeaderValue::from_str(&bearer).expect("a value"),
        );
        headers.insert(
            http::header::CONTENT_TYPE,
            HeaderValue::from_static("application/json"),
        );
        let body = body
            .map(|body| Bytes::from(body.to_string()))
            .unwrap_or_default();
        let asked = client::request(method, &self.at(path), headers, body, DEADLINE).await;
        let (status, body) = asked.ok()?;
        Some((status, serde_json::from_slice(&body).unwrap_or_default()))
    }

    /// What it answers to a GET; an overview as of now, not the one that others were told within a second.
    pub async fn get(&self, path: &str) -> Value {
        let asked = now();
        wait::until("an answer as of now", async || {
            let (status, body) = self.ask(Method::GET, path, None).await;
            assert_eq!(status, StatusCode::OK, "GET {path}: {body}");
            let is_old = path == "/api/overview" && as_of(&body) <= asked;
            (!is_old).then_some(body)
        })
        .await
    }

    /// Everything that a list of its API holds, page by page.
    pub async fn list(&self, path: &str) -> Vec<Value> {
        let (mut items, mut after) = (Vec::new(), String::new());
        loop {
            let mut page = self.get(&format!("{path}?limit=200{after}")).await;
            items.append(page["items"].as_array_mut().expect("a list"));
            match page["next"].as_str() {
                Some(next) => after = format!("&after={next}"),
                None => return items,
            }
        }
    }

    /// One of its totals.
    pub async fn total(&self, name: &str) -> u64 {
        self.get("/api/overview").await["totals"][name]
            .as_u64()
            .expect("a total")
    }

    /// Waits until one of its totals is what it should be.
    pub async fn wait_total(&self, name: &str, value: u64) {
        let what = format!("{name} is {value}");
        wait::until(&what, async || {
            (self.total(name).await == value).then_some(())
        })
        .await;
    }

    /// Runs another command of the binary against it; its exit code and what it printed, errors included.
    pub async fn run(&self, arguments: &[&str]) -> (i32, String) {
        let url = self.url.as_str();
        let mut command = command(self.folder.path());
        command
            .args(arguments)
            .envs(self.start.environment.iter().cloned());
        for name in &self.start.unset {
            command.env_remove(name);
        }
        if matches!(
            arguments.first(),
            Some(
                &("send"
                    | "status"
                    | "events"
                    | "dead-letters"
                    | "redrive"
                    | "replay"
                    | "test"
                    | "hold"
                    | "release"
                    | "endpoint")
            )
        ) {
            command.args(["--url", url]);
        }
        let ended = timeout(DEADLINE, command.output())
            .await
            .expect("it ends")
            .expect("it runs");
        let printed = [ended.stdout, ended.stderr].concat();
        (
            ended.status.code().unwrap_or(-1),
            String::from_utf8_lossy(&printed).into_owned(),
        )
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.id().expect("it runs")
    }

    /// Asks it to end by SIGTERM and waits for that.
    pub async fn stop(self) -> (ExitStatus, TempDir) {
        self.terminate().await;
        self.ended().await
    }

    /// Asks it to end by SIGTERM.
    pub async fn terminate(&self) {
        let pid = self.id().to_string();
        let sent = Command::new("kill")
            .args(["-TERM", &pid])
            .status()
            .await
            .expect("kill");
        assert!(sent.success(), "the signal was sent");
    }

    /// Waits until it takes no connections any more.
    pub async fn wait_closed(&self) {
        let host = self.url.host_str().expect("a host");
        let port = self.url.port_or_known_default().expect("a port");
        wait::until("it takes no connections", async || {
            TcpStream::connect((host, port))
                .await
                .is_err()
                .then_some(())
        })
        .await;
    }

    /// Whether it runs.
    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().expect("its state").is_none()
    }

    /// Waits for its end.
    pub async fn ended(mut self) -> (ExitStatus, TempDir) {
        let ended = timeout(Duration::from_secs(30), self.child.wait())
            .await
            .expect("it ends")
            .expect("it ends");
        (ended, self.folder)
    }

    /// Kills it at once, as a crash would.
    pub async fn kill(mut self) -> (TempDir, Start) {
        self.child.kill().await.expect("it is killed");
        (self.folder, self.start)
    }
}
