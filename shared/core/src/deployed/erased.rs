//! The ports behind pointers, so that what is made with them does not carry their types along.

use std::collections::BTreeSet;
use std::pin::Pin;

use crate::ports::{Answer, ConfigurationStore, Found, Replaced, Secrets, Stored, Version};
use crate::secret::SecretName;
use crate::time::Timestamp;

type Later<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Any [`ConfigurationStore`].
pub(super) trait AnyStore: Send + Sync {
    fn stored(&self) -> Later<'_, Answer<Option<Stored>>>;

    fn replace<'a>(
        &'a self,
        seen: Option<Version>,
        text: &'a str,
        at: Timestamp,
    ) -> Later<'a, Answer<Replaced>>;
}

impl<S: ConfigurationStore> AnyStore for S {
    fn stored(&self) -> Later<'_, Answer<Option<Stored>>> {
        Box::pin(ConfigurationStore::stored(self))
    }

    fn replace<'a>(
        &'a self,
        seen: Option<Version>,
        text: &'a str,
        at: Timestamp,
    ) -> Later<'a, Answer<Replaced>> {
        Box::pin(ConfigurationStore::replace(self, seen, text, at))
    }
}

/// Any [`Secrets`].
pub(super) trait AnySecrets: Send + Sync {
    fn read<'a>(&'a self, names: &'a BTreeSet<SecretName>) -> Later<'a, Found>;
}

impl<R: Secrets> AnySecrets for R {
    fn read<'a>(&'a self, names: &'a BTreeSet<SecretName>) -> Later<'a, Found> {
        Box::pin(Secrets::read(self, names))
    }
}
