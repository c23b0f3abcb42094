//! Which command does what.

use rand::rngs::ChaCha20Rng;
use switchboard_core::secret::SecretName;
use switchboard_core::time::Clock as _;
use switchboard_web::transport::HttpTransport;

use crate::clock::{self, SystemClock};
use crate::command::{Backup, Check, Command};
use crate::configure::{self, Environment};
use crate::end::{Failed, say};
use crate::{apply, ask, init, log, receivers, send, serve, verify};

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
        Command::Check(command) => check(&command, environment),
        Command::Send(command) => send::send(command, environment, &clock, rng).await,
        Command::Verify(command) => verify::verify(&command, environment, &clock),
        Command::Status(command) => ask::status(command).await,
        Command::Events(command) => ask::events(command).await,
        Command::DeadLetters(command) => ask::dead_letters(command).await,
        Command::Redrive(command) => ask::redrive(command).await,
        Command::Replay(command) => ask::replay(command).await,
        Command::Test(command) => ask::test(command).await,
        Command::Hold(command) => ask::hold(command).await,
        Command::Release(command) => ask::release(command).await,
        Command::Endpoint(command) => ask::endpoint(command).await,
        Command::Apply(command) => apply::apply(command).await,
        Command::Backup(command) => backup(&command),
        Command::Receivers(command) => {
            clock::check(clock.now())?;
            receivers::alone(command, std::sync::Arc::new(clock)).await
        }
    }
}

fn check(command: &Check, environment: &Environment) -> Result<(), Failed> {
    if let (true, Some(path)) = (command.deployed, &command.configuration.file) {
        let (_, secrets) = configure::deployed(path)?;
        let named: Vec<&str> = secrets.iter().map(SecretName::as_str).collect();
        say(&format!(
            "the configuration holds but for its secrets, which the deployment must have: {}",
            named.join(", ")
        ));
        return Ok(());
    }
    let configuration = configure::load(&command.configuration, environment, None)?;
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
