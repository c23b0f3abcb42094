//! Tells lanes that something has changed for their destination.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use switchboard_core::names::DestinationName;
use tokio::sync::Notify;

/// One bell for each destination that was ever woken.
#[derive(Debug, Default)]
pub(crate) struct Wakes {
    bells: Mutex<BTreeMap<DestinationName, Arc<Notify>>>,
    /// Rings when there is a destination that had no bell before.
    pub(crate) more: Notify,
}

impl Wakes {
    /// Rings for these destinations; a ring that nobody waits for is kept for the next who does.
    pub(crate) fn wake(&self, destinations: impl IntoIterator<Item = DestinationName>) {
        for destination in destinations {
            self.bell(&destination).notify_one();
        }
    }

    /// Rings for every destination.
    pub(crate) fn wake_all(&self) {
        for bell in self.lock().values() {
            bell.notify_one();
        }
    }

    /// The bell of a destination.
    pub(crate) fn bell(&self, destination: &DestinationName) -> Arc<Notify> {
        let mut bells = self.lock();
        if let Some(bell) = bells.get(destination) {
            return Arc::clone(bell);
        }
        self.more.notify_one();
        Arc::clone(bells.entry(destination.clone()).or_default())
    }

    /// Every destination that has a bell.
    pub(crate) fn destinations(&self) -> Vec<DestinationName> {
        self.lock().keys().cloned().collect()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<DestinationName, Arc<Notify>>> {
        self.bells.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
