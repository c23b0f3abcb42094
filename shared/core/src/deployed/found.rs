//! Secrets that were read beforehand, as whoever reads a configuration asks for them.

use std::collections::BTreeMap;

use crate::ports::Found;
use crate::secret::{Reference, Secret, SecretName, SecretReader};

/// Why there is no secret of a name that was not answered.
pub(super) const NOT_ANSWERED: &str = "it was not found";

/// What was found.
pub(super) struct AsFound<'a>(pub(super) &'a Found);

impl SecretReader for AsFound<'_> {
    fn read(&self, reference: &Reference) -> Result<String, String> {
        match reference {
            Reference::Secret(name) => match self.0.get(name) {
                Some(Ok(secret)) => Ok(secret.expose().to_owned()),
                Some(Err(why)) => Err(why.clone()),
                None => Err(NOT_ANSWERED.to_owned()),
            },
            Reference::Environment(_) | Reference::File(_) | Reference::Sample(_) => {
                Err("it is no secret of a deployment".to_owned())
            }
        }
    }
}

/// The values alone.
pub(super) fn values(found: Found) -> BTreeMap<SecretName, Secret> {
    let values = found.into_iter();
    values
        .filter_map(|(name, secret)| Some((name, secret.ok()?)))
        .collect()
}
