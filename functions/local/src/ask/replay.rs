//! `replay`: call after call until nothing is left, telling how far it is.

use http::Method;
use serde_json::{Map, Value, json};

use super::lists::parameters;
use super::print::json;
use super::{ask, number};
use crate::command::Replay;
use crate::end::{Failed, complain, say};

/// What its calls came to together.
#[derive(Default)]
struct Sum {
    events: u64,
    deliveries: u64,
    looked: u64,
}

pub(crate) async fn replay(command: Replay) -> Result<(), Failed> {
    let mut body: Map<String, Value> = parameters(&command.narrowed)
        .into_iter()
        .chain([("to", command.to.as_deref())])
        .filter_map(|(name, value)| Some((name.to_owned(), json!(value?))))
        .collect();
    body.insert("per_second".to_owned(), json!(command.per_second));
    body.insert("dry_run".to_owned(), json!(command.dry_run));
    let mut sum = Sum::default();
    loop {
        let wish = Some(Value::Object(body.clone()));
        let answer = ask(&command.reach, Method::POST, "/admin/replay", wish).await;
        let answer = answer.inspect_err(|_| {
            if sum.deliveries > 0 && !command.dry_run {
                // They are stored; beginning again would deliver them once more.
                complain(&format!(
                    "switchboard: before that, {}",
                    told(&command, &sum)
                ));
            }
        })?;
        let looked = answer.get("looked").unwrap_or(&Value::Null);
        sum = Sum {
            events: sum.events.saturating_add(number(&answer, "events")?),
            deliveries: sum
                .deliveries
                .saturating_add(number(&answer, "deliveries")?),
            looked: sum.looked.saturating_add(number(looked, "at")?),
        };
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
                complain(&told(&command, &sum));
                body.insert("progress".to_owned(), progress.clone());
            }
        }
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
    format!("{deliveries} deliveries of {events} events {done} ({looked} events looked at)")
}
