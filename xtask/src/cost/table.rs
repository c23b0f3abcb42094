//! The report as Markdown tables, and as JSON: a list with a row for each kind of event and load.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::bill::Billed;
use super::counted::{Calls, OfEvents, Scene};
use super::idle::Idle;
use super::page::Page;
use super::prices::{Load, USUAL};

/// What was asked for, an event a row: calls, and units of the table with those of its indexes.
pub(super) fn calls(scenes: &[Scene]) -> String {
    let mut table = "| destinations | body | retries | calls of ingress | calls of the worker | write units | read units | \
                     the emulator's figure |\n|---|---|---|---|---|---|---|---|\n"
        .to_owned();
    for scene in scenes {
        let both = scene.both();
        let _ = writeln!(
            table,
            "| {} | {} | {} | {} | {} |",
            kind(scene),
            counts(&scene.ingress.calls),
            counts(&scene.worker.calls),
            format_args!("{} | {}", both.write_units, both.read_units),
            both.reported_units,
        );
    }
    table
}

/// Bytes, an event a row.
pub(super) fn bytes(scenes: &[Scene]) -> String {
    let mut table = "| destinations | body | retries | requests | answers | in hints | sent out | logged | stored | in the stream |\n\
                     |---|---|---|---|---|---|---|---|---|---|\n"
        .to_owned();
    for scene in scenes {
        let both = scene.both();
        let counts = [
            both.request_bytes,
            both.answer_bytes,
            scene.hint_bytes,
            scene.out_bytes,
            scene.log_bytes,
            both.stored_bytes,
            both.stream_bytes,
        ];
        let counts: Vec<String> = counts.iter().map(f64::to_string).collect();
        let _ = writeln!(table, "| {} | {} |", kind(scene), counts.join(" | "));
    }
    table
}

/// What events add to the keeper's minute.
pub(super) fn keeper(of_events: &[OfEvents]) -> String {
    let mut table = "| destinations | queries of both walks | read units of these | write units of a transaction of the fold |\n\
                     |---|---|---|---|\n"
        .to_owned();
    for one in of_events {
        let _ = writeln!(
            table,
            "| {} | {} | {:.2} | {} |",
            one.destinations, one.walk_queries, one.walk_read_units, one.fold_write_units
        );
    }
    table
}

fn kind(scene: &Scene) -> String {
    format!(
        "{} | {} KB | {}",
        scene.destinations,
        scene.body_bytes / 1024,
        scene.retries
    )
}

fn counts(calls: &Calls) -> String {
    let each = calls.values().flatten();
    let words: Vec<String> = each
        .map(|(operation, count)| format!("{count} {operation}"))
        .collect();
    words.join(", ")
}

/// Dollars for a million events under one load.
pub(super) fn dollars<'a>(billed: impl IntoIterator<Item = &'a Billed<'a>>) -> String {
    let mut table = String::new();
    for billed in billed {
        let bill = &billed.bill;
        if table.is_empty() {
            let lines = bill.lines();
            let names: Vec<&str> = lines.iter().map(|(name, _)| *name).collect();
            let names = names.join(" | ").replace('_', " ");
            let _ = writeln!(
                table,
                "| destinations | body | retries | {names} | **total** | by time | kept |\n|---{}|",
                "|---".repeat(lines.len() + 5)
            );
        }
        let _ = write!(table, "| {} |", kind(billed.scene));
        for (_, dollars) in bill.lines() {
            let _ = write!(table, " {dollars:.2} |");
        }
        let _ = writeln!(
            table,
            " **{:.2}** | {:.2} | {:.2} |",
            bill.total(),
            bill.by_time,
            bill.kept
        );
    }
    table
}

/// A month of an idle stack.
pub(super) fn idle(idle: &Idle) -> String {
    let mut table = "| of an idle stack | dollars a month |\n|---|---|\n".to_owned();
    for (what, dollars) in &idle.lines {
        let _ = writeln!(table, "| {what} | {dollars:.2} |");
    }
    let _ = writeln!(table, "| **all** | **{:.2}** |", idle.total());
    let _ = writeln!(
        table,
        "\nIn a minute of it: {}.\nA busy worker reads for itself in a minute: {}; {:.2} dollars a month.",
        counts(&idle.calls),
        counts(&idle.busy_calls),
        idle.busy
    );
    table
}

