//! The file: how it is opened, the table of kept keys, and when a key ends. The caller's own tables stand beside it.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, ErrorCode, OptionalExtension, Transaction, TransactionBehavior};

use crate::answer::Answer;
use crate::key::IdempotencyKey;

/// Version of the schema that this code writes.
const VERSION: u32 = 1;
/// Keys past their time that one applied delivery removes: more than the one it adds, so that they grow fewer, and
/// few enough that nobody waits for it.
const REMOVED_AT_ONCE: u32 = 8;
/// How often the change to write-ahead logging is tried while another process opens the same fresh file.
const OPENING_TRIES: u32 = 20;

/// Bounds of [`crate::ApplyOnce`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How long a key is kept. It must outlast the last copy: Switchboard keeps an event 30 days and one with a dead
    /// letter 90 more, unless its configuration says otherwise, so 120 days is the default.
    pub keep: Duration,
    /// How long a copy waits while another process applies something to the file; then it is told to come again.
    /// 1 s by default, well under the 3 s that Switchboard waits for an answer.
    pub wait: Duration,
    /// When a copy that arrives too early is told to come again; 1 s by default.
    pub retry_after: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            keep: Duration::from_hours(120 * 24),
            wait: Duration::from_secs(1),
            retry_after: Duration::from_secs(1),
        }
    }
}

/// The store failed. Nothing may be claimed; the next copy finds out what stands.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// SQLite said no.
    #[error("{doing}")]
    Sqlite {
        /// What was being done.
        doing: &'static str,
        /// What SQLite said.
        #[source]
        source: rusqlite::Error,
    },
    /// The file is a later version's.
    #[error("the file has schema {found} of a newer version; this one knows {VERSION}")]
    Newer {
        /// The version in the file.
        found: u32,
    },
    /// Without its transaction, the effect and its key would not stand or fall together.
    #[error("the effect ended the transaction it was given")]
    TransactionEnded,
}

impl StoreError {
    pub(crate) fn at(doing: &'static str) -> impl FnOnce(rusqlite::Error) -> Self {
        move |source| Self::Sqlite { doing, source }
    }
}

/// Whether SQLite says that another connection is in the way.
pub(crate) fn is_busy(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
}

/// Opens the file, durable on every commit, and makes sure of the table.
pub(crate) fn open(path: &Path, limits: &Limits) -> Result<Connection, StoreError> {
    let mut connection =
        Connection::open(path).map_err(StoreError::at("opening the file of kept keys"))?;
    let set_up = |connection: &mut Connection| {
        connection.busy_timeout(limits.wait)?;
        write_ahead(connection)?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        // Without it, macOS hands the bytes to the drive and not to what survives a power cut.
        connection.pragma_update(None, "fullfsync", true)
    };
    set_up(&mut connection).map_err(StoreError::at("setting up the file of kept keys"))?;
    let found = schema(&mut connection).map_err(StoreError::at("making the table of kept keys"))?;
    if found > VERSION {
        return Err(StoreError::Newer { found });
    }
    Ok(connection)
}

/// Changes the file to write-ahead logging. SQLite answers "busy" without waiting when another process does the same
/// to a fresh file at the same moment; waiting for its write lock is waiting for it.
fn write_ahead(connection: &mut Connection) -> rusqlite::Result<()> {
    let mut tries = 0;
    loop {
        match connection.pragma_update(None, "journal_mode", "WAL") {
            Err(error) if is_busy(&error) && tries < OPENING_TRIES => {
                tries += 1;
                match connection.transaction_with_behavior(TransactionBehavior::Immediate) {
                    Ok(transaction) => transaction.rollback()?,
                    Err(error) if is_busy(&error) => {}
                    Err(error) => return Err(error),
                }
            }
            done => return done,
        }
    }
}

