//! `cargo xtask screenshots`: pictures of each view of the page, in the build folder, and the two that the README shows.

use std::process::{Command, ExitCode};

use crate::command::{Cargo, Failure};
use crate::environment::Environment;

/// What is built for it beside the binary.
const BUILT: [&str; 2] = ["--package", "switchboard-tests"];
/// The pictures that the README shows, and as what.
const SHOWN: [(&str, &str); 2] = [
    ("overview-light.png", "overview.png"),
    ("event-light.png", "event.png"),
];

/// Makes them; `Err` says why the command line makes no sense.
pub(crate) fn run(environment: &Environment, arguments: &[&str]) -> Result<ExitCode, String> {
    if !arguments.is_empty() {
        return Err("screenshots takes nothing".to_owned());
    }
    Ok(match make(environment) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure(why)) => {
            println!("screenshots failed: {why}");
            ExitCode::FAILURE
        }
    })
}

fn make(environment: &Environment) -> Result<(), Failure> {
    Cargo::building(environment, &BUILT).run()?;
    let folder = environment.build_folder.join("screenshots");
    let program = environment.build_folder.join("debug/screenshots");
    println!("$ {} {}", program.display(), folder.display());
    let status = Command::new(&program).arg(&folder).status();
    let status = status.map_err(|cause| Failure(format!("{}: {cause}", program.display())))?;
    if !status.success() {
        return Err(Failure(format!("{}: {status}", program.display())));
    }
    for (made, shown) in SHOWN {
        let shown = environment.root.join("docs").join(shown);
        std::fs::copy(folder.join(made), &shown)
            .map_err(|cause| Failure(format!("{}: {cause}", shown.display())))?;
        println!("{}", shown.display());
    }
    Ok(())
}
