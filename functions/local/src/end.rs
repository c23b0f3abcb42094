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
                let lines = lines.clone();
                at_the_end(move || {
                    for line in &lines {
                        complain(&format!("switchboard: {line}"));
                    }
                });
                ExitCode::from(UNUSABLE)
            }
            Self::Command(line) => {
                let line = format!("switchboard: {line}");
                at_the_end(move || complain(&line));
                ExitCode::FAILURE
            }
        }
    }
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
