//! `cargo xtask e2e`: deploys the stack of the template on the AWS emulator and tells its story there. This builds the
//! functions and the program `cloud`, and becomes that program, so that an interrupt reaches it directly.

use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use crate::command::{Cargo, Failure};
use crate::environment::Environment;
use crate::test;

/// What `cloud` may be told.
const OPTIONS: [&str; 2] = ["--enforced", "--stay"];

/// Runs it; `Err` says why the command line makes no sense.
pub(crate) fn run(environment: &Environment, arguments: &[&str]) -> Result<ExitCode, String> {
    if let Some(other) = arguments.iter().find(|given| !OPTIONS.contains(given)) {
        return Err(format!(
            "e2e takes --enforced (the functions may do what their roles allow) and --stay (it runs on), not {other}"
        ));
    }
    // It comes back only when it could not be done.
    let Err(Failure(why)) = become_cloud(environment, arguments);
    println!("e2e failed: {why}");
    Ok(ExitCode::FAILURE)
}

fn become_cloud(
    environment: &Environment,
    arguments: &[&str],
) -> Result<std::convert::Infallible, Failure> {
    test::emulator(environment)?;
    Cargo::building(environment, &test::FUNCTIONS).run()?;
    let cloud = environment.build_folder.join("debug/cloud");
    println!("$ {} {}", cloud.display(), arguments.join(" "));
    let cause = Command::new(&cloud).args(arguments).exec();
    Err(Failure(format!("{}: {cause}", cloud.display())))
}
