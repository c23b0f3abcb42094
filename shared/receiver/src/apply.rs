//! Applying once: who runs the effect, who gets the first's answer, and who is told to come again.

use std::collections::HashSet;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::answer::Answer;
use crate::key::IdempotencyKey;
use crate::store::{self, Limits, StoreError};

/// What became of a copy of a delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Applied {
    /// It was the first: its effect and its key stand, on disk. Give this answer.
    First(Answer),
    /// It was applied before; nothing changed. Give the first's answer again.
    Again(Answer),
    /// It cannot be applied now: another copy is being applied, or another process keeps the file busy. Answer 409
    /// with `Retry-After`.
    InProgress {
        /// When it may come again.
        retry_after: Duration,
    },
}

/// A copy was not applied. No key is kept: the next copy is applied as if it were the first.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError<E> {
    /// The effect failed; what it wrote is undone.
    #[error("the effect of the delivery failed")]
    Effect(#[source] E),
    /// The store failed. When it failed while committing, both effect and key may stand; never one of them.
    #[error("the store of kept keys failed")]
    Store(#[source] StoreError),
}

impl<E> ApplyError<E> {
    fn at(doing: &'static str) -> impl FnOnce(rusqlite::Error) -> Self {
        move |source| Self::Store(StoreError::Sqlite { doing, source })
    }
}

/// Applies deliveries once per idempotency key, in one SQLite file. Share it between threads behind an `Arc`.
#[derive(Debug)]
pub struct ApplyOnce {
    limits: Limits,
    /// The one that applies. SQLite has one writer at a time, so a second connection would only wait.
    writer: Mutex<Connection>,
    /// The one that looks up, so that a repeat never waits for somebody else's effect.
    reader: Mutex<Connection>,
    /// The keys being applied by this process.
    in_progress: Mutex<HashSet<IdempotencyKey>>,
}

impl ApplyOnce {
    /// Opens the file with the default limits, and makes it where there is none.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        Self::open_with(path, Limits::default())
    }

    /// Opens the file with other limits.
    pub fn open_with(path: impl AsRef<Path>, limits: Limits) -> Result<Self, StoreError> {
        let path = path.as_ref();
        Ok(Self {
            limits,
            writer: Mutex::new(store::open(path, &limits)?),
            reader: Mutex::new(store::open(path, &limits)?),
            in_progress: Mutex::default(),
        })
    }

    /// Applies a delivery unless it was applied before. `effect` writes through the transaction it is given, and its
    /// answer is committed with what it wrote; it must not end that transaction. While it runs, nothing else is
    /// applied to the file: keep it short.
    ///
    /// Calling this again with the same key is safe at any time: that is what it is for.
    pub fn apply<E>(
        &self,
        key: &IdempotencyKey,
        now: SystemTime,
        effect: impl FnOnce(&Transaction<'_>) -> Result<Answer, E>,
    ) -> Result<Applied, ApplyError<E>> {
        let too_early = Applied::InProgress {
            retry_after: self.limits.retry_after,
        };
        if let Some(answer) = self.kept(key, now)? {
            return Ok(Applied::Again(answer));
        }
        let Some(_place) = Place::take(&self.in_progress, key) else {
            return Ok(too_early);
        };
        let mut writer = lock(&self.writer);
        let transaction = match writer.transaction_with_behavior(TransactionBehavior::Immediate) {
            Ok(transaction) => transaction,
            Err(error) if store::is_busy(&error) => {
                // Whoever kept the file busy may have applied this very delivery.
                let kept = self.kept(key, now)?;
                return Ok(kept.map_or(too_early, Applied::Again));
            }
            Err(error) => return Err(ApplyError::at("beginning to apply a delivery")(error)),
        };
        // Under the write lock nobody else can add it any more.
        let kept = store::kept(&transaction, key, now, &self.limits)
            .map_err(ApplyError::at("looking up a kept key"))?;
        if let Some(answer) = kept {
            return Ok(Applied::Again(answer));
        }
        let answer = effect(&transaction).map_err(ApplyError::Effect)?;
        if transaction.is_autocommit() {
            return Err(ApplyError::Store(StoreError::TransactionEnded));
        }
        store::keep(&transaction, key, now, &answer, &self.limits)
            .map_err(ApplyError::at("keeping the key of a delivery"))?;
        transaction
            .commit()
            .map_err(ApplyError::at("committing a delivery with its key"))?;
        Ok(Applied::First(answer))
    }

    fn kept<E>(
        &self,
        key: &IdempotencyKey,
        now: SystemTime,
    ) -> Result<Option<Answer>, ApplyError<E>> {
        store::kept(&lock(&self.reader), key, now, &self.limits)
            .map_err(ApplyError::at("looking up a kept key"))
    }
}

/// A panic in an effect undoes its transaction on the way out, so what it leaves behind the lock is whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A key's place among those in progress, given back when it is dropped.
struct Place<'a> {
    among: &'a Mutex<HashSet<IdempotencyKey>>,
    key: &'a IdempotencyKey,
}

impl<'a> Place<'a> {
    /// `None` when the key is in progress already.
    fn take(among: &'a Mutex<HashSet<IdempotencyKey>>, key: &'a IdempotencyKey) -> Option<Self> {
        let is_new = lock(among).insert(key.clone());
        is_new.then(|| Self { among, key })
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        lock(self.among).remove(self.key);
    }
}
