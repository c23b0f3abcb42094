//! Why a backend's step failed: by a fault, or because there is more to do than it can in time.

use crate::failure;

/// A backend failed. The caller may not claim the step; calling it again with the same arguments completes it, but for
/// [`super::Journal::note`].
#[derive(Debug, thiserror::Error)]
#[error("{doing}")]
pub struct BackendError {
    doing: &'static str,
    why: Why,
    #[source]
    cause: Box<dyn std::error::Error + Send + Sync>,
}

/// Why a backend failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Why {
    /// Something went wrong.
    Failed,
    /// There was more to do than it can in time.
    Overloaded,
}

impl BackendError {
    /// The failure of what was being done.
    pub fn new(
        doing: &'static str,
        cause: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self {
            doing,
            why: Why::Failed,
            cause: cause.into(),
        }
    }

    /// What was to be done was turned away before it began, since there is more to do than can be done in time.
    pub fn overloaded(
        doing: &'static str,
        cause: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self {
            why: Why::Overloaded,
            ..Self::new(doing, cause)
        }
    }

    /// Whether it was turned away: no fault of the backend's, and nothing to write down each time.
    pub fn is_overloaded(&self) -> bool {
        self.why == Why::Overloaded
    }

    /// The failure and what caused it, in one line.
    pub fn line(&self) -> String {
        failure::line(self)
    }
}
