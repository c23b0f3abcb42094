//! The processes of a measurement: started, asked, read from the system's own books, and killed when dropped.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::clock::Stopwatch;
use crate::command::Failure;

/// The admin token of the Switchboard that is measured.
const TOKEN: &str = "a-token-for-measurements-only";
/// The secret of its one source.
pub(crate) const SECRET: &str = "a-secret-for-measurements-only";
/// The path of its one source.
pub(crate) const SOURCE: &str = "/in/code";
/// How long a condition is waited for.
const DEADLINE: Duration = Duration::from_mins(10);
/// Ticks of the system's processor time in a second, on every Linux there is.
const TICKS: f64 = 100.0;

/// A process with an address; it is killed when this is dropped.
pub(crate) struct Process {
    child: Child,
    /// Host and port.
    pub(crate) address: String,
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn failed(what: &str) -> impl Fn(std::io::Error) -> Failure + '_ {
    move |cause| Failure(format!("{what}: {cause}"))
}

impl Process {
    /// Starts a program and waits for the line of its output that `address` finds the address in.
    pub(crate) fn start(
        command: &mut Command,
        address: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, Failure> {
        let program = command.get_program().to_string_lossy().into_owned();
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(failed(&program))?;
        let out = child
            .stdout
            .take()
            .ok_or_else(|| Failure(program.clone()))?;
        let mut process = Self {
            child,
            address: String::new(),
        };
        let mut lines = BufReader::new(out).lines();
        for line in &mut lines {
            if let Some(found) = address(&line.map_err(failed(&program))?) {
                process.address = found;
                // What it prints later is read on, so that it never waits for a reader.
                std::thread::spawn(move || lines.for_each(drop));
                return Ok(process);
            }
        }
        Err(Failure(format!("{program} ended before it listened")))
    }

    /// Asks it something; the text of its answer.
    pub(crate) fn ask(&self, method: &str, path: &str, body: &str) -> Result<String, Failure> {
        let address = &self.address;
        let what = format!("{method} {path}");
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {TOKEN}\r\nconnection: close\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        let mut stream = TcpStream::connect(address).map_err(failed(&what))?;
        stream
            .write_all(request.as_bytes())
            .map_err(failed(&what))?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).map_err(failed(&what))?;
        match answer.split_once("\r\n\r\n") {
            Some((head, body)) if head.starts_with("HTTP/1.1 200") => Ok(body.to_owned()),
            Some(_) | None => Err(Failure(format!("{what}: {answer}"))),
        }
    }

    pub(crate) fn json(&self, path: &str) -> Result<Value, Failure> {
        read(&self.ask("GET", path, "")?)
    }

    /// Its id.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// The processor time that it has used, in seconds, of user and system together.
    pub(crate) fn cpu(&self) -> Result<f64, Failure> {
        let stat = self.book("stat")?;
        // The program's name stands in brackets and may hold anything.
        let fields: Vec<&str> = stat
            .rsplit_once(')')
            .map(|(_, rest)| rest.split_whitespace().collect())
            .unwrap_or_default();
        let ticks = |n: usize| fields.get(n).and_then(|text| text.parse::<f64>().ok());
        match (ticks(11), ticks(12)) {
            (Some(user), Some(system)) => Ok((user + system) / TICKS),
            _ => Err(Failure("processor time cannot be read".to_owned())),
        }
    }

    /// Its resident memory, in MB.
    pub(crate) fn resident(&self) -> Result<f64, Failure> {
        let status = self.book("status")?;
        let kib = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))
            .and_then(|rest| rest.split_whitespace().next()?.parse::<f64>().ok());
        kib.map(|kib| kib * 1024.0 / 1e6)
            .ok_or_else(|| Failure("resident memory cannot be read".to_owned()))
    }

    /// What the system tells of it under this name.
    pub(crate) fn book(&self, name: &str) -> Result<String, Failure> {
        let file = format!("/proc/{}/{name}", self.id());
        std::fs::read_to_string(&file).map_err(failed(&file))
    }
}

/// What a program printed, as JSON.
pub(crate) fn read(text: &str) -> Result<Value, Failure> {
    serde_json::from_str(text).map_err(|cause| Failure(format!("{text:?}: {cause}")))
}

/// A number inside JSON.
pub(crate) fn number(value: &Value, pointer: &str) -> Result<f64, Failure> {
    value
        .pointer(pointer)
        .and_then(Value::as_f64)
        .ok_or_else(|| Failure(format!("{pointer} is no number in {value}")))
}

/// Where the programs that are measured lie, and a folder for what they write.
pub(crate) struct Bench {
    root: PathBuf,
    switchboard: PathBuf,
    programs: PathBuf,
    folder: PathBuf,
}

impl Bench {
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
    pub(super) fn root(&self) -> &Path {
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

/// Waits until something holds, and gives it.
pub(crate) fn until<T>(
    what: &str,
    mut holds: impl FnMut() -> Result<Option<T>, Failure>,
) -> Result<T, Failure> {
    let waited = Stopwatch::start();
    while waited.read() < DEADLINE {
        if let Some(value) = holds()? {
            return Ok(value);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Err(Failure(format!("it never held that {what}")))
}

/// Waits until a total of a Switchboard is at least so much.
pub(crate) fn until_total(of: &Process, name: &str, least: u32) -> Result<(), Failure> {
    until(&format!("{name} is {least}"), || {
        let overview = of.json("/api/overview")?;
        let total = number(&overview, &format!("/totals/{name}"))?;
        Ok((total >= f64::from(least)).then_some(()))
    })
}

/// What came to each path of a sink, once it was so many requests in all.
pub(crate) fn until_counted(sink: &Process, requests: u32) -> Result<Value, Failure> {
    until(&format!("{requests} requests came"), || {
        let counts = sink.json("/counts")?;
        let all = counts.as_object().map_or(0.0, |paths| {
            paths
                .values()
                .filter_map(|path| number(path, "/requests").ok())
                .sum()
        });
        Ok((all >= f64::from(requests)).then_some(counts))
    })
}
