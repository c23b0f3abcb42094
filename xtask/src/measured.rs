//! What is measured: the programs of one build, a folder for what they write, and how each of them is started.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::command::Failure;
use crate::process::{Process, TOKEN, failed, read};

/// The secret of the one source of the Switchboard that is measured.
pub(crate) const SECRET: &str = "a-secret-for-measurements-only";
/// The path of that source.
pub(crate) const SOURCE: &str = "/in/code";

/// Where the programs that are measured lie, and a folder for what they write.
pub(crate) struct Measured {
    root: PathBuf,
    switchboard: PathBuf,
    programs: PathBuf,
    folder: PathBuf,
}

impl Measured {
    /// Programs in one folder, and an empty folder.
    pub(crate) fn new(root: PathBuf, programs: PathBuf, folder: PathBuf) -> Result<Self, Failure> {
        drop(std::fs::remove_dir_all(&folder));
        std::fs::create_dir_all(&folder).map_err(failed("making a folder for the measurement"))?;
        Ok(Self {
            root,
            switchboard: programs.join("switchboard"),
            programs,
            folder,
        })
    }

    /// The same with another build of the binary.
    pub(crate) fn with(&self, switchboard: PathBuf) -> Self {
        Self {
            root: self.root.clone(),
            switchboard,
            programs: self.programs.clone(),
            folder: self.folder.clone(),
        }
    }

    /// The root of the workspace.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// A path in the folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// A role of `load`.
    pub(crate) fn load(&self, role: &str) -> Command {
        let mut command = Command::new(self.programs.join("load"));
        command.arg(role);
        command
    }

    /// Starts a role that says where it listens.
    pub(crate) fn listening(command: &mut Command) -> Result<Process, Failure> {
        Process::start(command, |line| {
            line.strip_prefix("listening on ").map(str::to_owned)
        })
    }

    /// A destination; what is sent to `/slow…` is answered late.
    pub(crate) fn sink(&self) -> Result<Process, Failure> {
        Self::listening(self.load("sink").args(["--slow-ms", "2900"]))
    }

    /// Floor (a), over a new file.
    pub(crate) fn floor_server(&self) -> Result<Process, Failure> {
        let file = self.path("floor");
        drop(std::fs::remove_file(&file));
        Self::listening(
            self.load("floor-server")
                .args(["--secret", SECRET])
                .arg("--file")
                .arg(file),
        )
    }

    /// Runs a role of `load` to its end; what it found.
    fn found(command: &mut Command) -> Result<Value, Failure> {
        let output = command
            .stderr(Stdio::inherit())
            .output()
            .map_err(failed("load"))?;
        if !output.status.success() {
            return Err(Failure(format!("load: {}", output.status)));
        }
        read(&String::from_utf8_lossy(&output.stdout))
    }

    /// Posts events whose ids begin with `ids`, with further arguments; what came of them. An answer that is no 200 is a
    /// failure.
    pub(crate) fn send(
        &self,
        to: &Process,
        path: &str,
        ids: &str,
        events: u32,
        more: &[&str],
    ) -> Result<Value, Failure> {
        let events = events.to_string();
        let sent = Self::found(
            self.load("send")
                .args(["--to", &to.address, "--path", path, "--secret", SECRET])
                .args(["--ids", ids, "--events", &events])
                .args(more),
        )?;
        let accepted = sent.pointer("/statuses/200").map(ToString::to_string);
        if accepted.as_ref() == Some(&events) {
            return Ok(sent);
        }
        Err(Failure(format!("not every event was answered 200: {sent}")))
    }

    /// So many pages read the overview every two seconds, each so often; what they found. One that is not answered is a failure.
    pub(crate) fn viewers(
        &self,
        to: &Process,
        pages: u32,
        readings: u32,
    ) -> Result<Value, Failure> {
        let found = Self::found(
            self.load("viewers")
                .args(["--to", &to.address, "--token", TOKEN])
                .args(["--pages", &pages.to_string()])
                .args(["--readings", &readings.to_string()]),
        )?;
        if found.pointer("/unanswered").and_then(Value::as_u64) == Some(0) {
            return Ok(found);
        }
        Err(Failure(format!("not every reading was answered: {found}")))
    }

