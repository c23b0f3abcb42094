//! `cargo xtask fuzz`: brings cargo-fuzz, builds every fuzz target on nightly Rust, and runs each for its part of the
//! time. What is found fails the run, with the file that holds it and how to run it again.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::clock::{Stopwatch, written};
use crate::command::{Cargo, Failure};
use crate::environment::Environment;
use crate::subcommand;

/// The version that is installed, once, under its own name.
const VERSION: &str = "0.13.2";
/// Minutes in all, unless others are asked for.
const MINUTES: u64 = 10;
/// Longest run that is taken for meant: a day.
const MOST_MINUTES: u64 = 24 * 60;
/// Said where there is no nightly Rust.
const NO_NIGHTLY: &str =
    "nightly Rust is missing; this brings it: rustup toolchain install nightly --profile minimal";

/// Longest input, in bytes; seconds that one may take; MiB that the process may take.
const LIMITS: [&str; 3] = ["-max_len=8192", "-timeout=20", "-rss_limit_mb=2048"];

/// Everything is safe Rust but the cryptography, so that panics, broken rules, time and memory are what is looked
/// for: without a sanitizer many more inputs are run in the same time.
const BUILT: [&str; 4] = ["--fuzz-dir", "fuzz", "--sanitizer", "none"];

/// Runs all targets; exit code 1 when anything was found.
pub(crate) fn run(environment: &Environment, arguments: &[&str]) -> Result<ExitCode, String> {
    let minutes = subcommand::minutes("fuzz", arguments, MINUTES, MOST_MINUTES)?;
    Ok(match all(environment, minutes) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure(why)) => {
            println!("fuzz failed: {why}");
            ExitCode::FAILURE
        }
    })
}

fn all(environment: &Environment, minutes: u64) -> Result<(), Failure> {
    let tool = installed(environment)?;
    let target = environment.build_folder.join("fuzz");
    let target = target.to_string_lossy();
    let options = [&BUILT[..], &["--target-dir", &target]].concat();
    let build = [&["fuzz", "build"], &options[..]].concat();
    Cargo::nightly(environment, &tool, &build).run()?;

    let names = targets(&environment.root.join("fuzz/fuzz_targets"))?;
    let seconds = each(minutes, names.len());
    let whole = Stopwatch::start();
    let mut findings = Vec::new();
    for (number, name) in (1..).zip(&names) {
        println!("\n[{number}/{}] {name}, {seconds} s", names.len());
        let found = environment.build_folder.join("fuzz/corpus").join(name);
        std::fs::create_dir_all(&found)
            .map_err(|cause| Failure(format!("making {}: {cause}", found.display())))?;
        let (found, seeds) = (found.to_string_lossy(), format!("fuzz/corpus/{name}"));
        let time = format!("-max_total_time={seconds}");
        let mut run = [&["fuzz", "run"], &options[..]].concat();
        // What is found goes into the first folder; the seeds are read only.
        run.extend([name.as_str(), &*found, &seeds, "--", &time]);
        run.extend(LIMITS);
        if let Err(Failure(why)) = Cargo::nightly(environment, &tool, &run).run_showing(is_progress)
        {
            println!("{name} failed: {why}");
            findings.push(name.as_str());
        }
    }
    println!("\n{} targets in {}", names.len(), written(whole.read()));
    if findings.is_empty() {
        println!("nothing found");
        return Ok(());
    }
    for name in &findings {
        println!("{}", again(&environment.root, name));
    }
    Err(Failure(format!("findings in {}", findings.join(", "))))
}

/// The seconds of each target.
fn each(minutes: u64, targets: usize) -> u64 {
    let targets = u64::try_from(targets).unwrap_or(u64::MAX).max(1);
    (minutes.saturating_mul(60) / targets).max(1)
}

/// cargo-fuzz, installed into the build folder unless it is there.
fn installed(environment: &Environment) -> Result<PathBuf, Failure> {
    let folder = environment
        .build_folder
        .join(format!("tools/cargo-fuzz-{VERSION}"));
    let tool = folder.join("bin/cargo-fuzz");
    if !tool.exists() {
        let root = folder.to_string_lossy();
        let install = ["install", "cargo-fuzz", "--version", VERSION, "--locked"];
        let install = [&install[..], &["--root", &root]].concat();
        Cargo::with(environment, &install).run()?;
    }
    Cargo::nightly(environment, Path::new("rustc"), &["--version"])
        .run()
        .map_err(|Failure(why)| Failure(format!("{why}\n{NO_NIGHTLY}")))?;
    Ok(tool)
}

/// The names of all targets.
fn targets(folder: &Path) -> Result<Vec<String>, Failure> {
    let lost = |cause| Failure(format!("reading {}: {cause}", folder.display()));
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(lost)? {
        let path = entry.map_err(lost)?.path();
        if let Some(name) = path.file_stem() {
            names.push(name.to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// Whether a line of libFuzzer's is worth a developer's eye: not each of the thousands of inputs that reach a little
/// more code.
fn is_progress(line: &str) -> bool {
    !(line.starts_with('#') || line.trim_start().starts_with("NEW_FUNC"))
        || ["pulse", "INITED", "DONE"]
            .iter()
            .any(|word| line.contains(word))
}

/// What was found in a target, and how to run it again.
fn again(root: &Path, name: &str) -> String {
    let folder = format!("fuzz/artifacts/{name}");
    let mut files: Vec<String> = std::fs::read_dir(root.join(&folder))
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| format!("  {folder}/{}", entry.file_name().to_string_lossy()))
        .collect();
    files.sort();
    format!(
        "{name} breaks on:\n{}\n  run it again on stable Rust, and keep it: copy the file into fuzz/corpus/{name} and run\n  \
         cargo test -p switchboard-fuzzed",
        files.join("\n")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_is_shared_out_among_the_targets() {
        assert_eq!(each(10, 12), 50);
        assert_eq!(each(1, 100), 1, "none goes without");
    }

    #[test]
    fn a_finding_is_told_with_its_file_and_how_to_run_it_again() {
        let root = std::env::temp_dir().join(format!("switchboard-fuzz-{}", std::process::id()));
        let folder = root.join("fuzz/artifacts/address");
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(folder.join("crash-1"), "x").expect("a file");
        let told = again(&root, "address");
        std::fs::remove_dir_all(&root).expect("removed");
        assert!(told.contains("fuzz/artifacts/address/crash-1"), "{told}");
        assert!(told.contains("fuzz/corpus/address"), "{told}");
        assert!(told.contains("cargo test -p switchboard-fuzzed"), "{told}");
    }

    #[test]
    fn every_pulse_and_every_complaint_is_shown_and_the_many_small_steps_are_not() {
        for shown in [
            "#1024\tpulse  cov: 1",
            "#2\tINITED",
            "thread panicked at",
            "==1== ERROR",
        ] {
            assert!(is_progress(shown), "{shown}");
        }
        for hidden in [
            "#77\tNEW    cov: 5",
            "#78\tREDUCE cov: 5",
            "\tNEW_FUNC[1/2]: 0x5",
        ] {
            assert!(!is_progress(hidden), "{hidden}");
        }
    }
}
