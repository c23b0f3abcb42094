//! Why a step or a reading failed.

use std::sync::Arc;

/// Why a step failed.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// SQLite failed, perhaps for all steps of a transaction.
    #[error("{0}")]
    Sqlite(Arc<rusqlite::Error>),
    /// What is stored cannot be understood.
    #[error("the stored {0} cannot be read")]
    Unreadable(&'static str),
    /// A step panicked: our own fault.
    #[error("a step broke off")]
    BrokeOff,
    /// Too many steps wait already.
    #[error("more waits to be written than can be in time")]
    Full,
    /// The writer has ended.
    #[error("the store is closed")]
    Closed,
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(Arc::new(error))
    }
}
