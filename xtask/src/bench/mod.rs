//! `cargo xtask bench`: builds in release and measures the real binary on its real store, or with `--aws` the real functions
//! under a platform that answers at once; senders and destinations in processes of their own. Each figure stands beside its
//! floor from the same run, since machines differ and are shared: what counts is the ratio.

mod allocations;
mod aws;
mod figures;
pub(crate) mod row;
mod trace;
mod viewers;

use std::process::ExitCode;

use self::row::Row;
use crate::command::{Cargo, Failure};
use crate::environment::Environment;
use crate::measured::Measured;

/// A group of figures that are measured together.
struct Group {
    name: &'static str,
    measure: fn(&Measured) -> Result<Vec<Row>, Failure>,
}

/// The group that needs a build of its own.
const ALLOCATIONS: &str = "allocations";

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    /// Everything in one process, over one file.
    Local,
    /// The functions on AWS.
    Aws,
}

impl What {
    fn groups(self) -> &'static [Group] {
        match self {
            Self::Local => &LOCAL,
            Self::Aws => &aws::GROUPS,
        }
    }
}

const LOCAL: [Group; 9] = [
    Group {
        name: "accepted",
        measure: figures::accepted,
    },
    Group {
        name: "delivered",
        measure: figures::delivered,
    },
    Group {
        name: "latency",
        measure: figures::latency,
    },
    Group {
        name: "cpu",
        measure: figures::cpu,
    },
    Group {
        name: "memory",
        measure: figures::memory,
    },
    Group {
        name: "neighbours",
        measure: figures::neighbours,
    },
    Group {
        name: "history",
        measure: figures::history,
    },
    Group {
        name: "viewers",
        measure: viewers::viewers,
    },
    Group {
        name: ALLOCATIONS,
        measure: allocations::allocations,
    },
];

/// What is asked for.
#[derive(Debug, PartialEq, Eq)]
struct Asked<'a> {
    what: What,
    form: Form,
    /// The groups that are wanted; all when empty.
    groups: Vec<&'a str>,
}

/// How the figures are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Table,
    Json,
}

fn asked<'a>(arguments: &[&'a str]) -> Result<Asked<'a>, String> {
    let mut asked = Asked {
        what: What::Local,
        form: Form::Table,
        groups: Vec::new(),
    };
    for argument in arguments {
        match *argument {
            "--json" => asked.form = Form::Json,
            "--aws" => asked.what = What::Aws,
            group => asked.groups.push(group),
        }
    }
    let names: Vec<&str> = asked.what.groups().iter().map(|group| group.name).collect();
    if asked.groups.iter().all(|group| names.contains(group)) {
        return Ok(asked);
    }
    let names = names.join(", ");
    Err(match asked.what {
        What::Local => format!("bench takes --json, --aws, and without that any of {names}"),
        What::Aws => format!("bench --aws takes --json and any of {names}"),
    })
}

/// Measures; exit code 1 when it could not, 2 when a figure does not keep to its bound.
pub(crate) fn run(environment: &Environment, arguments: &[&str]) -> Result<ExitCode, String> {
    let asked = asked(arguments)?;
    Ok(match measure(environment, &asked) {
        Ok(rows) => {
            match asked.form {
                Form::Table => println!("\n{}", row::as_table(&rows)),
                Form::Json => println!("{}", row::as_json(&rows)),
            }
            if rows.iter().all(Row::holds) {
                ExitCode::SUCCESS
            } else {
                ExitCode::from(2)
            }
        }
        Err(Failure(why)) => {
            eprintln!("bench failed: {why}");
            ExitCode::FAILURE
        }
    })
}

/// The build that counts allocations knows the names of its lines: they are told by where they are made.
const COUNTING: [&str; 10] = [
    "build",
    "--package",
    "switchboard-local",
    "--release",
    "--config",
    "profile.release.strip=\"none\"",
    "--config",
    "profile.release.debug=\"line-tables-only\"",
    "--features",
    "switchboard-local/count-allocations",
];

fn measure(environment: &Environment, asked: &Asked<'_>) -> Result<Vec<Row>, Failure> {
    let wanted = |group: &Group| asked.groups.is_empty() || asked.groups.contains(&group.name);
    let groups = asked.what.groups().iter().filter(|group| wanted(group));
    let groups: Vec<&Group> = groups.collect();
    let built = environment.build_folder.join("release");
    let folder = environment.build_folder.join("bench");
    let measured = Measured::new(environment.root.clone(), built.clone(), folder.clone())?;
    let counting = measured.with(folder.join("switchboard-that-counts"));
    if groups.iter().any(|group| group.name == ALLOCATIONS) {
        Cargo::with(environment, &COUNTING).run_aside()?;
        std::fs::copy(
            built.join("switchboard"),
            folder.join("switchboard-that-counts"),
        )
        .map_err(|cause| Failure(format!("keeping the build that counts: {cause}")))?;
    }
    // What is measured is what is deployed, byte for byte.
    if asked.what == What::Aws {
        Cargo::deploying(environment, &aws::FUNCTIONS).run_aside()?;
    }
    Cargo::building(environment, &["--release"]).run_aside()?;
    let mut rows = Vec::new();
    for group in groups {
        eprintln!("measuring: {}", group.name);
        let with = if group.name == ALLOCATIONS {
            &counting
        } else {
            &measured
        };
        let found = (group.measure)(with)?;
        eprint!("{}", row::as_table(&found));
        rows.extend(found);
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_and_the_form_are_asked_for_by_name() {
        let all = asked(&[]).expect("all");
        assert_eq!((all.form, all.groups.len()), (Form::Table, 0));
        let some = asked(&["cpu", "--json"]).expect("some");
        assert_eq!((some.form, some.groups), (Form::Json, vec!["cpu"]));
        assert!(asked(&["speed"]).is_err());
    }

    #[test]
    fn the_groups_of_the_functions_are_asked_for_behind_their_own_option() {
        assert_eq!(asked(&[]).expect("all").what, What::Local);
        let all = asked(&["--aws"]).expect("all");
        assert_eq!((all.what, all.groups.len()), (What::Aws, 0));
        let some = asked(&["size", "--aws"]).expect("some");
        assert_eq!((some.what, some.groups), (What::Aws, vec!["size"]));
        assert!(asked(&["size"]).is_err());
        assert!(asked(&["--aws", "cpu"]).is_err());
    }
}
