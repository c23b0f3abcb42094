//! The receiving side: applies a delivery once per idempotency key, however often and at whatever moment its copies
//! arrive, and whatever dies in between.
//!
//! Switchboard delivers at least once: an answer may be lost or come too late, and then the same delivery comes
//! again, always under the same `Idempotency-Key`. [`ApplyOnce`] makes "at least once" into "once": the effect of a
//! delivery and its key are committed in one SQLite transaction, so that either both stand or neither does.
//!
//! | when a copy arrives | what it gets |
//! |---|---|
//! | first | [`Applied::First`]: the effect runs; key and answer are kept with it |
//! | later | [`Applied::Again`]: the first's answer; the effect does not run |
//! | while the first is being applied | [`Applied::InProgress`]: answer 409 with `Retry-After` |
//! | after an effect that failed, or a crash before the commit | as if it were the first: nothing was kept |
//!
//! What is done outside of the transaction (a mail, a call to another service) is not covered: write down in the
//! transaction that it is to be done, and do it from there.
//!
//! ```
//! use std::time::SystemTime;
//! use switchboard_receiver::{Answer, Applied, ApplyOnce, IdempotencyKey, rusqlite};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("accounting.sqlite");
//! // Once, at start: your tables, and the file they are in.
//! rusqlite::Connection::open(&path)?
//!     .execute_batch("CREATE TABLE IF NOT EXISTS invoice (number TEXT, amount TEXT)")?;
//! let once = ApplyOnce::open(&path)?;
//!
//! // For each request; here twice, as when the first answer is lost.
//! for attempt in 1..=2 {
//!     let header = "dlv_mfzgk43fon2gc3tjoruw63q2aa"; // of the request: Idempotency-Key
//!     let key = IdempotencyKey::parse(header)?; // a fault is the sender's: answer 400
//!     let applied = once.apply(&key, SystemTime::now(), |transaction| {
//!         transaction.execute("INSERT INTO invoice VALUES (?1, ?2)", ("#1001", "54.00"))?;
//!         Ok::<_, rusqlite::Error>(Answer::ok())
//!     })?; // a failure applied nothing: answer 500, and the delivery comes again
//!     let (status, retry_after) = match &applied {
//!         Applied::First(answer) | Applied::Again(answer) => (answer.status(), None),
//!         Applied::InProgress { retry_after } => (409, Some(retry_after.as_secs())),
//!     };
//!     assert_eq!((status, retry_after), (200, None));
//! }
//! let invoices = rusqlite::Connection::open(&path)?
//!     .query_row("SELECT count(*) FROM invoice", [], |row| row.get::<_, i64>(0))?;
//! assert_eq!(invoices, 1);
//! # Ok(())
//! # }
//! ```
//!
//! [`ApplyOnce::apply`] waits for the disk: on an async runtime, call it where blocking is allowed (with tokio,
//! `spawn_blocking`). Several processes may apply on one file.

mod answer;
mod apply;
mod key;
mod store;

pub use answer::{Answer, AnswerError, LONGEST_ANSWER};
pub use apply::{Applied, ApplyError, ApplyOnce};
pub use key::{IdempotencyKey, KeyError, LONGEST_KEY};
pub use store::{Limits, StoreError};

/// The SQLite that effects write with: its version must be this crate's.
pub use rusqlite;
