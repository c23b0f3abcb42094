//! Secrets: what a reference points to, and how it is named in a fault.

use super::fields::Fields;
use super::read::{Needs, Origin, Reader, Values};
use crate::secret::{Reference, Secret};

impl Reader<'_> {
    /// The secret of a source.
    pub(super) fn secret_of_source(
        &mut self,
        fields: &mut Fields<'_>,
        reference: &str,
    ) -> Option<Secret> {
        let is_needed = self.needs == Needs::Everything;
        self.secret_if(is_needed, fields, "secrets", reference)
    }

    /// The secret of a destination or of what is not a source's.
    pub(super) fn secret(
        &mut self,
        fields: &mut Fields<'_>,
        key: &str,
        reference: &str,
    ) -> Option<Secret> {
        let is_needed = self.needs != Needs::Nothing;
        self.secret_if(is_needed, fields, key, reference)
    }

    /// The secret behind a reference; none, without a fault, where it is not needed or its value is not looked at.
    fn secret_if(
        &mut self,
        is_needed: bool,
        fields: &mut Fields<'_>,
        key: &str,
        reference: &str,
    ) -> Option<Secret> {
        let Some(parsed) = Reference::parse(reference) else {
            let may = self.origin.references();
            fields.fault(format!(
                "{key} must be a reference to a secret, {may}, never the secret itself"
            ));
            return None;
        };
        if let Some(why) = out_of_place(&parsed, self.origin) {
            let may = self.origin.references();
            fields.fault(format!("{key}: {why}; use {may}"));
            return None;
        }
        if !is_needed {
            return None;
        }
        if let Reference::Secret(name) = &parsed {
            self.named.insert(name.clone());
        }
        let Values::Read(secrets) = self.values else {
            return None;
        };
        let secret = match secrets.read(&parsed) {
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

/// The secret that operators prove to be operators with, beside those that a deployed configuration names.
const ADMIN_TOKEN: &str = "admin-token";

/// Why a reference may not stand in a configuration of that origin.
fn out_of_place(reference: &Reference, origin: Origin) -> Option<&'static str> {
    match (reference, origin) {
        (Reference::Secret(name), Origin::Deployed) if name.as_str() == ADMIN_TOKEN => Some(
            "secret:admin-token is what operators sign in with: it is nobody else's secret, and a destination would be sent it",
        ),
        (Reference::Sample(_), Origin::BuiltIn)
        | (Reference::Environment(_) | Reference::File(_), Origin::BuiltIn | Origin::File)
        | (Reference::Secret(_), Origin::Deployed) => None,
        (Reference::Sample(_), Origin::File | Origin::Deployed) => {
            Some("sample: secrets are public and stand in the built-in sample only")
        }
        (Reference::Secret(_), Origin::BuiltIn | Origin::File) => Some(
            "secret: stands in a configuration for a deployed Switchboard, which `switchboard check --deployed` checks and `switchboard apply` sends there",
        ),
        (Reference::Environment(_) | Reference::File(_), Origin::Deployed) => Some(
            "env: and file: stand in a configuration for one machine, and a deployed Switchboard has neither",
        ),
    }
}

/// A reference as it may be named in a fault.
pub(super) fn shown(reference: &str) -> String {
    Reference::parse(reference).map_or_else(|| "…".to_owned(), |reference| reference.to_string())
}