/// Makes what is missing and gives the version that stands in the file. A file that has its tables is only read: it
/// may be opened while another process applies something.
fn schema(connection: &mut Connection) -> rusqlite::Result<u32> {
    let made = connection.table_exists(None, "switchboard_receiver")?;
    if made && let Some(found) = version(connection)? {
        return Ok(found);
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch(
        "CREATE TABLE IF NOT EXISTS switchboard_receiver (version INTEGER NOT NULL) STRICT;
         CREATE TABLE IF NOT EXISTS switchboard_applied (
             key TEXT PRIMARY KEY,
             applied_ms INTEGER NOT NULL,
             status INTEGER NOT NULL CHECK (status BETWEEN 200 AND 299),
             body BLOB NOT NULL
         ) STRICT, WITHOUT ROWID;
         CREATE INDEX IF NOT EXISTS switchboard_applied_by_time ON switchboard_applied (applied_ms);",
    )?;
    let found = version(&transaction)?;
    if found.is_none() {
        transaction.execute("INSERT INTO switchboard_receiver VALUES (?1)", [VERSION])?;
    }
    transaction.commit()?;
    Ok(found.unwrap_or(VERSION))
}

fn version(connection: &Connection) -> rusqlite::Result<Option<u32>> {
    connection
        .query_row("SELECT version FROM switchboard_receiver", [], |row| {
            row.get(0)
        })
        .optional()
}

fn millis(moment: SystemTime) -> i64 {
    let since = moment.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// The last moment, in milliseconds since 1970, whose keys are past their time at `now`.
fn past(now: SystemTime, limits: &Limits) -> i64 {
    let keep = i64::try_from(limits.keep.as_millis()).unwrap_or(i64::MAX);
    millis(now).saturating_sub(keep)
}

/// The answer kept under a key that is not past its time, whether it was removed by now or not.
pub(crate) fn kept(
    connection: &Connection,
    key: &IdempotencyKey,
    now: SystemTime,
    limits: &Limits,
) -> rusqlite::Result<Option<Answer>> {
    let mut statement = connection.prepare_cached(
        "SELECT status, body FROM switchboard_applied WHERE key = ?1 AND applied_ms > ?2",
    )?;
    statement
        .query_row((key.as_str(), past(now, limits)), |row| {
            Ok(Answer::kept(row.get(0)?, row.get(1)?))
        })
        .optional()
}

/// Keeps an answer under its key and removes a few keys past their time.
pub(crate) fn keep(
    transaction: &Transaction<'_>,
    key: &IdempotencyKey,
    now: SystemTime,
    answer: &Answer,
    limits: &Limits,
) -> rusqlite::Result<()> {
    transaction
        .prepare_cached(
            "DELETE FROM switchboard_applied WHERE key IN
                 (SELECT key FROM switchboard_applied WHERE applied_ms <= ?1 ORDER BY applied_ms LIMIT ?2)",
        )?
        .execute((past(now, limits), REMOVED_AT_ONCE))?;
    // A key of that name can only be one past its time.
    transaction
        .prepare_cached("INSERT OR REPLACE INTO switchboard_applied VALUES (?1, ?2, ?3, ?4)")?
        .execute((key.as_str(), millis(now), answer.status(), answer.body()))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_a_newer_version_is_one_clear_line() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("r.sqlite");
        let connection = open(&path, &Limits::default()).expect("open");
        connection
            .execute("UPDATE switchboard_receiver SET version = 2", [])
            .expect("update");
        let error = open(&path, &Limits::default()).expect_err("newer");
        assert_eq!(
            error.to_string(),
            "the file has schema 2 of a newer version; this one knows 1"
        );
    }

    #[test]
    fn every_commit_is_on_disk_before_it_is_claimed() {
        let folder = tempfile::tempdir().expect("folder");
        let connection = open(&folder.path().join("r.sqlite"), &Limits::default()).expect("open");
        let pragma = |name: &str| -> String {
            connection
                .pragma_query_value(None, name, |row| row.get::<_, rusqlite::types::Value>(0))
                .map(|value| format!("{value:?}"))
                .expect("pragma")
        };
        assert_eq!(pragma("synchronous"), "Integer(2)");
        assert_eq!(pragma("journal_mode"), "Text(\"wal\")");
    }

    #[test]
    fn opening_a_fresh_file_waits_for_whoever_writes_to_it() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("r.sqlite");
        let other = Connection::open(&path).expect("open");
        other
            .execute_batch("BEGIN IMMEDIATE; CREATE TABLE own (n INTEGER)")
            .expect("written");
        let limits = Limits {
            wait: Duration::from_mins(2),
            ..Limits::default()
        };
        let (opened, has_opened) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            scope.spawn(|| opened.send(open(&path, &limits)));
            let early = has_opened.recv_timeout(Duration::from_millis(100));
            other.execute_batch("COMMIT").expect("committed");
            assert!(early.is_err(), "it does not give up: {early:?}");
            let opened = has_opened.recv().expect("it comes to an end");
            assert!(opened.is_ok(), "{opened:?}");
        });
    }

    #[test]
    fn many_may_open_one_fresh_file_at_once() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("r.sqlite");
        std::thread::scope(|scope| {
            for _ in 0..16 {
                scope.spawn(|| open(&path, &Limits::default()).expect("open"));
            }
        });
        let connection = open(&path, &Limits::default()).expect("open");
        let rows: u32 = connection
            .query_row("SELECT count(*) FROM switchboard_receiver", [], |row| {
                row.get(0)
            })
            .expect("rows");
        assert_eq!(rows, 1, "the version stands once");
    }
}
