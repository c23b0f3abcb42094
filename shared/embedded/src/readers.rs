//! Readers: a few connections that only read, used from the runtime's blocking threads.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;
use switchboard_core::ports::BackendError;
use tokio::sync::Semaphore;

use crate::failure::Failure;
use crate::open;

/// Most reads at once.
const MOST: usize = 4;

/// The reading connections.
#[derive(Debug)]
pub(crate) struct Readers {
    database: PathBuf,
    idle: Mutex<Vec<Connection>>,
    places: Arc<Semaphore>,
}

impl Readers {
    pub(crate) fn new(database: PathBuf) -> Self {
        Self {
            database,
            idle: Mutex::default(),
            places: Arc::new(Semaphore::new(MOST)),
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
    readers: &Arc<Readers>,
    doing: &'static str,
    read: F,
) -> Result<T, BackendError>
where
    T: Send + 'static,
    F: FnOnce(&Connection) -> Result<T, Failure> + Send + 'static,
{
    let fault = |failure| BackendError::new(doing, failure);
    let place = Arc::clone(&readers.places)
        .acquire_owned()
        .await
        .map_err(|_| fault(Failure::Closed))?;
    let shared = Arc::clone(readers);
    let work = move || {
        // Held until the read ends, also when nobody waits for it any more.
        let _place = place;
        let mut connection = shared.take()?;
        let transaction = connection.transaction()?;
        let value = read(&transaction)?;
        drop(transaction);
        shared.give(connection);
        Ok(value)
    };
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or(Err(Failure::Closed))
        .map_err(fault)
}
