//! Where the receivers keep everything: books, kept keys, counts and switches in one SQLite file, so that what a
//! delivery comes to and its key are committed together.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use rusqlite::{Connection, Row};
use serde_json::{Map, Value};
use switchboard_core::fail::{self, FailPoint};
use switchboard_core::time::Timestamp;
use switchboard_receiver::{Answer, Applied, ApplyError, ApplyOnce, IdempotencyKey, StoreError};

use super::book::{self, BookFault, Fields, Receiver, accounting};
use super::delivery::Delivery;
use super::mode::Mode;

/// Version of the books' schema.
const VERSION: u32 = 1;
/// Most entries of a book that are shown.
const SHOWN: u32 = 100;
/// How long one connection waits for another's commit.
const WAIT: Duration = Duration::from_secs(1);

const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS entry (
        seq INTEGER PRIMARY KEY,
        receiver TEXT NOT NULL,
        key TEXT NOT NULL,
        event TEXT NOT NULL,
        source TEXT NOT NULL,
        kind TEXT NOT NULL,
        action TEXT NOT NULL,
        attempt INTEGER,
        at_ms INTEGER NOT NULL,
        fields TEXT NOT NULL
    ) STRICT;
    CREATE INDEX IF NOT EXISTS entry_of_receiver ON entry (receiver, seq);
    CREATE TABLE IF NOT EXISTS tally (
        receiver TEXT PRIMARY KEY,
        entries INTEGER NOT NULL DEFAULT 0,
        applied INTEGER NOT NULL DEFAULT 0,
        answered_again INTEGER NOT NULL DEFAULT 0,
        refused INTEGER NOT NULL DEFAULT 0
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS switch (
        receiver TEXT PRIMARY KEY,
        mode TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;";

/// The file cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum StoreFault {
    /// Its kept keys cannot.
    #[error("the kept keys of the sample receivers cannot be opened")]
    Keys(#[from] StoreError),
    /// Its books cannot.
    #[error("the books of the sample receivers cannot be used")]
    Books(#[from] rusqlite::Error),
    /// It is a later version's.
    #[error(
        "the books of the sample receivers are of a newer version: {0}; this one knows {VERSION}"
    )]
    Newer(u32),
}

/// What a receiver has counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// Entries in its book.
    pub(super) entries: u64,
    /// Deliveries applied.
    pub(super) applied: u64,
    /// Copies that were answered without being applied again.
    pub(super) answered_again: u64,
    /// Copies whose signature did not hold.
    pub(super) refused: u64,
}

/// A receiver's book as it stands: its newest entries first.
pub(super) struct Book {
    pub(super) receiver: &'static Receiver,
    pub(super) mode: Mode,
    pub(super) tally: Tally,
    pub(super) entries: Vec<Fields>,
}

/// The file.
pub(super) struct Store {
    once: ApplyOnce,
    books: Mutex<Connection>,
    switches: Mutex<HashMap<&'static str, Mode>>,
}

impl Store {
    /// Opens the file, and makes it where there is none.
    pub(super) fn open(path: &Path) -> Result<Self, StoreFault> {
        let once = ApplyOnce::open(path)?;
        let mut connection = Connection::open(path)?;
        connection.busy_timeout(WAIT)?;
        let transaction = connection.transaction()?;
        let found: u32 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
        if found > VERSION {
            return Err(StoreFault::Newer(found));
        }
        transaction.execute_batch(TABLES)?;
        transaction.execute_batch(accounting::TABLE)?;
        for receiver in book::ALL {
            transaction.execute(
                "INSERT OR IGNORE INTO tally (receiver) VALUES (?1)",
                [receiver.name],
            )?;
        }
        transaction.pragma_update(None, "user_version", VERSION)?;
        let switches = switches(&transaction)?;
        transaction.commit()?;
        Ok(Self {
            once,
            books: Mutex::new(connection),
            switches: Mutex::new(switches),
        })
    }

