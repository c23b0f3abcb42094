//! The libraries from `PyPI` and npm that the tests let judge: those of Standard Webhooks what Switchboard signs, axe-core
//! whether everybody can use the page, schemathesis whether the API is as it is described.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use super::installation::{Installation, python, run};
use crate::command::Failure;
use crate::environment::Environment;

/// Where the versions stand, seen from the root.
const VERSIONS: &str = "tests/libraries";
const PYTHON: &str = "requirements.txt";
const NODE: &str = "package.json";

/// Installs what is not there yet; a remark for the summary.
pub(super) fn install(environment: &Environment) -> Result<String, Failure> {
    let versions = environment.root.join(VERSIONS);
    let libraries = Installation {
        folder: environment.build_folder.join("libraries"),
        versions: &[versions.join(PYTHON), versions.join(NODE)],
        works: (
            "python/bin/python",
            &["-c", "import schemathesis, standardwebhooks"],
        ),
    };
    libraries.install(|folder| {
        fs::copy(versions.join(NODE), folder.join(NODE))
            .map_err(|cause| Failure(format!("{}: {cause}", folder.display())))?;
        python(folder, "python", &versions.join(PYTHON))?;
        node(folder)
    })
}

fn node(folder: &Path) -> Result<(), Failure> {
    let arguments = ["install", "--no-package-lock", "--no-audit", "--no-fund"];
    run(folder, "npm", &arguments.map(OsStr::new))
}
