//! Where the programs are: beside this one, as cargo built them.

use std::path::{Path, PathBuf};

/// The folder with the binaries of one profile.
#[derive(Clone, Debug)]
pub struct Places {
    binaries: PathBuf,
}

impl Places {
    /// Beside this program, be it a binary or a test of the same profile.
    pub fn own() -> Self {
        let own = std::env::current_exe().expect("a path");
        let folder = own.parent().expect("a folder");
        let is_test = folder.file_name().is_some_and(|name| name == "deps");
        let binaries = if is_test {
            folder.parent()
        } else {
            Some(folder)
        };
        Self {
            binaries: binaries.expect("a build folder").to_owned(),
        }
    }

    /// Some other folder with the functions in it, inside the same build folder.
    pub const fn of(binaries: PathBuf) -> Self {
        Self { binaries }
    }

    /// The build folder, where the emulator is installed.
    pub fn build_folder(&self) -> &Path {
        self.binaries.parent().expect("a build folder")
    }

    /// A binary.
    pub fn binary(&self, name: &str) -> PathBuf {
        let binary = self.binaries.join(name);
        assert!(
            binary.exists(),
            "{} is missing: run `cargo build --workspace --bins`, or `cargo xtask test`",
            binary.display()
        );
        binary
    }
}
