//! Opening the data folder: its permissions, the lock that keeps a second process out, and the connections.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
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
        cause: std::io::Error,
    },
    /// Another process has it.
    #[error("the data folder {} is in use by another switchboard; stop that one or give --data another folder", .0.display())]
    InUse(PathBuf),
    /// Written by a newer version.
    #[error(
        "the store has schema version {found}, this program knows {known}: use a newer switchboard"
    )]
    Newer {
        /// The file's version.
        found: i32,
        /// The newest this program knows.
        known: i32,
    },
    /// Not our file.
    #[error("{FILE} in the data folder is another program's SQLite file")]
    Foreign,
    /// No thread for the writer.
    #[error("no thread can be started: {0}")]
    Thread(std::io::Error),
    /// SQLite failed.
    #[error("the store cannot be opened: {0}")]
    Sqlite(#[from] rusqlite::Error),
    /// A stored setting cannot be read.
    #[error("the store cannot be read: {0}")]
    Unreadable(String),
}

/// Page cache of the connection that writes, in KiB (negative, as SQLite takes it): the ends of the tables and the inner
/// pages of the indexes of a long history.
const WRITER_CACHE: i64 = -16 * 1024;

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
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(path)
            .map_err(fault)?;
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
        Ok(Self {
            path: path.to_owned(),
            _lock: lock,
        })
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.path.join(FILE)
    }
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
    connection.pragma_update(None, "wal_autocheckpoint", 4000)?;
    connection.pragma_update(None, "journal_size_limit", 64 * 1024 * 1024)
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
