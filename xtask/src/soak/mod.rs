//! `cargo xtask soak`: runs the debug build of the binary, the one that the tests run, under a steady mixed load, samples
//! it each second, and fails when memory, handles, threads, files or times grow, or when anything is answered or counted
//! otherwise than it must be.

mod load;
mod sample;
mod series;
mod told;

use std::process::ExitCode;

use self::load::Load;
use self::series::SERIES;
use self::told::{as_csv, as_table};
use crate::command::{Cargo, Failure};
use crate::environment::Environment;
use crate::measured::Measured;
use crate::subcommand;

/// Minutes, unless others are asked for.
const MINUTES: u64 = 10;
/// Longest soak that is taken for meant: a week.
const MOST_MINUTES: u64 = 7 * 24 * 60;

/// Soaks; exit code 1 when anything grew or was wrong.
pub(crate) fn run(environment: &Environment, arguments: &[&str]) -> Result<ExitCode, String> {
    let minutes = subcommand::minutes("soak", arguments, MINUTES, MOST_MINUTES)?;
    let built = Cargo::building(environment, &[]).run();
    Ok(match built.and_then(|()| soak(environment, minutes)) {
        Ok(remark) => {
            println!("{remark}");
            ExitCode::SUCCESS
        }
        Err(Failure(why)) => {
            println!("soak failed: {why}");
            ExitCode::FAILURE
        }
    })
}

/// Soaks binaries that are built already; what there is to remark.
pub(crate) fn soak(environment: &Environment, minutes: u64) -> Result<String, Failure> {
    let folder = environment.build_folder.join("soak");
    let measured = Measured::new(
        environment.root.clone(),
        environment.build_folder.join("debug"),
        folder,
    )?;
    println!("{minutes} min under a steady load; a dot is ten seconds");
    let (samples, wrong) = Load::start(&measured)?.run(minutes * 60)?;
    let file = measured.path("samples.csv");
    std::fs::write(&file, as_csv(&samples))
        .map_err(|cause| Failure(format!("writing {}: {cause}", file.display())))?;
    println!("\n{}", as_table(&samples));
    println!("every sample: {}", file.display());
    let grown = SERIES.iter().filter(|series| !series.holds(&samples));
    let mut faults: Vec<String> = grown.map(|series| series.name.to_owned()).collect();
    if !faults.is_empty() {
        faults = vec![format!("grown: {}", faults.join(", "))];
    }
    faults.extend(wrong);
    if faults.is_empty() {
        // Hundreds of megabytes after ten minutes, and nobody's any more.
        drop(std::fs::remove_dir_all(measured.path("data")));
        return Ok(format!("{minutes} min, nothing grew that must not"));
    }
    Err(Failure(faults.join("; ")))
}
