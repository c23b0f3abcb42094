//! `events` and `dead-letters`: a part of a list, and where the next one begins.

use serde_json::Value;

use super::print::{cell, json, shown, table};
use super::{field, read};
use crate::command::{DeadLetters, Events, Narrowed, StateName};
use crate::end::{Failed, say};

/// Which events are meant, as the API's parameters.
pub(super) fn parameters(narrowed: &Narrowed) -> [(&'static str, Option<&str>); 7] {
    [
        ("source", narrowed.source.as_deref()),
        ("kind", narrowed.kind.as_deref()),
        ("sender_id", narrowed.sender_id.as_deref()),
        ("state", narrowed.state.map(StateName::as_str)),
        ("destination", narrowed.destination.as_deref()),
        ("from", narrowed.from.as_deref()),
        ("until", narrowed.until.as_deref()),
    ]
}

pub(crate) async fn events(command: Events) -> Result<(), Failed> {
    let limit = command.part.limit.to_string();
    let part = [
        ("limit", Some(limit.as_str())),
        ("after", command.part.after.as_deref()),
    ];
    let asked = [parameters(&command.narrowed).as_slice(), &part].concat();
    let answer = read(&command.reach, "/api/events", &asked).await?;
    let names = ["at", "event", "source", "kind", "sender_id"];
    let mut rows = rows(&answer, &names)?;
    for (row, item) in rows.iter_mut().zip(items(&answer)?) {
        row.push(states(item));
    }
    say(&json(command.output, &answer).unwrap_or_else(|| whole(&answer, &rows)));
    Ok(())
}

pub(crate) async fn dead_letters(command: DeadLetters) -> Result<(), Failed> {
    let limit = command.part.limit.to_string();
    let (path, names, asked) = if command.groups {
        let names = ["count", "destination", "reason", "oldest", "newest"];
        ("/api/dead-letters/groups", names, Vec::new())
    } else {
        let names = ["at", "delivery", "destination", "event", "reason"];
        let asked = vec![
            ("destination", command.destination.as_deref()),
            ("limit", Some(limit.as_str())),
            ("after", command.part.after.as_deref()),
        ];
        ("/api/dead-letters", names, asked)
    };
    let answer = read(&command.reach, path, &asked).await?;
    let rows = rows(&answer, &names)?;
    say(&json(command.output, &answer).unwrap_or_else(|| whole(&answer, &rows)));
    Ok(())
}

fn items(answer: &Value) -> Result<&Vec<Value>, Failed> {
    field(answer, "items", Value::as_array)
}

fn rows(answer: &Value, names: &[&str]) -> Result<Vec<Vec<String>>, Failed> {
    let row = |item: &Value| names.iter().map(|name| cell(item, name)).collect();
    Ok(items(answer)?.iter().map(row).collect())
}

/// How many deliveries of an event are in which state.
fn states(event: &Value) -> String {
    let states = event.get("deliveries").and_then(Value::as_object);
    let states = states.into_iter().flatten();
    let told: Vec<String> = states
        .map(|(state, count)| format!("{count} {}", shown(state)))
        .collect();
    told.join(", ")
}

/// The rows, how far the list looked, and where it goes on.
fn whole(answer: &Value, rows: &[Vec<String>]) -> String {
    let mut lines = vec![match rows {
        [] => "none".to_owned(),
        rows => table(rows),
    }];
    if let Some(looked) = answer.get("looked") {
        let at = cell(looked, "at");
        match looked.get("back_to").and_then(Value::as_str) {
            Some(to) => lines.push(format!("looked at {at}, back to {}", shown(to))),
            None => lines.push(format!("looked at {at}: all there are")),
        }
    }
    if let Some(next) = answer.get("next").and_then(Value::as_str) {
        lines.push(format!("more: --after '{}'", shown(next)));
    }
    lines.join("\n")
}
