//! The text of a configuration.

use switchboard_core::configuration::{self, Origin};
use switchboard_core::secret::{Reference, SecretReader};

use crate::{address, request};

/// What every reference leads to.
const SECRET: &str = "whsec_bm8tdGV4dC1zaG93cy10aGlzLXNlY3JldA==";

/// A part of it that stands in no text by chance.
const PART: &str = "bm8tdGV4dC1zaG93cy10aGlzLX";

struct Known;

impl SecretReader for Known {
    fn read(&self, reference: &Reference) -> Result<String, String> {
        match reference {
            Reference::Environment(name) if name == "NONE" => Err("it is not set".to_owned()),
            Reference::File(path) if path == "ca" => Ok("no certificate".to_owned()),
            Reference::Environment(_)
            | Reference::File(_)
            | Reference::Sample(_)
            | Reference::Secret(_) => Ok(SECRET.to_owned()),
        }
    }
}

/// Any text is a configuration that is right in all its parts, or some faults that quote no secret.
pub fn read_whole(input: &[u8]) {
    let text = request::text(input);
    if text.contains(PART) {
        // It would be told of its own.
        return;
    }
    let unread: Vec<String> = told(&configuration::check_deployed(&text).faults);
    for fault in &unread {
        hides(fault);
    }
    for origin in [Origin::File, Origin::BuiltIn, Origin::Deployed] {
        match configuration::read(&text, origin, &Known) {
            Err(faults) => {
                assert!(!faults.is_empty(), "refused without a fault");
                let faults = told(&faults);
                for fault in &faults {
                    hides(fault);
                }
                if origin == Origin::Deployed {
                    let found = unread.iter().all(|fault| faults.contains(fault));
                    assert!(found, "a fault goes when the secrets are read");
                }
            }
            Ok(read) => {
                assert!(
                    origin != Origin::Deployed || unread.is_empty(),
                    "a fault goes when the secrets are read"
                );
                read.warnings.iter().for_each(|warning| hides(warning));
                hides(&format!("{:?}", read.configuration));
                right(&read.configuration);
            }
        }
    }
}

fn told(faults: &[configuration::Fault]) -> Vec<String> {
    faults.iter().map(ToString::to_string).collect()
}

fn right(configuration: &configuration::Configuration) {
    for source in &configuration.sources {
        assert!(
            source.secrets().count() > 0,
            "{} has no secret",
            source.name
        );
    }
    for destination in &configuration.destinations {
        assert!(!destination.name.is_your_endpoint());
        let url = destination.address.url().as_str();
        address::spelled(url.as_bytes());
        assert!(
            switchboard_core::address::Address::parse(url, configuration.networks).is_ok(),
            "{url} is not allowed"
        );
    }
    let names: std::collections::BTreeSet<_> = configuration
        .destinations
        .iter()
        .map(|destination| &destination.name)
        .collect();
    assert_eq!(
        names.len(),
        configuration.destinations.len(),
        "a name twice"
    );
}

fn hides(text: &str) {
    assert!(!text.contains(PART), "a secret is told: {text}");
}
