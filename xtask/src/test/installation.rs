//! What is installed under the build folder for the tests, in versions that stand in files: once, and again only when those
//! change or it works no more.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::command::Failure;

/// Written last: the versions that are installed whole.
const INSTALLED: &str = "installed";
/// Without it python3 makes no environment that a package could be installed in.
const NO_VENV: &str = "python3 has no venv; this brings it: sudo apt-get install -y python3-venv";

/// Something that is installed.
pub(super) struct Installation<'a> {
    /// Its own folder.
    pub(super) folder: PathBuf,
    /// The files where its versions stand.
    pub(super) versions: &'a [PathBuf],
    /// A program in its folder, with its arguments, that succeeds while it works: what it was built upon, such as the
    /// system's python3, may have been replaced since, or the folder moved.
    pub(super) works: (&'a str, &'a [&'a str]),
}

impl Installation<'_> {
    /// Fills the empty folder by `fill`, unless that was done before; a remark for the summary.
    pub(super) fn install(
        &self,
        fill: impl FnOnce(&Path) -> Result<(), Failure>,
    ) -> Result<String, Failure> {
        let wanted = self.wanted()?;
        if self.is_installed(&wanted) && self.works() {
            return Ok("installed before".to_owned());
        }
        let failed = |cause| Failure(format!("{}: {cause}", self.folder.display()));
        self.start_anew().map_err(failed)?;
        fill(&self.folder)?;
        fs::write(self.folder.join(INSTALLED), &wanted).map_err(failed)?;
        Ok("installed".to_owned())
    }

    fn wanted(&self) -> Result<String, Failure> {
        let read = |file: &PathBuf| {
            fs::read_to_string(file)
                .map_err(|cause| Failure(format!("{}: {cause}", file.display())))
        };
        self.versions.iter().map(read).collect()
    }

    fn is_installed(&self, wanted: &str) -> bool {
        fs::read_to_string(self.folder.join(INSTALLED)).is_ok_and(|installed| installed == wanted)
    }

    fn works(&self) -> bool {
        let (program, arguments) = self.works;
        Command::new(self.folder.join(program))
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    }

    /// An empty folder, whatever an earlier or a broken installation left there.
    fn start_anew(&self) -> io::Result<()> {
        match fs::remove_dir_all(&self.folder) {
            Err(cause) if cause.kind() != io::ErrorKind::NotFound => return Err(cause),
            Ok(()) | Err(_) => {}
        }
        fs::create_dir_all(&self.folder)
    }
}

/// Makes an environment of Python `below` the folder, with exactly the packages that the file names.
pub(super) fn python(folder: &Path, below: &str, requirements: &Path) -> Result<(), Failure> {
    run(
        folder,
        "python3",
        &["-c", "import ensurepip"].map(OsStr::new),
    )
    .map_err(|_| Failure(NO_VENV.to_owned()))?;
    run(folder, "python3", &["-m", "venv", below].map(OsStr::new))?;
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
    run(folder, folder.join(below).join("bin/python"), &arguments)
}

/// Runs a program in the folder; what it writes goes to the developer, and not where figures are printed.
pub(super) fn run(
    folder: &Path,
    program: impl AsRef<OsStr>,
    arguments: &[&OsStr],
) -> Result<(), Failure> {
    let program = program.as_ref();
    let words: Vec<_> = std::iter::once(&program)
        .chain(arguments)
        .map(|word| word.to_string_lossy())
        .collect();
    let line = words.join(" ");
    eprintln!("$ {line}");
    let status = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(io::stderr())
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

    /// An empty folder of this test's, and the file of versions in it.
    fn place(name: &str) -> (PathBuf, PathBuf) {
        let own = std::env::current_exe().expect("a path");
        let place = own.with_extension(name);
        let _ = fs::remove_dir_all(&place);
        fs::create_dir_all(&place).expect("a folder");
        let versions = place.join("versions");
        (place, versions)
    }

    #[test]
    fn it_is_installed_once_and_again_when_its_versions_change_or_it_works_no_more() {
        let (place, versions) = place("installed-once");
        let there = Installation {
            folder: place.join("there"),
            versions: std::slice::from_ref(&versions),
            works: ("program", &[]),
        };
        let fill = |folder: &Path| {
            assert!(!folder.join("program").exists(), "expected an empty folder");
            std::os::unix::fs::symlink("/bin/true", folder.join("program")).expect("a link");
            Ok(())
        };
        fs::write(&versions, "a==1").expect("written");
        assert_eq!(there.install(fill).ok().as_deref(), Some("installed"));
        let before = there.install(|_| panic!("it is installed")).ok();
        assert_eq!(before.as_deref(), Some("installed before"));
        fs::write(&versions, "a==2").expect("written");
        let other = there.install(fill).ok();
        assert_eq!(other.as_deref(), Some("installed"), "another version");
        fs::remove_file(there.folder.join("program")).expect("removed");
        let broken = there.install(fill).ok();
        assert_eq!(broken.as_deref(), Some("installed"), "it worked no more");
        fs::remove_dir_all(&place).expect("removed");
    }

    #[test]
    fn what_was_not_installed_to_the_end_is_not_installed() {
        let (place, versions) = place("installed-half");
        fs::write(&versions, "a==1").expect("written");
        let half = Installation {
            folder: place.join("half"),
            versions: std::slice::from_ref(&versions),
            works: ("program", &[]),
        };
        let broken = half.install(|folder| {
            std::os::unix::fs::symlink("/bin/true", folder.join("program")).expect("a link");
            Err(Failure("broken off".to_owned()))
        });
        assert!(broken.is_err_and(|Failure(why)| why == "broken off"));
        assert!(half.works(), "the program is there");
        let again = half.install(|_| Ok(())).ok();
        assert_eq!(again.as_deref(), Some("installed"), "not: before");
        fs::remove_dir_all(&place).expect("removed");
    }

    #[test]
    fn a_missing_file_of_versions_is_named() {
        let (place, versions) = place("installed-nowhere");
        let nowhere = Installation {
            folder: place.join("there"),
            versions: std::slice::from_ref(&versions),
            works: ("program", &[]),
        };
        let Err(Failure(why)) = nowhere.install(|_| Ok(())) else {
            panic!("expected a failure: no versions are known");
        };
        let file = versions.display().to_string();
        assert!(why.starts_with(&file), "found: {why}");
        fs::remove_dir_all(&place).expect("removed");
    }
}
