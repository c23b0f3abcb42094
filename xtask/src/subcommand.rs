//! The subcommands of `cargo xtask`, and what is said to a command line that names none of them.

use std::process::ExitCode;

use crate::bench;
use crate::cost;
use crate::e2e;
use crate::environment::Environment;
use crate::fuzz;
use crate::screenshots;
use crate::soak;
use crate::test;

/// The exit code of a command line that makes no sense.
const USAGE: u8 = 64;

/// One subcommand.
pub(crate) struct Subcommand {
    name: &'static str,
    what: &'static str,
    /// Runs it with what stands behind its name; `Err` says why that makes no sense.
    pub(crate) run: fn(&Environment, &[&str]) -> Result<ExitCode, String>,
}

const ALL: [Subcommand; 7] = [
    Subcommand {
        name: "test",
        what: "runs every check and every test there is, and ends with a summary",
        run: test::run,
    },
    Subcommand {
        name: "bench",
        what: "measures the release build beside bare floors: --json, --aws for the functions, groups by name",
        run: bench::run,
    },
    Subcommand {
        name: "cost",
        what: "counts what an event asks of AWS and says what a million of them cost: --json",
        run: cost::run,
    },
    Subcommand {
        name: "e2e",
        what: "deploys the stack on the AWS emulator and tells its story: --enforced, and --stay to look around",
        run: e2e::run,
    },
    Subcommand {
        name: "screenshots",
        what: "makes pictures of each view of the page, and those that the README shows",
        run: screenshots::run,
    },
    Subcommand {
        name: "soak",
        what: "runs it under a steady load and looks for what grows: --minutes N, 10 without it",
        run: soak::run,
    },
    Subcommand {
        name: "fuzz",
        what: "looks for inputs that break what strangers can reach: --minutes N, 10 without it",
        run: fuzz::run,
    },
];

/// The subcommand of that name.
pub(crate) fn named(name: &str) -> Option<&'static Subcommand> {
    ALL.iter().find(|known| known.name == name)
}

/// Whether a command line asks what can be run, whatever else stands in it.
pub(crate) fn asks_for_usage(arguments: &[&str]) -> bool {
    let asks = |argument: &&str| ["--help", "-h"].contains(argument);
    arguments.first() == Some(&"help") || arguments.iter().any(asks)
}

/// Says why the command line makes no sense, and what would.
pub(crate) fn refuse(why: &str) -> ExitCode {
    eprintln!("{why}\n\n{}", usage());
    ExitCode::from(USAGE)
}

/// The minutes that a command line asks for behind `name`: `usual` without an option, at most `most`.
pub(crate) fn minutes(
    name: &str,
    arguments: &[&str],
    usual: u64,
    most: u64,
) -> Result<u64, String> {
    match arguments {
        [] => Ok(usual),
        ["--minutes", number] => number
            .parse()
            .ok()
            .filter(|minutes| (1..=most).contains(minutes))
            .ok_or(format!("--minutes must be 1 to {most}")),
        _ => Err(format!("{name} takes --minutes N and nothing else")),
    }
}

/// What can be run, a line each.
pub(crate) fn usage() -> String {
    let lines = ALL
        .iter()
        .map(|Subcommand { name, what, .. }| format!("\n  {name:<12} {what}"));
    format!("cargo xtask SUBCOMMAND{}", lines.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_subcommand_is_found_by_the_name_that_the_usage_tells() {
        for known in &ALL {
            assert!(named(known.name).is_some());
            assert!(usage().contains(&format!("\n  {} ", known.name)));
        }
        assert!(named("tests").is_none());
    }

    #[test]
    fn the_usage_is_told_to_whoever_asks_alone_or_behind_a_subcommand() {
        for asking in [
            &["help"][..],
            &["help", "test"],
            &["--help"],
            &["-h"],
            &["test", "--help"],
            &["soak", "--minutes", "-h"],
        ] {
            assert!(asks_for_usage(asking), "{asking:?}");
        }
        for other in [&[][..], &["test"], &["bench", "help"], &["test", "-help"]] {
            assert!(!asks_for_usage(other), "{other:?}");
        }
    }

    #[test]
    fn the_minutes_are_the_usual_or_what_is_asked_for_and_nothing_else_is_understood() {
        let minutes = |arguments: &[&str]| minutes("soak", arguments, 10, 100);
        for (arguments, due) in [
            (&[][..], 10),
            (&["--minutes", "1"], 1),
            (&["--minutes", "100"], 100),
        ] {
            assert_eq!(minutes(arguments), Ok(due));
        }
        for other in [
            &["--minutes"][..],
            &["--minutes", "0"],
            &["--minutes", "101"],
            &["--minutes", "many"],
            &["3"],
            &["--minutes", "3", "more"],
        ] {
            assert!(minutes(other).is_err(), "{other:?}");
        }
    }
}
