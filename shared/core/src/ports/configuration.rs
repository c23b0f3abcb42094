//! The ports beside a backend's own by which a deployed Switchboard keeps its configuration and finds its secrets.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::future::Future;
use std::num::NonZeroU64;

use serde::{Deserialize, Serialize};

use super::Answer;
use crate::secret::{Secret, SecretName};
use crate::time::Timestamp;

/// Which configuration: the first that was applied is 1, and each that replaced one is one more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Version(NonZeroU64);

impl Version {
    /// The version of that number; there is none with the number 0.
    pub fn new(number: u64) -> Option<Self> {
        NonZeroU64::new(number).map(Self)
    }

    /// The version that replaces `seen`.
    pub fn after(seen: Option<Self>) -> Self {
        Self(seen.map_or(NonZeroU64::MIN, |seen| seen.0.saturating_add(1)))
    }

    /// Its number.
    pub fn number(self) -> u64 {
        self.0.get()
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A configuration as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// How it is stored: [`Stored::FORMAT`] as this program writes it. Whoever reads another one says so.
    pub format: u32,
    /// Which it is.
    pub version: Version,
    /// Its text, as it was applied.
    pub text: String,
    /// When it was applied.
    pub at: Timestamp,
}

impl Stored {
    /// The form that this program writes and reads: the text is TOML.
    pub const FORMAT: u32 = 1;
}

/// What became of a replacement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replaced {
    /// It stands under this version.
    Done(Version),
    /// Not the version that was seen stands, but this one, or none at all; nothing changed.
    Other(Option<Version>),
}

/// Where a deployed Switchboard keeps the configuration that was applied to it. On one machine there is none: it is a file.
pub trait ConfigurationStore: Send + Sync + 'static {
    /// What stands, as it is now; `None` before the first was applied. The cost is constant: a function asks every few
    /// seconds.
    fn stored(&self) -> impl Future<Output = Answer<Option<Stored>>> + Send;

    /// Puts `text` in the place of the version `seen`, or makes it the first when none was seen, so that nobody overwrites
    /// what they have not seen. It is written in [`Stored::FORMAT`]; where what stands has a newer one, that is an `Err`.
    ///
    /// The same call twice is once: it finds its own text as the version after `seen`, and answers as the first did.
    fn replace(
        &self,
        seen: Option<Version>,
        text: &str,
        at: Timestamp,
    ) -> impl Future<Output = Answer<Replaced>> + Send;
}

/// What each name leads to, or one line that says why to nothing (never the value).
pub type Found = BTreeMap<SecretName, Result<Secret, String>>;

/// Where a deployed Switchboard finds its secrets.
pub trait Secrets: Send + Sync + 'static {
    /// Reads them all as they are now, within one time limit for the whole. A name that is missing from the answer counts
    /// as not found.
    fn read(&self, names: &BTreeSet<SecretName>) -> impl Future<Output = Found> + Send;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_count_from_one() {
        let first = Version::after(None);
        assert_eq!((first.number(), Version::new(0)), (1, None));
        assert_eq!(Version::new(2), Some(Version::after(Some(first))));
        assert_eq!(serde_json::to_string(&first).expect("JSON"), "1");
        assert!(serde_json::from_str::<Version>("0").is_err());
        let last = Version::new(u64::MAX).expect("a version");
        assert_eq!(Version::after(Some(last)), last, "it stops at the end");
    }
}
