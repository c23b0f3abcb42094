//! Readers: a few connections that only read, used from the runtime's blocking threads.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use rusqlite::Connection;
use switchboard_core::ports::BackendError;
use tokio::sync::Semaphore;

use crate::open;
use crate::writer::Failure;

/// Most reads at once.
const MOST: usize = 4;

/// The reading connections.
#[derive(Debug)]
pub(crate) struct Readers {
    database: PathBuf,
    idle: Mutex<Vec<Connection>>,
    places: Semaphore,
}

impl Readers {
    pub(crate) fn new(database: PathBuf) -> Self {
        Self {
            database,
            idle: Mutex::default(),
            places: Semaphore::new(MOST),
        }
    }

    fn take(&self) -> Result<Connection, Failure> {
        let idle = self
            .idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop();
        match idle {
            Some(connection) => Ok(connection),
            None => Ok(open::reading(&self.database)?),
        }
    }

    fn give(&self, connection: Connection) {
        self.idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(connection);
    }
}

/// Runs a read on one of `readers`' connections; all of it sees one state of the store.
pub(crate) async fn read<T, F>(
    readers: &std::sync::Arc<Readers>,
    doing: &'static str,
    read: F,
) -> Result<T, BackendError>
where
    T: Send + 'static,
    F: FnOnce(&Connection) -> Result<T, Failure> + Send + 'static,
{
    let fault = |failure| BackendError::new(doing, failure);
    let place = readers
        .places
        .acquire()
        .await
        .map_err(|_| fault(Failure::Closed))?;
    let shared = std::sync::Arc::clone(readers);
    let work = move || {
        let mut connection = shared.take()?;
        let transaction = connection.transaction()?;
        let value = read(&transaction)?;
        drop(transaction);
        shared.give(connection);
        Ok(value)
    };
    let value = tokio::task::spawn_blocking(work)
        .await
        .map_err(|_| fault(Failure::Closed))?;
    drop(place);
    value.map_err(fault)
}
