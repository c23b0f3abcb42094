//! A process with an address: started, asked, read from the system's own books, and killed when dropped.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::command::Failure;

/// The admin token of a Switchboard that is asked.
pub(crate) const TOKEN: &str = "a-token-for-measurements-only";
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

pub(crate) fn failed(what: &str) -> impl Fn(std::io::Error) -> Failure + '_ {
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
