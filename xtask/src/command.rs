//! Running cargo and its tools: every command is shown before it starts, sees no input, and starts at the root of the
//! workspace.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use crate::environment::Environment;

/// Why a step did not pass, in one line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Failure(pub(crate) String);

/// One call of cargo.
pub(crate) struct Cargo {
    command: Command,
    line: String,
}

impl Cargo {
    /// `cargo` with these arguments.
    pub(crate) fn with(environment: &Environment, arguments: &[&str]) -> Self {
        let line = format!("cargo {}", arguments.join(" "));
        Self::called(
            environment,
            Command::new(&environment.cargo),
            arguments,
            line,
        )
    }

    /// `cargo build` of the binary and of `load`, which the tests and the measurements run, with `more` arguments.
    pub(crate) fn building(environment: &Environment, more: &[&str]) -> Self {
        let build = [
            "build",
            "--bins",
            "--package",
            "switchboard-local",
            "--package",
            "switchboard-load",
        ];
        Self::with(environment, &[&build[..], more].concat())
    }

    /// `cargo build` of these functions on AWS as they are deployed: by themselves, since what others want of a library
    /// would come with it.
    pub(crate) fn deploying(environment: &Environment, functions: &[&str]) -> Self {
        let mut build = vec!["build", "--release", "--bins"];
        let packages: Vec<String> = functions
            .iter()
            .map(|function| format!("switchboard-{function}"))
            .collect();
        for package in &packages {
            build.extend(["--package", package]);
        }
        Self::with(environment, &build)
    }

    /// A tool of cargo's on nightly Rust with these arguments.
    pub(crate) fn nightly(environment: &Environment, tool: &Path, arguments: &[&str]) -> Self {
        let tool_name = tool.to_string_lossy();
        let arguments = [&["run", "nightly", &*tool_name], arguments].concat();
        let line = format!("rustup {}", arguments.join(" "));
        Self::called(environment, Command::new("rustup"), &arguments, line)
    }

    fn called(
        environment: &Environment,
        mut command: Command,
        arguments: &[&str],
        line: String,
    ) -> Self {
        command
            .args(arguments)
            .current_dir(&environment.root)
            .stdin(Stdio::null());
        for name in &environment.own {
            command.env_remove(name);
        }
        Self { command, line }
    }

    /// The same with one more variable in its environment.
    pub(crate) fn set(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self.line = format!("{name}={value:?} {}", self.line);
        self
    }

    /// Runs it; what it writes goes to the developer.
    pub(crate) fn run(mut self) -> Result<(), Failure> {
        println!("$ {}", self.line);
        let status = self.command.status().map_err(|cause| self.lost(&cause))?;
        self.judge(status)
    }

    /// The same, shown on standard error: the output is for what was asked for.
    pub(crate) fn run_aside(mut self) -> Result<(), Failure> {
        eprintln!("$ {}", self.line);
        let status = self.command.status().map_err(|cause| self.lost(&cause))?;
        self.judge(status)
    }

    /// Runs it and hands back what it wrote; its complaints go to the developer.
    pub(crate) fn read(mut self) -> Result<String, Failure> {
        self.command.stderr(Stdio::inherit());
        let output = self.command.output().map_err(|cause| self.lost(&cause))?;
        self.judge(output.status)?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Runs it; what it writes goes to the developer and, line by line, to `each`. Its output and its complaints come
    /// through one pipe, in the order they were written: which program a result belongs to stands among the complaints.
    pub(crate) fn stream(mut self, mut each: impl FnMut(&str)) -> Result<(), Failure> {
        println!("$ {}", self.line);
        let (out, both) = std::io::pipe().map_err(|cause| self.lost(&cause))?;
        let complaints = both.try_clone().map_err(|cause| self.lost(&cause))?;
        self.command.stdout(both).stderr(complaints);
        let mut child = self.command.spawn().map_err(|cause| self.lost(&cause))?;
        // The pipe ends when nobody can write to it any more; the command itself still could.
        self.command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut out = BufReader::new(out);
        let mut bytes = Vec::new();
        while out
            .read_until(b'\n', &mut bytes)
            .map_err(|cause| self.lost(&cause))?
            > 0
        {
            let line = String::from_utf8_lossy(&bytes);
            print!("{line}");
            each(line.trim_end());
            bytes.clear();
        }
        let status = child.wait().map_err(|cause| self.lost(&cause))?;
        self.judge(status)
    }

    /// Runs it; of its complaints the developer sees those lines that `shown` picks.
    pub(crate) fn run_showing(mut self, shown: impl Fn(&str) -> bool) -> Result<(), Failure> {
        println!("$ {}", self.line);
        self.command.stderr(Stdio::piped());
        let mut child = self.command.spawn().map_err(|cause| self.lost(&cause))?;
        if let Some(complaints) = child.stderr.take() {
            for line in BufReader::new(complaints).split(b'\n') {
                let line = line.map_err(|cause| self.lost(&cause))?;
                let line = String::from_utf8_lossy(&line);
                if shown(&line) {
                    println!("{line}");
                }
            }
        }
        let status = child.wait().map_err(|cause| self.lost(&cause))?;
        self.judge(status)
    }

    fn lost(&self, cause: &std::io::Error) -> Failure {
        Failure(format!("{}: {cause}", self.line))
    }

    fn judge(&self, status: ExitStatus) -> Result<(), Failure> {
        if status.success() {
            return Ok(());
        }
        Err(Failure(format!("{}: {status}", self.line)))
    }
}
