//! The load of a soak: a mixture of requests, destinations of which one is slow and one fails, somebody who looks at the
//! page, and an operator who sends some dead letters again from time to time.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use super::sample::Sample;
use crate::command::Failure;
use crate::measured::{Measured, SECRET, SOURCE};
use crate::process::{Process, number, read};
use crate::wait::until;

/// Requests a second. A debug build on two shared cores takes them without being busy.
const PER_SECOND: u64 = 100;
/// Seconds between two looks at the page, as the page itself has it.
const LOOK_EVERY: usize = 2;
/// Seconds between two redrives.
const REDRIVE_EVERY: usize = 15;
/// What the page reads, and what else an operator's tools do.
const READ: [&str; 5] = [
    "/api/overview",
    "/api/events",
    "/api/dead-letters",
    "/api/refusals",
    "/api/declined",
];

/// All parts of it, running.
pub(crate) struct Load<'a> {
    measured: &'a Measured,
    sink: Process,
    switchboard: Process,
    data: PathBuf,
    /// What the sender found, summed up.
    sent: Sent,
}

/// What was answered, in all.
#[derive(Debug, Default)]
struct Sent {
    accepted: f64,
    repeats: f64,
    refused: f64,
    declined: f64,
    wrong: f64,
}

impl Sent {
    fn add(&mut self, window: &Value) -> Result<(), Failure> {
        for (sum, name) in [
            (&mut self.accepted, "/accepted"),
            (&mut self.repeats, "/repeats"),
            (&mut self.refused, "/refused"),
            (&mut self.declined, "/declined"),
            (&mut self.wrong, "/wrong"),
        ] {
            *sum += number(window, name)?;
        }
        Ok(())
    }

    /// What the totals of an overview say otherwise than was answered.
    fn faults(&self, totals: &Value) -> Vec<String> {
        let counted = [
            ("stored", self.accepted),
            ("repeats", self.repeats),
            ("refused", self.refused),
            ("declined", self.declined),
        ];
        let mut faults: Vec<String> = counted
            .into_iter()
            .filter(|(name, sent)| totals.get(name).and_then(Value::as_f64) != Some(*sent))
            .map(|(name, sent)| format!("{name} should be {sent} of {totals}"))
            .collect();
        if self.wrong > 0.0 {
            faults.push(format!("{} requests were answered wrongly", self.wrong));
        }
        faults
    }
}

/// The sender; it is killed when this is dropped.
struct Sender(Child);

impl Drop for Sender {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

fn configuration(sink: &Process) -> String {
    let mut text =
        "allow_private_networks = true\n[[source]]\nname = \"code\"\nscheme = \"github\"\n\
                    secrets = [\"env:SECRET\"]\n"
            .to_owned();
    for name in ["healthy", "slow", "failing"] {
        let url = format!("http://{}/{name}", sink.address);
        let _ = write!(
            text,
            "[[destination]]\nname = \"{name}\"\nurl = \"{url}\"\npauses = [\"200ms\", \"400ms\"]\n"
        );
    }
    for (kind, to) in [("*", "healthy"), ("slow", "slow"), ("failing", "failing")] {
        let _ = write!(
            text,
            "[[route]]\nsource = \"code\"\nkind = \"{kind}\"\ndeliver = [{{ to = \"{to}\" }}]\n"
        );
    }
    text
}

impl<'a> Load<'a> {
    /// Starts everything but the sender.
    pub(crate) fn start(measured: &'a Measured) -> Result<Self, Failure> {
        let sink = Measured::listening(measured.load("sink").args(["--slow-ms", "500"]))?;
        let data = measured.path("data");
        let switchboard = measured.serve(&configuration(&sink), &data)?;
        Ok(Self {
            measured,
            sink,
            switchboard,
            data,
            sent: Sent::default(),
        })
    }

    /// Sends for so many seconds; a sample of each, and what was wrong.
    pub(crate) fn run(mut self, seconds: u64) -> Result<(Vec<Sample>, Vec<String>), Failure> {
        let lost = |cause: std::io::Error| Failure(format!("load mix: {cause}"));
        let mut sender = Sender(
            self.measured
                .load("mix")
                .args(["--to", &self.switchboard.address, "--path", SOURCE])
                .args(["--secret", SECRET])
                .args(["--per-second", &PER_SECOND.to_string()])
                .args(["--seconds", &seconds.to_string()])
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .spawn()
                .map_err(lost)?,
        );
        let out = sender.0.stdout.take();
        let out = out.ok_or_else(|| Failure("load mix says nothing".to_owned()))?;
        let mut samples = Vec::new();
        // It says a line each second: that is the clock of all that follows.
        for line in BufReader::new(out).lines() {
            let window = read(&line.map_err(lost)?)?;
            self.sent.add(&window)?;
            samples.push(self.look(samples.len(), &window)?);
        }
        println!();
        // The last line is of what was under way at the end of the last second.
        let expected = usize::try_from(seconds).unwrap_or(usize::MAX);
        if samples.len() != expected {
            let found = samples.len();
            return Err(Failure(format!("{found} samples in {seconds} s")));
        }
        Ok((samples, self.wrong()?))
    }

    fn look(&self, second: usize, window: &Value) -> Result<Sample, Failure> {
        let counts = read(&self.sink.ask("POST", "/counts/take", "")?)?;
        let answers = window.get("answers").unwrap_or(&Value::Null);
        let sample = Sample::of(&self.switchboard, &self.data, answers, &counts)?;
        if second.is_multiple_of(LOOK_EVERY) {
            for path in READ {
                self.switchboard.json(path)?;
            }
        }
        if second.is_multiple_of(REDRIVE_EVERY) {
            self.redrive()?;
        }
        if second.is_multiple_of(10) {
            print!(".");
            drop(std::io::stdout().flush());
        }
        Ok(sample)
    }

    /// Sends the dead letters of one page again: a bounded number, however many there are.
    fn redrive(&self) -> Result<(), Failure> {
        let page = self.switchboard.json("/api/dead-letters")?;
        let letters = page.get("items").and_then(Value::as_array);
        let deliveries: Vec<&Value> = letters
            .into_iter()
            .flatten()
            .filter_map(|letter| letter.get("delivery"))
            .collect();
        if !deliveries.is_empty() {
            let body = json!({ "deliveries": deliveries }).to_string();
            self.switchboard.ask("POST", "/admin/redrive", &body)?;
        }
        Ok(())
    }

    /// What was answered or counted wrongly, once nothing waits any more.
    fn wrong(&self) -> Result<Vec<String>, Failure> {
        let totals = until("nothing waits any more", || {
            let overview = self.switchboard.json("/api/overview")?;
            let none_waits = number(&overview, "/totals/waiting")? == 0.0;
            Ok(none_waits.then(|| overview.get("totals").cloned().unwrap_or_default()))
        })?;
        Ok(self.sent.faults(&totals))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_that_differ_from_what_was_answered_are_faults() {
        let mut sent = Sent::default();
        let window = |wrong| json!({ "accepted": 16, "repeats": 2, "refused": 1, "declined": 1, "wrong": wrong });
        sent.add(&window(0)).expect("a window");
        sent.add(&window(0)).expect("a window");
        let mut totals = json!({ "stored": 32, "repeats": 4, "refused": 2, "declined": 2 });
        assert_eq!(sent.faults(&totals), Vec::<String>::new());
        totals["refused"] = json!(1);
        sent.add(&window(1)).expect("a window");
        let faults = sent.faults(&totals);
        assert_eq!(faults.len(), 5, "{faults:?}");
        assert!(sent.add(&json!({})).is_err());
    }
}
