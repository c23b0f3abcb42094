//! A place where references find their secrets, and configurations read with it.

use std::collections::BTreeMap;

use switchboard_core::configuration::{Origin, Read, read};
use switchboard_core::secret::{Reference, SecretReader};

/// Every secret of a test by its reference; a `sample:` one is its own value, as in the binary.
#[derive(Default)]
pub(crate) struct Vault(BTreeMap<String, String>);

impl Vault {
    pub(crate) fn of(secrets: &[(&str, &str)]) -> Self {
        let secrets = secrets.iter();
        Self(
            secrets
                .map(|(place, text)| ((*place).to_owned(), (*text).to_owned()))
                .collect(),
        )
    }
}

impl SecretReader for Vault {
    fn read(&self, reference: &Reference) -> Result<String, String> {
        if let Reference::Sample(text) = reference {
            return Ok(text.clone());
        }
        let found = self.0.get(&reference.to_string()).cloned();
        found.ok_or_else(|| "it is not set".to_owned())
    }
}

/// Reads a file of the user's own that has no faults.
pub(crate) fn good(text: &str, vault: &Vault) -> Read {
    read(text, Origin::File, vault).expect("no faults")
}

/// Reads a file of the user's own that cannot be used: every fault as its owner sees it.
pub(crate) fn faults(text: &str, vault: &Vault) -> Vec<String> {
    let faults = read(text, Origin::File, vault).expect_err("faults");
    faults.iter().map(ToString::to_string).collect()
}
