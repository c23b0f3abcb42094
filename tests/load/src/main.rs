//! `load`: the parts of a test or a measurement that are not Switchboard, each in a process of its own. What one found
//! out it prints as one line of JSON.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "these processes talk to the test or the measurement that started them"
)]

mod booked_sender;
mod booked_sink;
mod clock;
mod cold_start;
mod event;
mod floor_client;
mod floor_function;
mod floor_server;
mod idle;
mod isolation;
mod lock;
mod mix;
mod package;
mod percentiles;
mod platform;
mod role;
mod seed;
mod send;
mod serve;
mod sink;
mod told;
mod viewers;
mod warm;
mod wire;

use std::process::ExitCode;

use clap::Parser;

/// Plays a sender, a destination, or a bare floor.
#[derive(Parser)]
struct CommandLine {
    #[command(subcommand)]
    role: role::Role,
}

fn main() -> ExitCode {
    match role::play(CommandLine::parse().role) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("load: {error}");
            ExitCode::FAILURE
        }
    }
}
