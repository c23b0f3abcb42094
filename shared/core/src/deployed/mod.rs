//! The configuration of a deployed Switchboard as its functions use it: read from its store, its secrets with it, and read
//! again every few seconds, so that what is applied and what is rotated counts without a deployment.
//!
//! What was good last stays for as long as nothing better can be read: neither a store that fails, nor a secret that went
//! away, nor a text that cannot be used stops a process that has begun. One that has read nothing yet has no configuration
//! at all and says so, which is not the same as an empty one: its sources would be unknown.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::lock;
use serde::Serialize;

use crate::configuration::{Configuration, Needs};
use crate::ports::{Answer, BackendError, ConfigurationStore, Secrets, Stored, Version};
use crate::time::{Clock, Timestamp};

pub use self::apply::{Application, ApplyError};
pub use self::insisted::Unseen;
pub use self::made::Made;

use self::erased::{AnySecrets, AnyStore};
use self::refresh::Turn;

mod apply;
mod complaint;
mod erased;
mod found;
mod insisted;
mod made;
mod refresh;

/// How often what may have changed is read again; never more often, however many requests come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Every {
    /// The stored configuration.
    pub look: Duration,
    /// The secrets of the one in use. They are read at once when another version is found.
    pub secrets: Duration,
}

impl Default for Every {
    /// 5 seconds, and a minute.
    fn default() -> Self {
        Self {
            look: Duration::from_secs(5),
            secrets: Duration::from_mins(1),
        }
    }
}

/// Which configuration was applied, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Applied {
    /// Which.
    pub version: Version,
    /// When.
    pub at: Timestamp,
}

/// The configuration in use. It is the same `Arc` for as long as neither its text nor a secret changes.
#[derive(Clone, Debug)]
pub struct Current {
    /// What counts; the empty one before the first was applied.
    pub configuration: Arc<Configuration>,
    /// Which it is; `None` before the first was applied.
    pub applied: Option<Applied>,
}

/// No configuration was read yet: nothing can be said of any source. Whoever asks is to come back.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no configuration was read yet: {why}")]
pub struct NotRead {
    why: String,
}

/// A deployed Switchboard's configuration; one for each process, shared by all that it does.
pub struct Deployed {
    store: Arc<dyn AnyStore>,
    secrets: Arc<dyn AnySecrets>,
    clock: Arc<dyn Clock>,
    every: Every,
    needs: Needs,
    shown: Mutex<Shown>,
    /// Whoever holds it reads or applies; nobody else does meanwhile.
    turn: lock::Mutex<Turn>,
}

/// What everybody sees without waiting.
#[derive(Default)]
struct Shown {
    current: Option<Current>,
    /// When something is to be read again, in ticks.
    due: Duration,
    /// Why nothing stands.
    why: String,
}

impl Deployed {
    /// The configuration that `store` keeps, with secrets from `secrets`. Reads nothing yet.
    pub fn new<S: ConfigurationStore, R: Secrets>(
        store: Arc<S>,
        secrets: Arc<R>,
        clock: Arc<dyn Clock>,
        every: Every,
    ) -> Self {
        Self {
            store,
            secrets,
            clock,
            every,
            needs: Needs::Everything,
            shown: Mutex::default(),
            turn: lock::Mutex::default(),
        }
    }

    /// The same for a process that needs a part of the secrets only; it applies nothing.
    #[must_use]
    pub fn needing(self, needs: Needs) -> Self {
        Self { needs, ..self }
    }

    /// What counts now, for every request anew. Of many who ask while something is due one reads, and the others go on
    /// with what there is; only where there is nothing yet they wait. A reader that is cut off leaves what there was.
    pub async fn current(&self) -> Result<Current, NotRead> {
        if let Some(answer) = self.shown().fresh(self.clock.ticks()) {
            return answer;
        }
        let turn = match (self.turn.try_lock(), self.shown().current.clone()) {
            (Some(turn), _) => Some(turn),
            (None, Some(current)) => return Ok(current),
            (None, None) => None,
        };
        let mut turn = match turn {
            Some(turn) => turn,
            None => self.turn.lock().await,
        };
        // Whoever had the turn before may have read it all.
        let now = self.clock.ticks();
        let fresh = self.shown().fresh(now);
        if let Some(answer) = fresh {
            return answer;
        }
        self.refresh(&mut turn, now).await;
        self.shown().answer()
    }

    /// Which configuration is in use, as far as this process has read; `None` before the first was applied.
    pub fn applied(&self) -> Option<Applied> {
        self.shown().current.as_ref()?.applied
    }

    /// What is stored at this moment, for whoever is to replace it.
    pub async fn stored(&self) -> Answer<Option<Stored>> {
        let stored = self.store.stored().await?;
        match &stored {
            Some(stored) if stored.format != Stored::FORMAT => Err(BackendError::new(
                "read the configuration",
                format!(
                    "version {} is stored in format {}, and this program reads {}: a newer one put it there",
                    stored.version,
                    stored.format,
                    Stored::FORMAT
                ),
            )),
            Some(_) | None => Ok(stored),
        }
    }

    fn shown(&self) -> MutexGuard<'_, Shown> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shown {
    /// The answer at `now`, unless something is to be read first.
    fn fresh(&self, now: Duration) -> Option<Result<Current, NotRead>> {
        (now < self.due).then(|| self.answer())
    }

    fn answer(&self) -> Result<Current, NotRead> {
        self.current.clone().ok_or_else(|| NotRead {
            why: self.why.clone(),
        })
    }
}
