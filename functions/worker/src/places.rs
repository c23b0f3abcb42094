//! How many attempts each destination gets at once from this process.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use switchboard_core::names::DestinationName;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The places of all destinations of one configuration.
#[derive(Default)]
pub(crate) struct Places(Mutex<HashMap<DestinationName, Arc<Semaphore>>>);

impl Places {
    /// Waits for one of the `most` places of a destination; it is given back when it is dropped.
    pub(crate) async fn take(
        &self,
        destination: &DestinationName,
        most: usize,
    ) -> Option<OwnedSemaphorePermit> {
        let places = {
            let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let new = || Arc::new(Semaphore::new(most.clamp(1, Semaphore::MAX_PERMITS)));
            Arc::clone(all.entry(destination.clone()).or_insert_with(new))
        };
        // Nobody closes it.
        places.acquire_owned().await.ok()
    }
}
