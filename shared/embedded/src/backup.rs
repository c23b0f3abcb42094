//! Copying the store to a file while a switchboard may be serving from it.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::open;

/// Why a backup could not be made.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// No store there.
    #[error("there is no store in {}", .0.display())]
    NoStore(PathBuf),
    /// The target exists or cannot be written.
    #[error("the file {} cannot be made: {cause}", file.display())]
    Target {
        /// Which.
        file: PathBuf,
        /// The system's own words.
        cause: io::Error,
    },
    /// SQLite failed.
    #[error("the store cannot be copied: {0}")]
    Sqlite(#[from] rusqlite::Error),
}

/// Copies the store in `folder` to a new file, whole as of one moment and on disk when this returns. The copy holds
/// your endpoint's secret and every body: it is made readable for its owner only.
pub fn backup(folder: &Path, target: &Path) -> Result<(), BackupError> {
    let database = folder.join(open::FILE);
    if !database.exists() {
        return Err(BackupError::NoStore(folder.to_owned()));
    }
    let fault = |cause| BackupError::Target {
        file: target.to_owned(),
        cause,
    };
    let file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(target)
        .map_err(fault)?;
    let copied = copy(&database, target, &file);
    if copied.is_err() {
        drop(std::fs::remove_file(target));
    }
    copied
}

fn copy(database: &Path, target: &Path, file: &File) -> Result<(), BackupError> {
    let fault = |cause| BackupError::Target {
        file: target.to_owned(),
        cause,
    };
    let name = target
        .to_str()
        .ok_or_else(|| fault(io::Error::from(io::ErrorKind::InvalidFilename)))?;
    let connection = open::reading(database)?;
    connection.pragma_update(None, "query_only", false)?;
    connection.execute("VACUUM INTO ?1", [name])?;
    file.sync_all().map_err(fault)
}
