//! Opening the data folder: its permissions, the lock that keeps a second process out, and the connections.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

/// Name of the database inside the data folder.
pub(crate) const FILE: &str = "switchboard.sqlite";
/// Name of the file that the running process holds locked. SQLite's own locks come and go; this one stays.
const LOCK: &str = "lock";

/// Why a data folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// It cannot be made or written.
    #[error("the data folder {} cannot be written: {cause}", folder.display())]
    Folder {
        /// Which.
        folder: PathBuf,
        /// The system's own words.
        cause: io::Error,
    },
    /// Another process has it.
    #[error("the data folder {} is in use by another switchboard; stop that one or give --data another folder", .0.display())]
    InUse(PathBuf),
    /// What lies there cannot be used as a store.
    #[error("the store {} cannot be opened: {cause}", file.display())]
    Store {
        /// The file.
        file: PathBuf,
        /// Why.
        cause: StoreFault,
    },
}

/// Why a file cannot be used as a store.
#[derive(Debug, thiserror::Error)]
pub enum StoreFault {
    /// Written by a newer version.
    #[error("it has schema version {found}, this program knows {known}: use a newer switchboard")]
    Newer {
        /// The file's version.
        found: i32,
        /// The newest this program knows.
        known: i32,
    },
    /// Not our file.
    #[error("it is another program's SQLite file")]
    Foreign,
    /// SQLite failed.
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    /// No thread for the writer.
    #[error("no thread can be started: {0}")]
    Thread(io::Error),
    /// A stored setting cannot be read.
    #[error("{0}")]
    Unreadable(String),
}

/// Page cache of the connection that writes, in KiB (negative, as SQLite takes it): the ends of the tables and the inner
/// pages of the indexes of a long history.
const WRITER_CACHE: i64 = -8 * 1024;

/// A data folder that is ours until this is dropped.
#[derive(Debug)]
pub(crate) struct Folder {
    pub(crate) path: PathBuf,
    _lock: File,
}

impl Folder {
    pub(crate) fn claim(path: &Path) -> Result<Self, OpenError> {
        let fault = |cause| OpenError::Folder {
            folder: path.to_owned(),
            cause,
        };
        if make(path).map_err(fault)? == Found::Nothing {
            ignore(path).map_err(fault)?;
        }
        let private = |name: &str| {
            OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .mode(0o600)
                .open(path.join(name))
        };
        let lock = private(LOCK).map_err(fault)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(OpenError::InUse(path.to_owned())),
            Err(TryLockError::Error(cause)) => return Err(fault(cause)),
        }
        // SQLite gives its journal files the permissions of the database, which is made here, private.
        private(FILE).map_err(fault)?;
        sync_name(&path.join(FILE)).map_err(fault)?;
        Ok(Self {
            path: path.to_owned(),
            _lock: lock,
        })
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.path.join(FILE)
    }
}

/// What was where a folder is to be.
#[derive(PartialEq, Eq)]
enum Found {
    Nothing,
    Folder,
}

/// Keeps a folder out of a repository that it may lie in: a token and bodies must not get in by a careless `git add`.
fn ignore(folder: &Path) -> io::Result<()> {
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(folder.join(".gitignore"))?;
    file.write_all(b"*\n")
}

/// Makes a folder, for its owner only, and puts its name on disk with those of the folders above it that are new: what
/// is synced in a folder whose name is lost with the power is lost with it.
fn make(path: &Path) -> io::Result<Found> {
    let is_new = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
    let new: Vec<&Path> = path.ancestors().take_while(is_new).collect();
    DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    let found = if new.is_empty() {
        Found::Folder
    } else {
        Found::Nothing
    };
    new.into_iter().try_for_each(sync_name)?;
    Ok(found)
}

/// Puts the names in the folder of `file` on disk.
pub(crate) fn sync_name(file: &Path) -> io::Result<()> {
    let folder = match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        Some(_) | None => Path::new("."),
    };
    File::open(folder)?.sync_all()
}

/// The one connection that writes, as yet without a change to the file: it may be another program's.
pub(crate) fn writing(database: &Path) -> Result<Connection, rusqlite::Error> {
    let connection = Connection::open(database)?;
    connection.pragma_update(None, "cache_size", WRITER_CACHE)?;
    connection.set_prepared_statement_cache_capacity(128);
    usual(&connection)?;
    Ok(connection)
}

