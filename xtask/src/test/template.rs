//! The template of the stack on AWS, judged by cfn-lint and by SAM itself. Both come from `PyPI`, in versions that name every
//! package, and neither asks anyone: they know AWS by what they bring along.

use std::fs;
use std::process::{Command, Stdio};

use super::installation::{Installation, python};
use crate::command::Failure;
use crate::environment::Environment;

/// Where the versions stand, seen from the root.
const VERSIONS: &str = "tests/template/requirements.txt";
/// What is judged, seen from the root.
const TEMPLATE: &str = "template.yaml";
/// The judges, with their arguments. A warning of theirs is a failure, too.
const JUDGES: [(&str, &[&str]); 2] = [
    ("cfn-lint", &[TEMPLATE]),
    ("sam", &["validate", "--lint", "--template", TEMPLATE]),
];

/// Installs the judges where they are not yet, and asks each; a remark for the summary.
pub(super) fn judge(environment: &Environment) -> Result<String, Failure> {
    let versions = environment.root.join(VERSIONS);
    let lint = Installation {
        folder: environment.build_folder.join("lint"),
        versions: std::slice::from_ref(&versions),
        works: ("bin/cfn-lint", &["--version"]),
    };
    let remark = lint.install(|folder| python(folder, ".", &versions))?;
    let home = lint.folder.join("home");
    fs::create_dir_all(&home).map_err(|cause| Failure(format!("{}: {cause}", home.display())))?;
    let mut failed = Vec::new();
    for (judge, arguments) in JUDGES {
        println!("$ {judge} {}", arguments.join(" "));
        let mut command = Command::new(lint.folder.join("bin").join(judge));
        command
            .args(arguments)
            .current_dir(&environment.root)
            .stdin(Stdio::null())
            .env_clear()
            // What a developer's own AWS settings say is no business of theirs. They write their notes at home.
            .env("HOME", &home)
            .env("PATH", &environment.path)
            .env("AWS_DEFAULT_REGION", "us-east-1")
            .env("AWS_EC2_METADATA_DISABLED", "true")
            .env("SAM_CLI_TELEMETRY", "0");
        match command.status() {
            Ok(status) if status.success() => {}
            Ok(status) => failed.push(format!("{judge}: {status}")),
            Err(cause) => failed.push(format!("{judge}: {cause}")),
        }
    }
    if failed.is_empty() {
        return Ok(format!("{TEMPLATE} holds; its judges were {remark}"));
    }
    Err(Failure(format!("{TEMPLATE}: {}", failed.join(", "))))
}
