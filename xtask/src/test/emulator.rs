//! The AWS emulator, from `PyPI`, which the tests of the AWS backend run against. Its versions name every package, so that
//! it is the same one everywhere and later.

use super::installation::{Installation, python};
use crate::command::Failure;
use crate::environment::Environment;

/// Where the versions stand, seen from the root.
const VERSIONS: &str = "tests/emulator/requirements.txt";

/// Installs what is not there yet, where the testkit looks for it; a remark for the summary.
pub(super) fn install(environment: &Environment) -> Result<String, Failure> {
    let versions = environment.root.join(VERSIONS);
    let emulator = Installation {
        folder: environment.build_folder.join("emulator"),
        versions: std::slice::from_ref(&versions),
        works: ("bin/ministack", &["--help"]),
    };
    emulator.install(|folder| python(folder, ".", &versions))
}
