//! Applying: a configuration is checked whole, its secrets included, before it is stored.

use super::Deployed;
use super::found::AsFound;
use crate::configuration::{self, Fault, Origin, check_deployed};
use crate::ports::{BackendError, Replaced, Stored, Version};

/// Why a configuration was not applied. Whatever it is, nothing changed, unless the store failed.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    /// It cannot be used: every fault.
    #[error("the configuration cannot be used")]
    Unusable(Vec<Fault>),
    /// Not the version that was seen stands.
    #[error("{}", other(*.0))]
    Other(Option<Version>),
    /// The store failed; the same call again completes it.
    #[error("the store failed")]
    Store(#[source] BackendError),
}

fn other(stands: Option<Version>) -> String {
    match stands {
        Some(version) => format!("version {version} stands, which is not the one that was seen"),
        None => "no configuration stands yet, so none can have been seen".to_owned(),
    }
}

/// What was applied.
#[derive(Debug, PartialEq, Eq)]
pub struct Application {
    /// Under which version it stands.
    pub version: Version,
    /// What is allowed but unwise.
    pub warnings: Vec<String>,
}

impl Deployed {
    /// Puts `text` in the place of the version `seen`. This process uses it from the next request on, the others when they
    /// look next.
    ///
    /// The secrets are read anew, and none that was good before stands in for one that is not: what is applied can be used
    /// by a process that has read nothing yet. One step; the same call again answers the same.
    pub async fn apply(
        &self,
        text: &str,
        seen: Option<Version>,
    ) -> Result<Application, ApplyError> {
        let mut turn = self.turn.lock().await;
        let ticks = self.clock.ticks();
        let named = check_deployed(text).secrets;
        let found = self.secrets.read(&named).await;
        let read = configuration::read(text, Origin::Deployed, &AsFound(&found))
            .map_err(ApplyError::Unusable)?;
        let at = self.clock.now();
        let replaced = self.store.replace(seen, text, at).await;
        let version = match replaced.map_err(ApplyError::Store)? {
            Replaced::Done(version) => version,
            Replaced::Other(stands) => return Err(ApplyError::Other(stands)),
        };
        tracing::info!(
            configuration.version = version.number(),
            "configuration applied"
        );
        let stored = Stored {
            format: Stored::FORMAT,
            version,
            text: text.to_owned(),
            at,
        };
        self.stand(&mut turn, stored, read.configuration, found, ticks);
        self.settle(&turn);
        Ok(Application {
            version,
            warnings: read.warnings,
        })
    }
}
