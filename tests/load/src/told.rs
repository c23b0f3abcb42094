//! What came of the events of one sender, and how that is told.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::percentiles;
use crate::wire::Answer;

/// What came of the events so far.
#[derive(Default)]
pub(crate) struct Told {
    /// How long the answers of each status took, in nanoseconds.
    times: BTreeMap<u16, Vec<u64>>,
    unanswered: u64,
    /// What was never sent, since all connections were in use.
    not_sent: u64,
    /// 503s that do not say when to try again.
    without_retry_after: u64,
    accepted: Option<BufWriter<File>>,
}

impl Told {
    /// With a file that the id of each accepted event is written to, a line each.
    pub(crate) fn listing(accepted: Option<&Path>) -> io::Result<Self> {
        let accepted = accepted.map(File::create).transpose()?;
        Ok(Self {
            accepted: accepted.map(BufWriter::new),
            ..Self::default()
        })
    }

    /// An answer came after so many nanoseconds.
    pub(crate) fn answered(&mut self, answer: Answer, event: Option<&str>, took_ns: u64) {
        self.times.entry(answer.status).or_default().push(took_ns);
        if answer.status == 503 && !answer.has_retry_after {
            self.without_retry_after += 1;
        }
        if answer.status == 200
            && let Some(file) = &mut self.accepted
            && let Some(event) = event
            && let Err(error) = writeln!(file, "{event}")
        {
            eprintln!("an accepted event is missing from the list: {error}");
        }
    }

    /// No answer came.
    pub(crate) fn unanswered(&mut self) {
        self.unanswered += 1;
    }

    /// One was not sent.
    pub(crate) fn not_sent(&mut self) {
        self.not_sent += 1;
    }

    /// All of it, as an object.
    pub(crate) fn told(mut self) -> io::Result<Map<String, Value>> {
        if let Some(file) = &mut self.accepted {
            file.flush()?;
        }
        let by_status = |tell: fn(&Vec<u64>) -> Value| -> Map<String, Value> {
            let each = self.times.iter();
            each.map(|(status, times)| (status.to_string(), tell(times)))
                .collect()
        };
        let statuses = by_status(|times| json!(times.len()));
        let answered_by_status = by_status(|times| percentiles::of(times.clone()));
        let mut told = Map::new();
        told.insert("statuses".to_owned(), Value::Object(statuses));
        told.insert("unanswered".to_owned(), json!(self.unanswered));
        told.insert("not_sent".to_owned(), json!(self.not_sent));
        let missing = json!(self.without_retry_after);
        told.insert("without_retry_after".to_owned(), missing);
        let by_status = Value::Object(answered_by_status);
        told.insert("answered_by_status".to_owned(), by_status);
        let all = self.times.into_values().flatten().collect();
        told.insert("answered".to_owned(), percentiles::of(all));
        Ok(told)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_told_by_status_and_what_a_503_lacks_is_counted() {
        let mut told = Told::default();
        let answer = |status, has_retry_after| Answer {
            status,
            has_retry_after,
        };
        told.answered(answer(200, false), None, 1_000_000);
        told.answered(answer(503, true), None, 2_000_000);
        told.answered(answer(503, false), None, 4_000_000);
        told.unanswered();
        told.not_sent();
        told.not_sent();
        let told = Value::Object(told.told().expect("told"));
        assert_eq!(told["statuses"], json!({"200": 1, "503": 2}));
        assert_eq!(told["without_retry_after"], 1);
        assert_eq!(told["unanswered"], 1);
        assert_eq!(told["not_sent"], 2);
        assert_eq!(told["answered_by_status"]["503"]["max_ms"], 4.0);
        assert_eq!(told["answered"]["count"], 3);
    }
}
