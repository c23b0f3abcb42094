//! A deployed Switchboard's configuration and secrets in memory, which fail and wait when a test wants it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use switchboard_core::ports::{
    Answer, BackendError, ConfigurationStore, Found, Replaced, Secrets, Stored, Version,
};
use switchboard_core::secret::{Secret, SecretName};
use switchboard_core::time::Timestamp;
use tokio::sync::watch;

/// A store of configurations.
#[derive(Debug, Default)]
pub struct KeptConfiguration {
    kept: Mutex<Kept>,
    /// Whether whoever asks waits.
    held: watch::Sender<bool>,
}

#[derive(Debug, Default)]
struct Kept {
    stored: Option<Stored>,
    fails: Option<&'static str>,
    asked: u32,
}

impl KeptConfiguration {
    /// From now on every call fails with that cause, or works again.
    pub fn fails(&self, cause: Option<&'static str>) {
        locked(&self.kept).fails = cause;
    }

    /// Puts something there that no replacement would.
    pub fn put(&self, stored: Option<Stored>) {
        locked(&self.kept).stored = stored;
    }

    /// From now on whoever asks what stands waits, until it is taken back.
    pub fn holds(&self, holds: bool) {
        self.held.send_replace(holds);
    }

    /// How often somebody asked what stands.
    pub fn asked(&self) -> u32 {
        locked(&self.kept).asked
    }
}

impl Kept {
    fn works(&self) -> Answer<()> {
        let failed = |cause| Err(BackendError::new("ask for the configuration", cause));
        self.fails.map_or(Ok(()), failed)
    }

    fn is_newer(&self) -> bool {
        let stored = self.stored.as_ref();
        stored.is_some_and(|stored| stored.format > Stored::FORMAT)
    }
}

impl ConfigurationStore for KeptConfiguration {
    async fn stored(&self) -> Answer<Option<Stored>> {
        {
            let mut kept = locked(&self.kept);
            kept.asked = kept.asked.saturating_add(1);
        }
        // The sender is ours, so the wait ends only by its word.
        drop(self.held.subscribe().wait_for(|held| !held).await);
        let kept = locked(&self.kept);
        kept.works()?;
        Ok(kept.stored.clone())
    }

    async fn replace(&self, seen: Option<Version>, text: &str, at: Timestamp) -> Answer<Replaced> {
        let mut kept = locked(&self.kept);
        kept.works()?;
        if kept.is_newer() {
            let cause = "what stands is stored in a newer format";
            return Err(BackendError::new("replace the configuration", cause));
        }
        let (stands, version) = (kept.stored.as_ref(), Version::after(seen));
        if stands.is_some_and(|stands| stands.version == version && stands.text == text) {
            return Ok(Replaced::Done(version));
        }
        let stands = stands.map(|stands| stands.version);
        if stands != seen {
            return Ok(Replaced::Other(stands));
        }
        kept.stored = Some(Stored {
            format: Stored::FORMAT,
            version,
            text: text.to_owned(),
            at,
        });
        Ok(Replaced::Done(version))
    }
}

/// Secrets by name.
#[derive(Debug)]
pub struct GivenSecrets {
    given: Mutex<Given>,
    /// Whether whoever reads is answered.
    open: watch::Sender<bool>,
}

#[derive(Debug, Default)]
struct Given {
    values: BTreeMap<String, String>,
    asked: u32,
    names: BTreeSet<String>,
}

impl GivenSecrets {
    /// These, each as (name, value).
    pub fn of(secrets: &[(&str, &str)]) -> Self {
        let given = Self {
            given: Mutex::default(),
            open: watch::Sender::new(true),
        };
        for (name, value) in secrets {
            given.set(name, value);
        }
        given
    }

    /// Sets one, or gives it another value.
    pub fn set(&self, name: &str, value: &str) {
        let mut given = locked(&self.given);
        given.values.insert(name.to_owned(), value.to_owned());
    }

    /// Takes one away.
    pub fn remove(&self, name: &str) {
        locked(&self.given).values.remove(name);
    }

    /// How often they were read.
    pub fn asked(&self) -> u32 {
        locked(&self.given).asked
    }

    /// The names that were asked for so far, each once.
    pub fn names(&self) -> Vec<String> {
        locked(&self.given).names.iter().cloned().collect()
    }

    /// From now on whoever reads waits, until it is taken back.
    pub fn holds(&self, holds: bool) {
        self.open.send_replace(!holds);
    }
}

impl Secrets for GivenSecrets {
    async fn read(&self, names: &BTreeSet<SecretName>) -> Found {
        {
            let mut given = locked(&self.given);
            given.asked = given.asked.saturating_add(1);
            given.names.extend(names.iter().map(ToString::to_string));
        }
        // The sender is ours, so the wait ends only by its word.
        drop(self.open.subscribe().wait_for(|open| *open).await);
        let given = locked(&self.given);
        let found = |name: &SecretName| {
            let value = given.values.get(name.as_str()).ok_or("there is none")?;
            Secret::new(value).ok_or_else(|| "it is empty".to_owned())
        };
        names
            .iter()
            .map(|name| (name.clone(), found(name)))
            .collect()
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
