//! Sources: who may post, how they sign, and their secrets.

use toml::Table;

use super::Source;
use super::fields::Fields;
use super::read::{Fault, Reader, named};
use super::secrets::shown;
use crate::names::SourceName;
use crate::scheme::{self, Key, SHORTEST_SAFE_KEY, Scheme};
use crate::secret::Secret;

impl Reader<'_> {
    /// Every declared source by name; without the source itself where it has a fault.
    pub(super) fn sources(
        &mut self,
        tables: Vec<Table>,
        faults: &mut Vec<Fault>,
    ) -> Vec<(SourceName, Option<Source>)> {
        let mut sources: Vec<(SourceName, Option<Source>)> = Vec::new();
        for (n, table) in tables.into_iter().enumerate() {
            let mut fields = Fields::new(format!("source {}", n + 1), table, faults);
            let name = named(&mut fields, "source", SourceName::parse);
            if let Some(name) = name
                .as_ref()
                .filter(|name| sources.iter().any(|(other, _)| other == *name))
            {
                fields.fault(format!(
                    "there are two sources named {name:?}",
                    name = name.as_str()
                ));
            }
            let scheme = scheme(&mut fields);
            let references = fields.texts("secrets").unwrap_or_default();
            if references.is_empty() {
                fields.fault("secrets is missing or empty: without a secret nothing can be proven");
            }
            let keys: Vec<Option<(Secret, Key)>> = references
                .iter()
                .map(|reference| self.source_secret(&mut fields, name.as_ref(), reference, scheme))
                .collect();
            fields.finish();
            let keys: Option<Vec<(Secret, Key)>> = keys.into_iter().collect();
            if let Some(name) = name {
                let source = scheme
                    .zip(keys)
                    .map(|(scheme, keys)| Source::new(name.clone(), scheme, keys));
                sources.push((name, source));
            }
        }
        sources
    }

    fn source_secret(
        &mut self,
        fields: &mut Fields<'_>,
        name: Option<&SourceName>,
        reference: &str,
        scheme: Option<&Scheme>,
    ) -> Option<(Secret, Key)> {
        let secret = self.secret_of_source(fields, reference)?;
        match (scheme?.key)(&secret) {
            Ok(key) => {
                if key.is_short() {
                    let name = name.map(SourceName::as_str).unwrap_or_default();
                    self.warnings.push(format!(
                        "source {name:?}: the secret {} is shorter than {SHORTEST_SAFE_KEY} bytes and can be guessed",
                        shown(reference)
                    ));
                }
                Some((secret, key))
            }
            Err(fault) => {
                fields.fault(format!("secrets: the secret {} {fault}", shown(reference)));
                None
            }
        }
    }
}

fn scheme(fields: &mut Fields<'_>) -> Option<&'static Scheme> {
    let text = fields.required_text("scheme")?;
    let found = Scheme::named(&text);
    if found.is_none() {
        let known: Vec<&str> = scheme::ALL.iter().map(|scheme| scheme.name).collect();
        fields.fault(format!(
            "there is no scheme {text:?}; known are {}",
            known.join(", ")
        ));
    }
    found
}
