//! A command of the binary, run to its end.

use std::path::Path;
use std::process::Stdio;

use tokio::process::Command;
use tokio::time::timeout;

use crate::switchboard;
use crate::wait::DEADLINE;

/// A command that is yet to be run.
pub struct Run(Command);

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Its exit code.
    pub code: i32,
    /// What it printed for whoever asked.
    pub out: String,
    /// What it printed about what is wrong.
    pub err: String,
}

impl Ended {
    /// Each line about what is wrong.
    pub fn lines(&self) -> Vec<&str> {
        self.err.lines().collect()
    }
}

impl Run {
    /// A command in `folder`, with the tests' admin token and nothing else in its environment.
    pub fn of(folder: &Path, arguments: &[&str]) -> Self {
        let mut command = switchboard::command(folder);
        command
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        Self(command)
    }

    /// With one more variable.
    #[must_use]
    pub fn set(mut self, name: &str, value: &str) -> Self {
        self.0.env(name, value);
        self
    }

    /// Without a variable.
    #[must_use]
    pub fn unset(mut self, name: &str) -> Self {
        self.0.env_remove(name);
        self
    }

    /// With its output going elsewhere.
    #[must_use]
    pub fn printing_to(mut self, out: impl Into<Stdio>) -> Self {
        self.0.stdout(out);
        self
    }

    /// Runs it. One that goes on for too long, such as a server that should not have started, fails the test.
    pub async fn ended(mut self) -> Ended {
        let child = self.0.spawn().expect("it runs");
        // What it was started with holds the other end of its output; gone, it is told when nobody reads any more.
        drop(self);
        let ended = timeout(DEADLINE, child.wait_with_output())
            .await
            .expect("it ends")
            .expect("it runs");
        Ended {
            code: ended.status.code().unwrap_or(-1),
            out: String::from_utf8_lossy(&ended.stdout).into_owned(),
            err: String::from_utf8_lossy(&ended.stderr).into_owned(),
        }
    }
}
