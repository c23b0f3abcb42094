//! What a backend brings to its conformance suite: where it is made, and how it is closed and opened again.

use std::future::Future;

use switchboard_core::ports::Backend;

/// A place for one backend. Every check gets a fixture of its own.
pub trait Fixture: Send + Sync + 'static {
    /// The backend under test.
    type Backend: Backend;

    /// Opens the backend on a place that holds nothing yet. Called once.
    fn fresh(&self) -> impl Future<Output = Self::Backend> + Send;

    /// Closes the backend, as the end of its process would, and opens it again on the same place.
    fn reopened(&self, backend: Self::Backend) -> impl Future<Output = Self::Backend> + Send;

    /// Waits until the views show every step that was answered, where they may lag behind. Called before each view.
    fn settled(&self, _backend: &Self::Backend) -> impl Future<Output = ()> + Send {
        async {}
    }
}
