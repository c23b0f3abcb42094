//! `cargo xtask test`: the steps, in their order, and what each of them runs.

mod cases;
mod dependencies;
mod emulator;
mod installation;
mod libraries;
mod results;
mod summary;
mod tally;
mod template;
mod tools;

use std::process::ExitCode;

use crate::clock::Stopwatch;
use crate::command::{Cargo, Failure};
use crate::environment::{Environment, Place};
use crate::soak;
use summary::{Row, Verdict};
use tally::Tally;

/// Whether the steps behind one that failed are run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Then {
    GoOn,
    Stop,
}

/// One step: what it does, and a remark for the summary when it passed.
struct Step {
    name: &'static str,
    run: fn(&Environment, &mut Tally) -> Result<String, Failure>,
    when_failed: Then,
}

const STEPS: [Step; 12] = [
    // Without its tools the tests would fail many minutes later, and less clearly.
    Step {
        name: "tools",
        run: tools,
        when_failed: Then::Stop,
    },
    Step {
        name: "libraries",
        run: libraries,
        when_failed: Then::GoOn,
    },
    Step {
        name: "emulator",
        run: |environment, _| emulator(environment),
        when_failed: Then::GoOn,
    },
    Step {
        name: "template",
        run: template,
        when_failed: Then::GoOn,
    },
    Step {
        name: "format",
        run: format,
        when_failed: Then::GoOn,
    },
    Step {
        name: "dependency rule",
        run: dependency_rule,
        when_failed: Then::GoOn,
    },
    Step {
        name: "clippy",
        run: clippy,
        when_failed: Then::GoOn,
    },
    Step {
        name: "docs",
        run: docs,
        when_failed: Then::GoOn,
    },
    Step {
        name: "build",
        run: build,
        when_failed: Then::GoOn,
    },
    Step {
        name: "tests",
        run: tests,
        when_failed: Then::GoOn,
    },
    Step {
        name: "soak",
        run: soak,
        when_failed: Then::GoOn,
    },
    Step {
        name: "cases",
        run: cases,
        when_failed: Then::GoOn,
    },
];

/// Runs every step and prints the summary; exit code 1 when anything failed.
pub(crate) fn run(environment: &Environment, arguments: &[&str]) -> Result<ExitCode, String> {
    if !arguments.is_empty() {
        return Err("test takes no arguments".to_owned());
    }
    let whole = Stopwatch::start();
    let mut tally = Tally::default();
    let mut rows = Vec::new();
    let mut then = Then::GoOn;
    for (number, step) in (1..).zip(&STEPS) {
        if then == Then::Stop {
            rows.push(Row::not_run(step.name));
            continue;
        }
        println!("\n[{number}/{}] {}", STEPS.len(), step.name);
        let own = Stopwatch::start();
        let verdict = match (step.run)(environment, &mut tally) {
            Ok(remark) => Verdict::Passed(remark),
            Err(Failure(why)) => {
                println!("{} failed: {why}", step.name);
                then = step.when_failed;
                Verdict::Failed(why)
            }
        };
        rows.push(Row {
            step: step.name,
            verdict,
            took: own.read(),
        });
    }
    println!("\n{}", summary::written(&rows, &tally, whole.read()));
    Ok(if rows.iter().all(Row::passed) {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn tools(environment: &Environment, _: &mut Tally) -> Result<String, Failure> {
    let found = tools::find(&environment.path)?;
    for (tool, place) in &found {
        println!("{tool}: {}", place.display());
    }
    Ok(String::new())
}

fn format(environment: &Environment, _: &mut Tally) -> Result<String, Failure> {
    Cargo::with(environment, &["fmt", "--all", "--check"]).run()?;
    Ok(String::new())
}

fn dependency_rule(environment: &Environment, _: &mut Tally) -> Result<String, Failure> {
    let members = dependencies::members(environment)?;
    let breaches = dependencies::breaches(&members);
    for breach in &breaches {
        println!("{breach}");
    }
    match breaches.len() {
        0 => Ok(format!("{} crates keep to it", members.len())),
        count => Err(Failure(format!("breaches: {count}, listed above"))),
    }
}

fn clippy(environment: &Environment, _: &mut Tally) -> Result<String, Failure> {
    let mut arguments = vec!["clippy", "--workspace", "--all-targets"];
    match environment.place {
        Place::Desk => {}
        Place::Ci => arguments.extend(["--locked", "--", "-D", "warnings"]),
    }
    Cargo::with(environment, &arguments).run()?;
    Ok(String::new())
}

fn docs(environment: &Environment, _: &mut Tally) -> Result<String, Failure> {
    let arguments = [
        "doc",
        "--workspace",
        "--no-deps",
        "--document-private-items",
    ];
    Cargo::with(environment, &arguments)
        .set("RUSTDOCFLAGS", "-D warnings")
        .run()?;
    Ok("every link in them leads somewhere".to_owned())
}

/// The functions on AWS, which end-to-end tests run too, what deploys them, and what counts their calls.
pub(crate) const FUNCTIONS: [&str; 12] = [
    "--package",
    "switchboard-ingress",
    "--package",
    "switchboard-worker",
    "--package",
    "switchboard-status",
    "--package",
    "switchboard-keeper",
    "--package",
    "switchboard-cloud",
    "--package",
    "switchboard-cost",
];

fn build(environment: &Environment, _: &mut Tally) -> Result<String, Failure> {
    Cargo::building(environment, &FUNCTIONS).run()?;
    Ok("the binaries that the end-to-end tests run".to_owned())
}

fn libraries(environment: &Environment, _: &mut Tally) -> Result<String, Failure> {
    libraries::install(environment)
}

/// Installs the emulator where it is not there yet; a remark for the summary.
pub(crate) fn emulator(environment: &Environment) -> Result<String, Failure> {
    emulator::install(environment)
}

fn template(environment: &Environment, _: &mut Tally) -> Result<String, Failure> {
    template::judge(environment)
}

fn tests(environment: &Environment, tally: &mut Tally) -> Result<String, Failure> {
    // In colour, the lines would not be known again.
    let arguments = ["--color", "never", "test", "--workspace", "--no-fail-fast"];
    let ended = Cargo::with(environment, &arguments).stream(|line| tally.read(line));
    tally.judge(ended)
}

/// Two minutes, at a desk as in continuous integration: what grows slowly shows in a longer one.
fn soak(environment: &Environment, _: &mut Tally) -> Result<String, Failure> {
    soak::soak(environment, 2)
}

fn cases(environment: &Environment, tally: &mut Tally) -> Result<String, Failure> {
    cases::judge(environment, &tally.results)
}
