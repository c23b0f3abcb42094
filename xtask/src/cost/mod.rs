//! `cargo xtask cost`: counts what an event asks of AWS, with the real functions over the emulator, and says what a million of
//! them cost. The debug build is counted: its calls are those of the release build, and it is there sooner.

mod bill;
mod counted;
mod idle;
mod page;
mod prices;
mod table;

use std::process::{Command, ExitCode, Stdio};

use self::bill::Billed;
use self::counted::{Calls, Counted, Scene};
use self::idle::Idle;
use self::page::Page;
use self::prices::{LOADS, USUAL};
use crate::bench::row::{Bound, Row, as_table};
use crate::command::{Cargo, Failure};
use crate::environment::Environment;
use crate::process::failed;
use crate::test;

/// What the usual event asks for: of ingress, and of the worker. Nothing else.
const CALLS: [(&str, &str, f64); 3] = [
    ("dynamodb", "PutItem", 1.0),
    ("sqs", "SendMessageBatch", 1.0),
    ("dynamodb", "UpdateItem", 3.0),
];

/// How the figures are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Table,
    Json,
}

/// Counts; exit code 1 when it could not, 2 when a figure does not keep to its bound.
pub(crate) fn run(environment: &Environment, arguments: &[&str]) -> Result<ExitCode, String> {
    let form = match arguments {
        [] => Form::Table,
        ["--json"] => Form::Json,
        _ => return Err("cost takes --json and nothing else".to_owned()),
    };
    Ok(match report(environment, form) {
        Ok(rows) if rows.iter().all(Row::holds) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::from(2),
        Err(Failure(why)) => {
            eprintln!("cost failed: {why}");
            ExitCode::FAILURE
        }
    })
}

/// Prints it; what is held to a bound.
fn report(environment: &Environment, form: Form) -> Result<Vec<Row>, Failure> {
    let counted = count(environment)?;
    let template = environment.root.join("template.yaml");
    let template = std::fs::read_to_string(&template).map_err(failed("reading the template"))?;
    let idle = Idle::of(&counted, &template);
    let pages: Vec<Page> = counted.pages.iter().map(Page::of).collect();
    let mut billed = Vec::new();
    for load in LOADS {
        for scene in &counted.scenes {
            billed.push(Billed::of(scene, &counted, load)?);
        }
    }
    let rows = bounds(&billed)?;
    match form {
        Form::Json => println!("{}", table::as_json(&billed, &idle, &pages)),
        Form::Table => {
            let scenes = &counted.scenes;
            println!("\nWhat one event asks for\n\n{}", table::calls(scenes));
            println!("Bytes of one event\n\n{}", table::bytes(scenes));
            let of_events = &counted.minutes.of_events;
            println!(
                "What one event adds to the keeper's work\n\n{}",
                table::keeper(of_events)
            );
            for load in LOADS {
                println!(
                    "Dollars for a million events, at {} a second and batches of {}\n\n{}",
                    load.events_per_second,
                    load.batch,
                    table::dollars(billed.iter().filter(|one| one.load == load))
                );
            }
            println!("{}", table::idle(&idle));
            println!("An open page\n\n{}", page::table(&pages));
            println!("{}", as_table(&rows));
        }
    }
    Ok(rows)
}

/// Builds the functions and the program that counts, and runs it.
fn count(environment: &Environment) -> Result<Counted, Failure> {
    test::emulator(environment)?;
    Cargo::building(environment, &test::FUNCTIONS).run_aside()?;
    let program = environment.build_folder.join("debug/cost");
    eprintln!("$ {}", program.display());
    let output = Command::new(&program)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(failed("counting"))?;
    if !output.status.success() {
        return Err(Failure(format!("{}: {}", program.display(), output.status)));
    }
    serde_json::from_slice(&output.stdout)
        .map_err(|cause| Failure(format!("what was counted cannot be read: {cause}")))
}

/// The usual event's calls and dollars, with their bounds.
fn bounds(billed: &[Billed<'_>]) -> Result<Vec<Row>, Failure> {
    let usual: Vec<_> = billed.iter().filter(|one| one.scene.is(USUAL)).collect();
    let first = usual
        .first()
        .ok_or_else(|| Failure("nothing was counted of the usual event".to_owned()))?;
    let row = |figure: String, value: f64, unit: &'static str, most: f64| Row {
        figure,
        value,
        unit,
        floor: None,
        bound: Bound::AtMost(most),
    };
    let mut rows = vec![row(
        "calls more or less than 1 PutItem, 1 SendMessageBatch and 3 UpdateItem".to_owned(),
        other_calls(first.scene),
        "",
        0.0,
    )];
    rows.extend(usual.iter().map(|one| {
        let rate = one.load.events_per_second;
        let figure = format!("1 KB to 3 destinations, {rate} events/s, for a million");
        row(figure, one.bill.total(), "$", one.load.bound)
    }));
    Ok(rows)
}

/// How many calls of an event are too many, or missing.
fn other_calls(scene: &Scene) -> f64 {
    let mut left: Calls = scene.both().calls;
    for (service, operation, count) in CALLS {
        let operations = left.entry(service.to_owned()).or_default();
        *operations.entry(operation.to_owned()).or_default() -= count;
    }
    left.values().flatten().map(|(_, count)| count.abs()).sum()
}

#[cfg(test)]
mod tests {
    use super::bill::tests::sample;
    use super::*;

    #[test]
    fn a_call_more_a_call_less_and_another_call_are_told() {
        let counted = sample();
        let scene = |service: &str, operation: &str, count: f64| {
            let mut scene = counted.scenes[0].clone();
            let operations = scene.worker.calls.entry(service.to_owned()).or_default();
            operations.insert(operation.to_owned(), count);
            other_calls(&scene)
        };
        let near = |found: f64, due: f64| (found - due).abs() < f64::EPSILON;
        assert!(near(other_calls(&counted.scenes[0]), 0.0));
        assert!(near(scene("dynamodb", "UpdateItem", 4.0), 1.0));
        assert!(near(scene("dynamodb", "UpdateItem", 2.0), 1.0));
        assert!(near(scene("dynamodb", "GetItem", 6.0), 6.0));
    }

    #[test]
    fn the_usual_event_is_held_to_its_calls_and_to_a_bound_under_each_load() {
        let counted = sample();
        let billed = |scene: &Scene| {
            let each = LOADS.iter();
            let rows: Vec<Row> = {
                let all: Vec<_> = each
                    .map(|load| Billed::of(scene, &counted, *load).expect("billed"))
                    .collect();
                bounds(&all).expect("the usual event is there")
            };
            rows
        };
        let rows = billed(&counted.scenes[0]);
        assert!(rows.len() == 3 && rows.iter().all(Row::holds), "{rows:?}");
        let mut dear = counted.scenes[0].clone();
        dear.ingress.write_units = 12.0;
        let held: Vec<bool> = billed(&dear).iter().map(Row::holds).collect();
        assert_eq!(held, [true, false, false]);
        let all = Billed::of(&counted.scenes[0], &counted, LOADS[0]).expect("billed");
        assert!(bounds(std::slice::from_ref(&all)).is_ok());
        assert!(bounds(&[]).is_err(), "nothing is no success");
    }
}