/// All rows as JSON.
pub(super) fn as_json(billed: &[Billed<'_>], idle: &Idle, pages: &[Page]) -> String {
    let rows: Vec<Value> = billed.iter().map(|one| row(one, idle, pages)).collect();
    Value::Array(rows).to_string()
}

fn row(billed: &Billed<'_>, idle: &Idle, pages: &[Page]) -> Value {
    let (scene, bill) = (billed.scene, &billed.bill);
    let both = scene.both();
    let Load {
        events_per_second,
        batch,
        bound,
    } = billed.load;
    let lines: serde_json::Map<String, Value> = bill
        .lines()
        .iter()
        .map(|(name, dollars)| ((*name).to_owned(), json!(dollars)))
        .collect();
    let bound = scene.is(USUAL).then_some(bound);
    json!({
        "destinations": scene.destinations,
        "body_bytes": scene.body_bytes,
        "retries": scene.retries,
        "events_per_second": events_per_second,
        "batch": batch,
        "calls": whole(&both.calls),
        "calls_of_the_platform": billed.platform,
        "calls_of_the_keeper": billed.keeper,
        "write_units": both.write_units,
        "read_units": both.read_units,
        "request_bytes": both.request_bytes,
        "answer_bytes": both.answer_bytes,
        "hint_bytes": scene.hint_bytes,
        "out_bytes": scene.out_bytes,
        "log_bytes": scene.log_bytes,
        "stored_bytes": both.stored_bytes,
        "dollars": lines,
        "dollars_per_million": bill.total(),
        "dollars_by_time": bill.by_time,
        "dollars_kept": bill.kept,
        "idle_dollars_a_month": idle.total(),
        "idle_calls_a_minute": whole(&idle.calls),
        "open_pages": pages.iter().map(Page::row).collect::<Vec<_>>(),
        "bound": bound,
        "holds": bound.map(|bound| bill.total() <= bound),
    })
}

/// The same, with counts that are whole numbers as such.
fn whole(calls: &Calls) -> Value {
    let number = |count: f64| {
        // Counts are small.
        #[expect(clippy::cast_possible_truncation, reason = "it is whole and small")]
        let whole = count as i64;
        json!(whole)
    };
    let services = calls.iter().map(|(service, operations)| {
        let operations = operations.iter();
        let counts = operations.map(|(name, count)| (name.clone(), number(*count)));
        (service.clone(), Value::Object(counts.collect()))
    });
    Value::Object(services.collect())
}

#[cfg(test)]
mod tests {
    use super::super::bill::tests::sample;
    use super::super::prices::LOADS;
    use super::*;

    #[test]
    fn the_tables_and_the_json_tell_the_same() {
        let sample = sample();
        let scene = &sample.scenes[0];
        let billed = LOADS.map(|load| Billed::of(scene, &sample, load).expect("billed"));
        let told = calls(&sample.scenes);
        let due = "| 3 | 1 KB | 0 | 1 PutItem, 1 SendMessageBatch | 3 UpdateItem | 6 | 0 | 6 |";
        assert!(told.contains(due), "{told}");
        let told = bytes(&sample.scenes);
        let due = "| 3 | 1 KB | 0 | 200 | 20 | 7000 | 0 | 0 | 0 | 0 |";
        assert!(told.contains(due), "{told}");
        assert!(keeper(&sample.minutes.of_events).contains("| 3 | 2 | 1.00 | 10 |"));
        let month = Idle::of(&sample, "");
        let pages: Vec<Page> = sample.pages.iter().map(Page::of).collect();
        let rows: Value = serde_json::from_str(&as_json(&billed, &month, &pages)).expect("JSON");
        let first = &rows[0];
        assert_eq!(
            first["calls"]["dynamodb"],
            json!({ "PutItem": 1, "UpdateItem": 3 })
        );
        assert_eq!(
            (&first["bound"], &first["holds"]),
            (&json!(9.0), &json!(true))
        );
        let total = first["dollars_per_million"].as_f64().expect("a number");
        assert!(dollars(&billed[..1]).contains(&format!("| **{total:.2}** |")));
        assert!(idle(&month).contains(&format!("| **all** | **{:.2}** |", month.total())));
        assert_eq!(rows.as_array().map(Vec::len), Some(2));
    }

    #[test]
    fn only_the_usual_event_has_a_bound() {
        let sample = sample();
        let mut scene = sample.scenes[0].clone();
        scene.retries = 1;
        let billed = Billed::of(&scene, &sample, LOADS[0]).expect("billed");
        let row = row(&billed, &Idle::of(&sample, ""), &[]);
        assert_eq!((&row["bound"], &row["holds"]), (&Value::Null, &Value::Null));
    }
}
