//! Secrets: what a reference points to, and how it is named in a fault.

use super::fields::Fields;
use super::read::{Origin, Reader};
use crate::secret::{Reference, Secret};

impl Reader<'_> {
    /// The secret behind a reference.
    pub(super) fn secret(
        &mut self,
        fields: &mut Fields<'_>,
        key: &str,
        reference: &str,
    ) -> Option<Secret> {
        let Some(parsed) = Reference::parse(reference) else {
            fields.fault(format!("{key} must be a reference to a secret, env:NAME or file:PATH, never the secret itself"));
            return None;
        };
        if self.origin == Origin::File && matches!(parsed, Reference::Sample(_)) {
            fields.fault(format!("{key}: sample: secrets are public and stand in the built-in sample only; use env:NAME or file:PATH"));
            return None;
        }
        let secret = match self.secrets.read(&parsed) {
            Ok(text) => Secret::new(&text),
            Err(why) => {
                fields.fault(format!("{key}: the secret {parsed} cannot be read: {why}"));
                return None;
            }
        };
        if secret.is_none() {
            fields.fault(format!("{key}: the secret {parsed} is empty"));
        }
        secret
    }
}

/// A reference as it may be named in a fault.
pub(super) fn shown(reference: &str) -> String {
    Reference::parse(reference).map_or_else(|| "…".to_owned(), |reference| reference.to_string())
}