    /// Writes a delivery into its receiver's book, once. Safe to call again: a copy is answered and counted.
    pub(super) fn apply(
        &self,
        receiver: &'static Receiver,
        key: &IdempotencyKey,
        delivery: &Delivery,
    ) -> Result<Applied, ApplyError<BookFault>> {
        let applied = self.once.apply(key, moment(delivery.at), |transaction| {
            (receiver.write)(transaction, delivery)?;
            transaction
                .prepare_cached("UPDATE tally SET applied = applied + 1 WHERE receiver = ?1")?
                .execute([receiver.name])?;
            fail::reach(FailPoint::ReceiverBeforeCommit);
            Ok(Answer::new(200, r#"{"status":"applied"}"#).unwrap_or_else(|_| Answer::ok()))
        })?;
        match applied {
            Applied::First(_) => fail::reach(FailPoint::ReceiverAfterCommit),
            Applied::Again(_) => {
                fail::reach(FailPoint::ReceiverBeforeCount);
                // The answer does not hang on the count.
                self.count(
                    receiver,
                    "UPDATE tally SET answered_again = answered_again + 1 WHERE receiver = ?1",
                );
            }
            Applied::InProgress { .. } => {}
        }
        Ok(applied)
    }

    /// Counts a copy whose signature did not hold.
    pub(super) fn count_refused(&self, receiver: &Receiver) {
        self.count(
            receiver,
            "UPDATE tally SET refused = refused + 1 WHERE receiver = ?1",
        );
    }

    fn count(&self, receiver: &Receiver, statement: &str) {
        if let Err(error) = lock(&self.books).execute(statement, [receiver.name]) {
            tracing::warn!(receiver = receiver.name, %error, "a sample receiver's count could not be written");
        }
    }

    /// How the receiver behaves until it is told otherwise.
    pub(super) fn mode(&self, receiver: &Receiver) -> Mode {
        lock(&self.switches)
            .get(receiver.name)
            .copied()
            .unwrap_or(Mode::Ok)
    }

    /// Sets how the receiver behaves from now on, also after a restart.
    pub(super) fn set_mode(
        &self,
        receiver: &'static Receiver,
        mode: Mode,
    ) -> Result<(), rusqlite::Error> {
        lock(&self.books).execute(
            "INSERT OR REPLACE INTO switch VALUES (?1, ?2)",
            [receiver.name, mode.name()],
        )?;
        lock(&self.switches).insert(receiver.name, mode);
        Ok(())
    }

    /// All books as they stand at one moment.
    pub(super) fn books(&self) -> Result<Vec<Book>, rusqlite::Error> {
        let mut connection = lock(&self.books);
        let transaction = connection.transaction()?;
        book::ALL
            .into_iter()
            .map(|receiver| self.book(&transaction, receiver))
            .collect()
    }

    fn book(
        &self,
        connection: &Connection,
        receiver: &'static Receiver,
    ) -> Result<Book, rusqlite::Error> {
        let tally = connection.query_row(
            "SELECT entries, applied, answered_again, refused FROM tally WHERE receiver = ?1",
            [receiver.name],
            |row| {
                Ok(Tally {
                    entries: row.get(0)?,
                    applied: row.get(1)?,
                    answered_again: row.get(2)?,
                    refused: row.get(3)?,
                })
            },
        )?;
        let mut statement = connection.prepare_cached(
            "SELECT fields, key, event, source, kind, action, attempt, at_ms FROM entry
             WHERE receiver = ?1 ORDER BY seq DESC LIMIT ?2",
        )?;
        let entries = statement
            .query_map((receiver.name, SHOWN), entry)?
            .collect::<Result<_, _>>()?;
        Ok(Book {
            receiver,
            mode: self.mode(receiver),
            tally,
            entries,
        })
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn moment(at: Timestamp) -> SystemTime {
    SystemTime::UNIX_EPOCH + at.since(Timestamp::from_millis(0))
}

/// The lasting switches; a mode that a later version wrote counts as `ok`.
fn switches(connection: &Connection) -> Result<HashMap<&'static str, Mode>, rusqlite::Error> {
    let mut statement = connection.prepare("SELECT receiver, mode FROM switch")?;
    let rows = statement.query_map([], |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))
    })?;
    let mut switches = HashMap::new();
    for row in rows {
        let (receiver, mode) = row?;
        switches.extend(
            book::named(&receiver)
                .map(|receiver| receiver.name)
                .zip(Mode::named(&mode)),
        );
    }
    Ok(switches)
}

/// An entry with all its fields.
fn entry(row: &Row<'_>) -> Result<Fields, rusqlite::Error> {
    let fields: String = row.get("fields")?;
    let mut fields: Map<String, Value> = serde_json::from_str(&fields).unwrap_or_default();
    for name in ["key", "event", "source", "kind", "action"] {
        fields.insert(name.to_owned(), Value::String(row.get(name)?));
    }
    let attempt: Option<u32> = row.get("attempt")?;
    fields.insert("attempt".to_owned(), Value::from(attempt));
    let at = Timestamp::from_millis(row.get("at_ms")?);
    fields.insert("at".to_owned(), Value::String(at.to_string()));
    Ok(Fields(fields))
}

#[cfg(test)]
mod tests {
    use switchboard_core::failure::line;

    use super::*;

    #[test]
    fn books_of_a_newer_version_are_one_clear_line() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("receivers.sqlite");
        drop(Store::open(&path).expect("open"));
        let connection = Connection::open(&path).expect("open");
        connection
            .pragma_update(None, "user_version", 2)
            .expect("set");
        let fault = Store::open(&path).err().expect("newer");
        assert_eq!(
            line(&fault),
            "the books of the sample receivers are of a newer version: 2; this one knows 1"
        );
    }
}