    /// Floor (b): posts to these paths of the sink.
    pub(crate) fn floor_client(
        &self,
        sink: &Process,
        paths: &[String],
        posts: u32,
    ) -> Result<Value, Failure> {
        let mut command = self.load("floor-client");
        command.args(["--posts", &posts.to_string()]);
        for path in paths {
            command.args(["--url", &format!("http://{}{path}", sink.address)]);
        }
        Self::found(&mut command)
    }

    /// Runs a role to its end that takes the real ingress and worker, with further arguments; what it found.
    pub(crate) fn functions(&self, role: &str, more: &[&str]) -> Result<Value, Failure> {
        let program = |name: &str| self.programs.join(name);
        Self::found(
            self.load(role)
                .arg("--ingress")
                .arg(program("ingress"))
                .arg("--worker")
                .arg(program("worker"))
                .args(more),
        )
    }

    /// What a function's package comes to.
    pub(crate) fn package(&self, function: &str) -> Result<Value, Failure> {
        Self::found(
            self.load("package")
                .arg("--program")
                .arg(self.programs.join(function)),
        )
    }

    /// Fills a data folder with delivered events.
    pub(crate) fn seed(&self, data: &Path, events: u32) -> Result<Value, Failure> {
        Self::found(
            self.load("seed")
                .args(["--source", "code", "--destination", "d0"])
                .args(["--events", &events.to_string()])
                .arg("--data")
                .arg(data),
        )
    }

    /// A Switchboard with one source, whose every event goes to these paths of the sink, over a data folder.
    pub(crate) fn switchboard(
        &self,
        sink: &Process,
        paths: &[&str],
        data: &Path,
    ) -> Result<Process, Failure> {
        self.serve(&configuration(&sink.address, paths), data)
    }

    /// A Switchboard with a configuration over a data folder; its one secret is [`SECRET`].
    pub(crate) fn serve(&self, configuration: &str, data: &Path) -> Result<Process, Failure> {
        let file = self.path("switchboard.toml");
        std::fs::write(&file, configuration).map_err(failed("writing a configuration"))?;
        let log = std::fs::File::create(self.path("log")).map_err(failed("making a log"))?;
        Process::start(
            Command::new(&self.switchboard)
                .args(["serve", "--listen", "127.0.0.1:0", "--config"])
                .arg(file)
                .arg("--data")
                .arg(data)
                .current_dir(&self.folder)
                .env_clear()
                .env("SECRET", SECRET)
                .env("SWITCHBOARD_ADMIN_TOKEN", TOKEN)
                .stderr(log),
            |line| {
                let rest = line.trim_start().strip_prefix("page")?;
                let address = rest.split_once("http://")?.1;
                Some(address.trim_end().trim_end_matches('/').to_owned())
            },
        )
    }

    /// The same over a new data folder.
    pub(crate) fn fresh(&self, sink: &Process, paths: &[&str]) -> Result<Process, Failure> {
        let data = self.path("data");
        drop(std::fs::remove_dir_all(&data));
        self.switchboard(sink, paths, &data)
    }
}

/// Destinations d0, d1, …, each a path of the sink.
fn configuration(sink: &str, paths: &[&str]) -> String {
    let mut text =
        "allow_private_networks = true\n[[source]]\nname = \"code\"\nscheme = \"github\"\n\
                    secrets = [\"env:SECRET\"]\n"
            .to_owned();
    let mut deliver = Vec::new();
    for (n, path) in paths.iter().enumerate() {
        let url = if path.starts_with("http") {
            (*path).to_owned()
        } else {
            format!("http://{sink}{path}")
        };
        let _ = write!(
            text,
            "[[destination]]\nname = \"d{n}\"\nurl = \"{url}\"\ntime_limit = \"30s\"\n"
        );
        deliver.push(format!("{{ to = \"d{n}\" }}"));
    }
    let _ = write!(
        text,
        "[[route]]\nsource = \"code\"\nkind = \"*\"\ndeliver = [{}]\n",
        deliver.join(", ")
    );
    text
}
