//! `cargo xtask`: what a developer runs. Reads the environment, finds the subcommand and runs it.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command line tool talks to whoever runs it"
)]

mod clock;
mod command;
mod environment;
mod test;

use std::process::ExitCode;

use environment::Environment;

/// The exit code of a command line that makes no sense.
const USAGE: u8 = 64;

/// One subcommand of `cargo xtask`.
struct Subcommand {
    name: &'static str,
    what: &'static str,
    run: fn(&Environment) -> ExitCode,
}

const SUBCOMMANDS: [Subcommand; 1] = [Subcommand {
    name: "test",
    what: "runs every check and every test there is, and ends with a summary",
    run: test::run,
}];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let environment = Environment::of(std::env::vars_os());
    match arguments.as_slice() {
        ["help" | "--help" | "-h"] => {
            println!("{}", usage());
            ExitCode::SUCCESS
        }
        [name] => match SUBCOMMANDS.iter().find(|known| known.name == *name) {
            Some(subcommand) => (subcommand.run)(&environment),
            None => refuse(&format!("there is no subcommand {name}")),
        },
        [] => refuse("a subcommand is missing"),
        [name, ..] => refuse(&format!("{name} takes no arguments")),
    }
}

fn refuse(why: &str) -> ExitCode {
    eprintln!("{why}\n\n{}", usage());
    ExitCode::from(USAGE)
}

fn usage() -> String {
    let lines = SUBCOMMANDS
        .iter()
        .map(|Subcommand { name, what, .. }| format!("\n  {name:<12} {what}"));
    format!("cargo xtask SUBCOMMAND{}", lines.collect::<String>())
}
