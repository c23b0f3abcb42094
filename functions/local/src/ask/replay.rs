//! `replay`: call after call until nothing is left, telling how far it is.

use http::{Method, StatusCode};
use serde_json::{Map, Value, json};

use super::lists::parameters;
use super::print::{json, many, shown};
use super::{asked, number, refused};
use crate::command::Replay;
use crate::end::{Failed, complain, say};

/// What its calls came to together.
#[derive(Default)]
struct Sum {
    events: u64,
    deliveries: u64,
    looked: u64,
}

impl Sum {
    fn add(&mut self, answer: &Value) -> Result<(), Failed> {
        let looked = answer.get("looked").unwrap_or(&Value::Null);
        self.events = self.events.saturating_add(number(answer, "events")?);
        self.deliveries = self
            .deliveries
            .saturating_add(number(answer, "deliveries")?);
        self.looked = self.looked.saturating_add(number(looked, "at")?);
        Ok(())
    }
}

pub(crate) async fn replay(command: Replay) -> Result<(), Failed> {
    let mut body: Map<String, Value> = parameters(&command.narrowed)
        .into_iter()
        .chain([
            ("to", command.to.as_deref()),
            ("progress", command.progress.as_deref()),
        ])
        .filter_map(|(name, value)| Some((name.to_owned(), json!(value?))))
        .collect();
    body.insert("per_second".to_owned(), json!(command.per_second));
    body.insert("dry_run".to_owned(), json!(command.dry_run));
    let mut sum = Sum::default();
    loop {
        let wish = Some(Value::Object(body.clone()));
        let asked = asked(&command.reach, Method::POST, "/admin/replay", wish).await;
        let answer = match asked {
            Ok((StatusCode::OK, answer)) => answer,
            Ok((status, problem)) => {
                // What was not understood is not understood the next time either.
                if status != StatusCode::BAD_REQUEST {
                    cut(&command, &body);
                }
                return Err(refused(status, &problem));
            }
            Err(failed) => {
                cut(&command, &body);
                return Err(failed);
            }
        };
        sum.add(&answer).inspect_err(|_| cut(&command, &body))?;
        match answer.get("progress") {
            None | Some(Value::Null) => {
                let whole = json!({
                    "events": sum.events,
                    "deliveries": sum.deliveries,
                    "looked": sum.looked,
                    "run": answer.get("run"),
                    "dry_run": command.dry_run,
                });
                let line = told(&command, &sum);
                say(&json(command.output, &whole).unwrap_or(line));
                return Ok(());
            }
            Some(progress) => {
                // The first call only begins it.
                if sum.looked > 0 {
                    complain(&told(&command, &sum));
                }
                body.insert("progress".to_owned(), progress.clone());
            }
        }
    }
}

/// Tells how a replay that was cut goes on: begun anew, it would deliver again what is planned already.
fn cut(command: &Replay, body: &Map<String, Value>) {
    let known = body.get("progress").and_then(Value::as_str);
    if let (false, Some(progress)) = (command.dry_run, known) {
        complain(&format!(
            "switchboard: the replay was cut; it goes on with the same command and --progress '{}'",
            shown(progress)
        ));
    }
}

/// What it did, or would do.
fn told(command: &Replay, sum: &Sum) -> String {
    let Sum {
        events,
        deliveries,
        looked,
    } = sum;
    let done = if command.dry_run {
        "would be made"
    } else {
        "are made"
    };
    format!(
        "{} of {} {done} ({} looked at)",
        many(*deliveries, "delivery", "deliveries"),
        many(*events, "event", "events"),
        many(*looked, "event", "events"),
    )
}
