//! The binary `switchboard`: everything in one process over the embedded store, and the commands around it.

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;
use tokio::runtime::Runtime;

use command::{Command, CommandLine};
use configure::Environment;
use end::Failed;

mod alerts;
mod allocator;
mod announce;
mod apply;
mod ask;
mod clock;
mod command;
mod configure;
mod end;
mod endpoint;
mod expiry;
mod fail;
mod init;
mod log;
mod prepare;
mod receivers;
mod run;
mod samples;
mod send;
mod serve;
mod signals;
mod token;
mod verify;

fn main() -> ExitCode {
    let _count = allocator::Count::start();
    let line = CommandLine::parse();
    let program = std::env::args()
        .next()
        .unwrap_or_else(|| "switchboard".to_owned());
    let environment = Environment::read();
    let mut seed = [0; 32];
    let started = getrandom::fill(&mut seed)
        .map_err(Failed::new)
        .and_then(|()| fail::install(environment.text("SWITCHBOARD_FAIL")))
        .and_then(|()| Runtime::new().map_err(Failed::new));
    let ended = started.and_then(|runtime| {
        let command = line.command.unwrap_or(Command::Serve(line.serve));
        let mut rng = ChaCha20Rng::from_seed(seed);
        let ended = runtime.block_on(run::run(command, &environment, &program, &mut rng));
        // A name that is still being resolved must not hold up the end.
        runtime.shutdown_timeout(Duration::from_secs(1));
        ended
    });
    ended.map_or_else(|failed| failed.tell(), |()| ExitCode::SUCCESS)
}
