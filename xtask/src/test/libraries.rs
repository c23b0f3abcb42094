//! The official libraries of Standard Webhooks, from `PyPI` and npm, which the tests let judge what Switchboard signs.
//! They are installed under the build folder, in the versions of `tests/libraries`, and again only when those change.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::command::Failure;
use crate::environment::Environment;

/// Where the versions stand, seen from the root.
const VERSIONS: &str = "tests/libraries";
const PYTHON: &str = "requirements.txt";
const NODE: &str = "package.json";
/// Written last: the versions that are installed whole.
const INSTALLED: &str = "installed";
/// Without it python3 makes no environment that a package could be installed in.
const NO_VENV: &str = "python3 has no venv; this brings it: sudo apt-get install -y python3-venv";

/// Installs what is not there yet; a remark for the summary.
pub(super) fn install(environment: &Environment) -> Result<String, Failure> {
    let versions = environment.root.join(VERSIONS);
    let folder = environment.build_folder.join("libraries");
    let read = |file: &str| {
        fs::read_to_string(versions.join(file))
            .map_err(|cause| Failure(format!("{VERSIONS}/{file}: {cause}")))
    };
    let wanted = [read(PYTHON)?, read(NODE)?].concat();
    if is_installed(&folder, &wanted) && works(&folder) {
        return Ok("installed before".to_owned());
    }
    start_anew(&folder)
        .and_then(|()| fs::copy(versions.join(NODE), folder.join(NODE)))
        .map_err(|cause| Failure(format!("{}: {cause}", folder.display())))?;
    python(&folder, &versions)?;
    node(&folder)?;
    fs::write(folder.join(INSTALLED), &wanted)
        .map_err(|cause| Failure(format!("{}: {cause}", folder.display())))?;
    Ok("installed".to_owned())
}

fn is_installed(folder: &Path, wanted: &str) -> bool {
    fs::read_to_string(folder.join(INSTALLED)).is_ok_and(|installed| installed == wanted)
}

/// Whether python3 is still the one that the environment was made for: the system's may have been replaced since.
fn works(folder: &Path) -> bool {
    Command::new(folder.join("python/bin/python"))
        .args(["-c", "import standardwebhooks"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// An empty folder, whatever an earlier or a broken installation left there.
fn start_anew(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => return Err(cause),
        Ok(()) | Err(_) => {}
    }
    fs::create_dir_all(folder)
}

fn python(folder: &Path, versions: &Path) -> Result<(), Failure> {
    run(
        folder,
        "python3",
        &["-c".as_ref(), "import ensurepip".as_ref()],
    )
    .map_err(|_| Failure(NO_VENV.to_owned()))?;
    run(
        folder,
        "python3",
        &["-m".as_ref(), "venv".as_ref(), "python".as_ref()],
    )?;
    let requirements = versions.join(PYTHON);
    let arguments: [&OsStr; 8] = [
        "-m".as_ref(),
        "pip".as_ref(),
        "install".as_ref(),
        "--disable-pip-version-check".as_ref(),
        "--no-input".as_ref(),
        "--no-deps".as_ref(),
        "--requirement".as_ref(),
        requirements.as_ref(),
    ];
    run(folder, folder.join("python/bin/python"), &arguments)
}

fn node(folder: &Path) -> Result<(), Failure> {
    let arguments = ["install", "--no-package-lock", "--no-audit", "--no-fund"];
    run(folder, "npm", &arguments.map(OsStr::new))
}

/// Runs a program in the folder; what it writes goes to the developer.
fn run(folder: &Path, program: impl AsRef<OsStr>, arguments: &[&OsStr]) -> Result<(), Failure> {
    let program = program.as_ref();
    let words: Vec<_> = std::iter::once(&program)
        .chain(arguments)
        .map(|word| word.to_string_lossy())
        .collect();
    let line = words.join(" ");
    println!("$ {line}");
    let status = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .status()
        .map_err(|cause| Failure(format!("{line}: {cause}")))?;
    if status.success() {
        return Ok(());
    }
    Err(Failure(format!("{line}: {status}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_installed_in_other_versions_or_not_to_the_end_is_not_installed() {
        let own = std::env::current_exe().expect("a path");
        let folder = own.with_extension("libraries");
        start_anew(&folder).expect("a folder");
        assert!(!is_installed(&folder, "a==1"), "nothing was installed");
        fs::write(folder.join(INSTALLED), "a==1").expect("written");
        assert!(is_installed(&folder, "a==1"));
        assert!(!is_installed(&folder, "a==2"), "another version");
        assert!(!works(&folder), "there is no python in it");
        start_anew(&folder).expect("a folder");
        assert!(!is_installed(&folder, "a==1"), "started anew");
        fs::remove_dir_all(&folder).expect("removed");
    }
}