/// Makes a file that is ours one with a write-ahead log. A commit is on disk when it returns: `synchronous=FULL`.
pub(crate) fn write_ahead(connection: &Connection) -> Result<(), rusqlite::Error> {
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    // 40 MB: pages that are written again and again are copied into the database once.
    connection.pragma_update(None, "wal_autocheckpoint", 10_000)?;
    connection.pragma_update(None, "journal_size_limit", 64 * 1024 * 1024)
}

/// Empties the log into the database, on disk. A process that died after a sync had failed may have left commits in the
/// log that the system still shows and the disk does not hold, and what is written behind them would be lost with them.
/// While somebody else reads the file, such as a backup, it stays as it is.
pub(crate) fn empty_log(connection: &Connection) -> Result<(), rusqlite::Error> {
    // Where the tables were just made, the log can be emptied only by who has read them.
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    let busy: bool =
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
    if busy {
        tracing::warn!("the store's log is not emptied: another program reads the store");
    }
    Ok(())
}

/// A connection that only reads.
pub(crate) fn reading(database: &Path) -> Result<Connection, rusqlite::Error> {
    let connection = Connection::open_with_flags(
        database,
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?;
    connection.pragma_update(None, "query_only", true)?;
    connection.set_prepared_statement_cache_capacity(64);
    usual(&connection)?;
    Ok(connection)
}

/// What every connection has.
fn usual(connection: &Connection) -> Result<(), rusqlite::Error> {
    connection.busy_timeout(Duration::from_secs(5))?;
    // One plan for each statement. Without it SQLite parses and plans a statement again whenever a value that is bound
    // to it changes and could have made for another plan, which costs more than most of these statements do.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use switchboard_core::endpoint::Change;
    use switchboard_core::names::DestinationName;
    use switchboard_core::ports::SettingsStore;

    use super::*;
    use crate::store::Store;

    #[test]
    fn a_folder_that_is_made_is_kept_out_of_repositories_and_one_that_was_there_is_left() {
        let folder = tempfile::tempdir().expect("a folder");
        let made = folder.path().join("above/data");
        drop(Store::open(&made).expect("a store"));
        let ignored = made.join(".gitignore");
        assert_eq!(std::fs::read_to_string(&ignored).expect("text"), "*\n");
        assert!(!folder.path().join("above/.gitignore").exists());
        std::fs::write(&ignored, "mine").expect("a file");
        drop(Store::open(&made).expect("a store"));
        assert_eq!(std::fs::read_to_string(&ignored).expect("text"), "mine");
        let there = folder.path().join("there");
        std::fs::create_dir(&there).expect("a folder");
        drop(Store::open(&there).expect("a store"));
        assert!(!there.join(".gitignore").exists());
    }

    #[tokio::test]
    async fn what_a_crash_left_in_the_log_is_in_the_database_before_anything_is_added() {
        let folder = tempfile::tempdir().expect("a folder");
        let (first, crashed) = (folder.path().join("first"), folder.path().join("crashed"));
        let store = Store::open(&first).expect("a store");
        let chat = DestinationName::parse("chat").expect("a name");
        store.change(Change::Hold(chat)).await.expect("held");
        std::fs::create_dir(&crashed).expect("a folder");
        let log = format!("{FILE}-wal");
        for name in [FILE, &log] {
            std::fs::copy(first.join(name), crashed.join(name)).expect("as a crash leaves it");
        }
        assert!(std::fs::metadata(crashed.join(&log)).expect("a log").len() > 0);
        let _open = Store::open(&crashed).expect("a store");
        assert_eq!(
            std::fs::metadata(crashed.join(&log)).expect("a log").len(),
            0
        );
        let alone = folder.path().join("alone");
        std::fs::copy(crashed.join(FILE), &alone).expect("without its log");
        let held: u32 = Connection::open(alone)
            .and_then(|alone| alone.query_row("SELECT count(*) FROM held", [], |row| row.get(0)))
            .expect("read");
        assert_eq!(held, 1);
    }
}
