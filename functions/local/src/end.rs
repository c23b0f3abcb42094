//! How a command ends: its exit code, and the lines that say why.

use std::io::Write;
use std::process::ExitCode;
use std::sync::mpsc::channel;
use std::time::Duration;

/// Exit code of an unusable configuration (`EX_USAGE` of sysexits).
const UNUSABLE: u8 = 64;

/// How long the last lines of a process may take. A reader that stands still is left behind.
pub(crate) const LAST_LINES: Duration = Duration::from_secs(1);

/// A command that did not end well.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Failed {
    /// The configuration cannot be used: 64, each line one fault.
    Configuration(Vec<String>),
    /// Anything else: 1.
    Command(String),
    /// A Switchboard refused what was asked of it: 1, each line one reason.
    Refused(Vec<String>),
}

impl Failed {
    /// The failure of a command, in one line.
    pub(crate) fn new(line: impl std::fmt::Display) -> Self {
        Self::Command(line.to_string())
    }

    /// One fault of the configuration.
    pub(crate) fn configuration(line: impl std::fmt::Display) -> Self {
        Self::Configuration(vec![line.to_string()])
    }

    /// Says why, on standard error, and gives the exit code.
    pub(crate) fn tell(&self) -> ExitCode {
        match self {
            Self::Configuration(lines) => {
                each(lines);
                ExitCode::from(UNUSABLE)
            }
            Self::Refused(lines) => {
                each(lines);
                ExitCode::FAILURE
            }
            Self::Command(line) => {
                each(std::slice::from_ref(line));
                ExitCode::FAILURE
            }
        }
    }
}

/// Says each line, as the last thing that is done.
fn each(lines: &[String]) {
    let lines = lines.to_vec();
    at_the_end(move || {
        for line in &lines {
            complain(&format!("switchboard: {line}"));
        }
    });
}

/// A line for the person at the terminal. A terminal that has gone away is no reason to stop.
pub(crate) fn say(line: &str) {
    drop(writeln!(std::io::stdout().lock(), "{line}"));
}

/// Writes, and waits a moment for it: what stands in a pipe that nobody reads must not keep the process.
fn at_the_end(write: impl Fn() + Clone + Send + 'static) {
    let (end, ended) = channel::<()>();
    let own = write.clone();
    let thread = std::thread::Builder::new().name("last lines".to_owned());
    let begun = thread.spawn(move || {
        let _end = end;
        own();
    });
    match begun {
        Ok(_) => {
            let _ = ended.recv_timeout(LAST_LINES);
        }
        Err(_) => write(),
    }
}

/// A line for the person at the terminal, where errors go.
pub(crate) fn complain(line: &str) {
    drop(writeln!(std::io::stderr().lock(), "{line}"));
}
