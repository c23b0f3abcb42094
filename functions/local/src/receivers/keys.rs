//! The keys that a copy to your endpoint may be signed with, asked for anew at every copy.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use switchboard_core::scheme::Key;

use crate::endpoint::Signing;

type Asked = Pin<Box<dyn Future<Output = Vec<Key>> + Send>>;

/// Where the keys come from.
#[derive(Clone)]
pub(crate) struct Keys(Arc<dyn Fn() -> Asked + Send + Sync>);

impl Keys {
    /// No keys: every copy is refused.
    pub(crate) fn none() -> Self {
        Self::fixed(Vec::new())
    }

    /// Always these.
    pub(super) fn fixed(keys: Vec<Key>) -> Self {
        Self(Arc::new(move || Box::pin(std::future::ready(keys.clone()))))
    }

    /// The keys that sign now.
    pub(super) async fn now(&self) -> Vec<Key> {
        (self.0)().await
    }
}

impl From<Signing> for Keys {
    fn from(signing: Signing) -> Self {
        let signing = Arc::new(signing);
        Self(Arc::new(move || {
            let signing = Arc::clone(&signing);
            Box::pin(async move { signing.keys().await })
        }))
    }
}
