//! Which command does what.

use rand::rngs::ChaCha20Rng;
use switchboard_core::time::Clock as _;
use switchboard_web::transport::HttpTransport;

use crate::clock::{self, SystemClock};
use crate::command::{Backup, Command, ConfigurationFile};
use crate::configure::{self, Environment};
use crate::end::{Failed, say};
use crate::{ask, init, log, receivers, send, serve, verify};

/// Runs one command to its end.
pub(crate) async fn run(
    command: Command,
    environment: &Environment,
    program: &str,
    rng: &mut ChaCha20Rng,
) -> Result<(), Failed> {
    let clock = SystemClock::new();
    match command {
        Command::Serve(command) => {
            clock::check(clock.now())?;
            let _written_at_the_end = log::start(command.log, environment.text("RUST_LOG"));
            serve::serve(command, environment, program, rng).await
        }
        Command::Init(command) => init::init(&command.folder, program, rng),
        Command::Check(file) => check(&file, environment),
        Command::Send(command) => send::send(command, environment, &clock, rng).await,
        Command::Verify(command) => verify::verify(&command, environment, &clock),
        Command::Redrive(command) => ask::redrive(command).await,
        Command::Hold(command) => ask::hold(command).await,
        Command::Release(command) => ask::release(command).await,
        Command::Endpoint(command) => ask::endpoint(command).await,
        Command::Backup(command) => backup(&command),
        Command::Receivers(command) => {
            clock::check(clock.now())?;
            receivers::alone(command, std::sync::Arc::new(clock)).await
        }
    }
}

fn check(file: &ConfigurationFile, environment: &Environment) -> Result<(), Failed> {
    let configuration = configure::load(file, environment, None)?;
    HttpTransport::new(&configuration, Vec::new()).map_err(Failed::configuration)?;
    say(&format!(
        "the configuration holds: {}, {}, {}",
        counted(configuration.sources.len(), "source"),
        counted(configuration.destinations.len(), "destination"),
        counted(configuration.routes.len(), "route")
    ));
    Ok(())
}

/// How many there are of what `one` names.
fn counted(number: usize, one: &str) -> String {
    format!("{number} {one}{}", if number == 1 { "" } else { "s" })
}

fn backup(command: &Backup) -> Result<(), Failed> {
    switchboard_embedded::backup(&command.data.folder, &command.file).map_err(Failed::new)?;
    say(&format!(
        "the store is copied to {}; it holds bodies and a secret, so keep it private",
        command.file.display()
    ));
    Ok(())
}
