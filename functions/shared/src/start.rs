//! How a function starts and ends: its settings are read whole before anything is asked for, and whatever is wrong with
//! them is one line each.

use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;

use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;
use switchboard_core::time::Clock;

use crate::clock::{self, SystemClock};
use crate::environment::{Environment, Faults};
use crate::{fail, log};

/// Exit code of unusable settings (`EX_USAGE` of sysexits).
const UNUSABLE: u8 = 64;

/// What a function starts with.
pub struct Start {
    /// The environment.
    pub environment: Environment,
    /// The clock of the whole process.
    pub clock: Arc<dyn Clock>,
    /// Randomness of the machine.
    pub rng: ChaCha20Rng,
}

/// Why a function ended.
#[derive(Debug)]
pub enum Ended {
    /// Its settings cannot be used.
    Settings(Faults),
    /// Something else, in one line.
    Other(String),
}

impl From<Faults> for Ended {
    fn from(faults: Faults) -> Self {
        Self::Settings(faults)
    }
}

impl Ended {
    /// For a reason that is told in one line.
    pub fn because(why: impl std::fmt::Display) -> Self {
        Self::Other(why.to_string())
    }
}

/// Runs a function until the platform ends it. One thread does all of it: an invocation has less than one processor.
pub fn run(function: impl AsyncFnOnce(Start) -> Result<(), Ended>) -> ExitCode {
    let environment = Environment::read();
    let level = log::level(&environment);
    fail::install(&environment);
    let ahead = clock::ahead(&environment);
    let mut seed = [0; 32];
    let ended = environment
        .whole(level)
        .map_err(Ended::from)
        .and_then(|level| {
            log::start(level);
            getrandom::fill(&mut seed).map_err(Ended::because)?;
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            let runtime = runtime.map_err(Ended::because)?;
            runtime.block_on(function(Start {
                environment,
                clock: Arc::new(SystemClock::new(ahead)),
                rng: ChaCha20Rng::from_seed(seed),
            }))
        });
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(Ended::Settings(faults)) => {
            faults.lines().iter().for_each(|line| complain(line));
            ExitCode::from(UNUSABLE)
        }
        Err(Ended::Other(why)) => {
            complain(&why);
            ExitCode::FAILURE
        }
    }
}

/// A line where errors go; the platform keeps it whatever the level of the log is.
fn complain(line: &str) {
    drop(writeln!(std::io::stderr().lock(), "switchboard: {line}"));
}
