//! `cargo xtask`: what a developer runs. Reads the environment, finds the subcommand and runs it.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command line tool talks to whoever runs it"
)]

mod bench;
mod clock;
mod command;
mod cost;
mod e2e;
mod environment;
mod fuzz;
mod measured;
mod process;
mod screenshots;
mod soak;
mod subcommand;
mod test;
mod wait;

use std::process::ExitCode;

use environment::Environment;
use subcommand::{asks_for_usage, named, refuse, usage};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let program = std::env::current_exe().unwrap_or_default();
    let environment = Environment::of(std::env::vars_os(), &program);
    match arguments.as_slice() {
        asking if asks_for_usage(asking) => {
            println!("{}", usage());
            ExitCode::SUCCESS
        }
        [name, arguments @ ..] => match named(name) {
            Some(subcommand) => {
                (subcommand.run)(&environment, arguments).unwrap_or_else(|why| refuse(&why))
            }
            None => refuse(&format!("there is no subcommand {name}")),
        },
        [] => refuse("a subcommand is missing"),
    }
}
