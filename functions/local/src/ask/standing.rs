//! `status`: totals, the last hour, and how each destination does.

use serde_json::{Map, Value};

use super::print::{cell, json, shown, table};
use super::{field, number, read};
use crate::command::Status;
use crate::end::{Failed, say};

pub(crate) async fn status(command: Status) -> Result<(), Failed> {
    let answer = read(&command.reach, "/api/overview", &[]).await?;
    let text = text(&answer)?;
    say(&json(command.output, &answer).unwrap_or(text));
    Ok(())
}

fn text(answer: &Value) -> Result<String, Failed> {
    let totals = field(answer, "totals", Some)?;
    let recent = field(answer, "recent", Some)?;
    let n = |name: &str| number(totals, name);
    let minutes = field(recent, "minutes", Value::as_array)?;
    let hour = |name: &str| -> u64 {
        let of = minutes
            .iter()
            .filter_map(|minute| minute.get(name)?.as_u64());
        of.fold(0, u64::saturating_add)
    };
    let lines = [
        format!("as of {}", cell(answer, "at")),
        format!(
            "received {}: {} stored, {} repeats; {} refused, {} declined, {} unrouted",
            n("received")?,
            n("stored")?,
            n("repeats")?,
            n("refused")?,
            n("declined")?,
            n("unrouted")?
        ),
        format!(
            "deliveries: {} delivered, {} waiting, {} held, {} dead, {} of them expired",
            n("delivered")?,
            n("waiting")?,
            n("held")?,
            n("dead")?,
            n("expired")?
        ),
        format!(
            "last hour: {} events, {} attempts delivered, {} failed",
            hour("events"),
            hour("deliveries"),
            hour("failures")
        ),
        String::new(),
        table(&destinations(answer, recent)?),
    ];
    Ok(lines.join("\n"))
}

fn destinations(answer: &Value, recent: &Value) -> Result<Vec<Vec<String>>, Failed> {
    let head = [
        "destination",
        "delivered",
        "waiting",
        "held",
        "dead",
        "p50",
        "p95",
        "last failure",
    ];
    let on_hold = field(answer, "held", Value::as_array)?;
    let none = Value::Object(Map::new());
    let of = field(answer, "destinations", Value::as_object)?;
    let health = field(recent, "destinations", Value::as_object)?;
    let row = |(name, totals): (&String, &Value)| {
        let health = health.get(name).unwrap_or(&none);
        let is_held = on_hold.iter().any(|held| held == name);
        let failure = health.get("last_failure").unwrap_or(&none);
        let failed = match failure.get("why") {
            Some(_) => format!("{} {}", cell(failure, "at"), cell(failure, "why")),
            None => "-".to_owned(),
        };
        vec![
            format!("{}{}", shown(name), if is_held { " (held)" } else { "" }),
            cell(totals, "delivered"),
            cell(totals, "waiting"),
            cell(totals, "held"),
            cell(totals, "dead"),
            within(health, "p50_ms"),
            within(health, "p95_ms"),
            failed,
        ]
    };
    let rows = of.iter().map(row);
    Ok(std::iter::once(head.map(str::to_owned).to_vec())
        .chain(rows)
        .collect())
}

/// Within what time answers came.
fn within(health: &Value, name: &str) -> String {
    let bound = health.get(name);
    let ms = bound.and_then(|bound| bound.get("ms")?.as_u64());
    let is_more = bound.and_then(|bound| bound.get("or_more")?.as_bool());
    match (ms, is_more) {
        (Some(ms), Some(true)) => format!("> {ms} ms"),
        (Some(ms), _) => format!("{ms} ms"),
        (None, _) => "-".to_owned(),
    }
}
