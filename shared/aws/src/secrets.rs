//! The secrets of a deployment: each stands in the service under the deployment's own prefix, which the functions' rights
//! cover as a whole.

use std::collections::BTreeSet;

use aws_sdk_secretsmanager::Client;
use futures_util::future::join_all;
use switchboard_core::ports::{Answer, BackendError, Found, Secrets};
use switchboard_core::secret::{Secret, SecretName};

use crate::failure::failed;

const DOING: &str = "reading a secret";

/// The secrets under a prefix.
#[derive(Clone, Debug)]
pub struct StoredSecrets {
    client: Client,
    prefix: String,
}

impl StoredSecrets {
    /// Those whose names begin with `prefix` and a slash.
    pub const fn new(client: Client, prefix: String) -> Self {
        Self { client, prefix }
    }

    /// The secret of that name, as it is now. An empty one is an error: nobody is to be let in by it.
    pub async fn secret(&self, name: &str) -> Answer<Secret> {
        let id = format!("{}/{name}", self.prefix);
        let read = self.client.get_secret_value().secret_id(id).send().await;
        let read = read.map_err(|error| failed(DOING, error))?;
        let text = match (read.secret_string, read.secret_binary) {
            (Some(text), _) => text,
            (None, Some(bytes)) => String::from_utf8(bytes.into_inner())
                .map_err(|_| BackendError::new(DOING, "it is no text"))?,
            (None, None) => String::new(),
        };
        Secret::new(&text).ok_or_else(|| BackendError::new(DOING, "it is empty"))
    }
}

impl Secrets for StoredSecrets {
    async fn read(&self, names: &BTreeSet<SecretName>) -> Found {
        // At once, so that all of them take no longer than the time limit of one.
        let all = names.iter().map(|name| async move {
            let read = self.secret(name.as_str()).await;
            (name.clone(), read.map_err(|error| error.line()))
        });
        join_all(all).await.into_iter().collect()
    }
}
