//! How a Switchboard is started: its binary, flags, environment and folder.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::process::Command;

use super::TOKEN;

/// The binary under test.
pub fn binary() -> PathBuf {
    beside("switchboard")
}

/// A binary beside this program, which is a test or a binary of the same profile.
pub fn beside(name: &str) -> PathBuf {
    let own = std::env::current_exe().expect("a path");
    let folder = own.parent().expect("a folder");
    // Cargo puts tests one folder deeper.
    let is_test = folder.file_name().is_some_and(|name| name == "deps");
    let folder = if is_test {
        folder.parent()
    } else {
        Some(folder)
    };
    let binary = folder.expect("a build folder").join(name);
    assert!(
        binary.exists(),
        "{} is missing: run `cargo build --workspace --bins`, or `cargo xtask test`",
        binary.display()
    );
    binary
}

/// How a Switchboard is started.
#[derive(Clone, Debug, Default)]
pub struct Start {
    /// Its configuration; the built-in sample when there is none.
    pub configuration: Option<String>,
    /// Variables of its environment.
    pub environment: Vec<(String, String)>,
    /// Further flags.
    pub flags: Vec<String>,
    /// Variables that are taken out of its environment.
    pub unset: Vec<String>,
}

impl Start {
    /// With the built-in sample.
    pub fn sample() -> Self {
        Self::default()
    }

    /// With a configuration.
    pub fn with(configuration: &str) -> Self {
        Self {
            configuration: Some(configuration.to_owned()),
            ..Self::default()
        }
    }

    /// With one more variable.
    #[must_use]
    pub fn set(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Without a variable, such as the admin token that the tests usually give.
    #[must_use]
    pub fn unset(mut self, name: &str) -> Self {
        self.unset.push(name.to_owned());
        self
    }

    /// With one more flag.
    #[must_use]
    pub fn flag(mut self, flag: &str) -> Self {
        self.flags.push(flag.to_owned());
        self
    }
}

/// A command of the binary, with nothing of the tests' own environment.
pub fn command(folder: &Path) -> Command {
    let mut command = Command::new(binary());
    command
        .current_dir(folder)
        .env_clear()
        .env("SWITCHBOARD_ADMIN_TOKEN", TOKEN)
        .kill_on_drop(true);
    command
}

/// The command that serves in `folder` as `start` says, its output on a pipe, its log in a file.
pub(super) fn serving(folder: &Path, start: &Start) -> Command {
    let mut command = command(folder);
    command.args(["serve", "--data", "data"]);
    let is_given = |name: &str| start.flags.iter().any(|flag| flag.starts_with(name));
    if !is_given("--listen") {
        command.args(["--listen", "127.0.0.1:0"]);
    }
    match &start.configuration {
        Some(text) => {
            std::fs::write(folder.join("switchboard.toml"), text).expect("a configuration");
            command.args(["--config", "switchboard.toml"]);
        }
        None => {
            if !is_given("--receivers") {
                command.args(["--receivers", "127.0.0.1:0"]);
            }
        }
    }
    let log = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(folder.join("log"))
        .expect("a log");
    command
        .args(&start.flags)
        .envs(start.environment.iter().cloned())
        .stdout(Stdio::piped())
        .stderr(log);
    for name in &start.unset {
        command.env_remove(name);
    }
    command
}
