//! A small shop to apply deliveries to: one table, and a delivery adds one line to it.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use switchboard_receiver::rusqlite::{Connection, Error, Transaction};
use switchboard_receiver::{Answer, Applied, ApplyError, ApplyOnce, IdempotencyKey, Limits};
use tempfile::TempDir;

/// When the tests take place: 2026-01-31T09:00:00Z and `seconds` more.
pub(super) fn at(seconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_769_850_000 + seconds)
}

/// A key.
pub(super) fn key(text: &str) -> IdempotencyKey {
    IdempotencyKey::parse(text).expect("key")
}

/// The shop's file in a folder of its own.
pub(super) struct Shop {
    _folder: TempDir,
    /// Where the file is.
    pub(super) path: PathBuf,
}

impl Shop {
    /// A shop without a line.
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("shop.sqlite");
        Connection::open(&path)
            .and_then(|c| c.execute_batch("CREATE TABLE line (text TEXT NOT NULL)"))
            .expect("table");
        Self {
            _folder: folder,
            path,
        }
    }

    /// A handle with the limits, and a short wait for other processes.
    pub(super) fn handle(&self) -> ApplyOnce {
        let limits = Limits {
            wait: Duration::from_millis(50),
            ..Limits::default()
        };
        ApplyOnce::open_with(&self.path, limits).expect("open")
    }

    /// A handle that waits as long as a test lasts.
    pub(super) fn patient_handle(&self) -> ApplyOnce {
        let limits = Limits {
            wait: Duration::from_mins(2),
            ..Limits::default()
        };
        ApplyOnce::open_with(&self.path, limits).expect("open")
    }

    /// Changes the file from outside.
    pub(super) fn execute(&self, statement: &str) {
        Connection::open(&self.path)
            .and_then(|c| c.execute_batch(statement))
            .expect("executed");
    }

    /// How many lines stand.
    pub(super) fn lines(&self) -> u32 {
        count(&self.path, "line")
    }

    /// How many keys stand.
    pub(super) fn keys(&self) -> u32 {
        count(&self.path, "switchboard_applied")
    }
}

fn count(path: &Path, table: &str) -> u32 {
    Connection::open(path)
        .and_then(|c| {
            c.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| {
                row.get(0)
            })
        })
        .expect("count")
}

/// Adds one line and answers with it.
pub(super) fn add(transaction: &Transaction<'_>, text: &str) -> Result<Answer, Error> {
    transaction.execute("INSERT INTO line VALUES (?1)", [text])?;
    Ok(Answer::new(201, text).expect("answer"))
}

/// Applies a delivery that adds one line.
pub(super) fn apply(
    once: &ApplyOnce,
    name: &str,
    text: &str,
    now: SystemTime,
) -> Result<Applied, ApplyError<Error>> {
    once.apply(&key(name), now, |transaction| add(transaction, text))
}

/// What a delivery that added this line is answered.
pub(super) fn answer(text: &str) -> Answer {
    Answer::new(201, text).expect("answer")
}
