//! What operators have set, how fast what they released goes, and the sources and destinations that indexes are to be
//! asked for: one item, so that each change is one conditional write.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use switchboard_core::address::{Address, Networks};
use switchboard_core::endpoint::{Endpoint, Settings};
use switchboard_core::names::{DestinationName, SourceName};
use switchboard_core::release::Release;
use switchboard_core::secret::Secret;
use switchboard_core::sign_in::{Ended, SignIn, SignInId};
use switchboard_core::time::Timestamp;

use super::{Attributes, Reading, Unreadable, names};

const ITEM: &str = "settings";

/// All that the item holds.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) struct Kept {
    /// Which write of the settings this is; 0 before the first. The sets of names grow without one.
    pub(crate) revision: u64,
    pub(crate) settings: Settings,
    pub(crate) releases: BTreeMap<DestinationName, Release>,
    /// Every source that ever stored an event.
    pub(crate) sources: BTreeSet<SourceName>,
    /// Every destination that ever had an item in the index of open and dead deliveries.
    pub(crate) destinations: BTreeSet<DestinationName>,
}

/// What the JSON text holds; moments in milliseconds since 1970.
#[derive(Serialize, Deserialize, Default)]
struct Stored {
    endpoint: Option<StoredEndpoint>,
    held: BTreeSet<String>,
    releases: BTreeMap<String, StoredRelease>,
    /// Not there in what older programs wrote.
    #[serde(default)]
    ended: StoredEnded,
}

#[derive(Serialize, Deserialize, Default)]
struct StoredEnded {
    until: Option<i64>,
    each: Vec<(i64, String)>,
}

#[derive(Serialize, Deserialize)]
struct StoredEndpoint {
    address: String,
    secret: String,
    former: Option<(String, i64)>,
    /// Those before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    earlier: Vec<(String, i64)>,
}

#[derive(Serialize, Deserialize)]
struct StoredRelease {
    per_second: u32,
    next: i64,
    earlier: u32,
    until: i64,
}

impl StoredEndpoint {
    fn of(endpoint: &Endpoint) -> Self {
        let former = endpoint.former.iter();
        let mut former = former.map(|(secret, until)| (secret.expose().to_owned(), until.millis()));
        Self {
            address: endpoint.address.url().as_str().to_owned(),
            secret: endpoint.secret.expose().to_owned(),
            former: former.next(),
            earlier: former.collect(),
        }
    }

    fn read(self) -> Option<Endpoint> {
        let former = self.former.into_iter().chain(self.earlier);
        let former = former
            .map(|(secret, until)| Some((Secret::new(&secret)?, Timestamp::from_millis(until))))
            .collect::<Option<_>>()?;
        Some(Endpoint {
            // Judged when it was set; the transport judges what it resolves to at every attempt.
            address: Address::parse(&self.address, Networks::PrivateToo).ok()?,
            secret: Secret::new(&self.secret)?,
            former,
        })
    }
}

impl StoredRelease {
    fn of(release: &Release) -> Self {
        Self {
            per_second: release.per_second,
            next: release.next.millis(),
            earlier: release.earlier,
            until: release.until.millis(),
        }
    }

    fn read(&self) -> Release {
        Release {
            per_second: self.per_second,
            next: Timestamp::from_millis(self.next),
            earlier: self.earlier,
            until: Timestamp::from_millis(self.until),
        }
    }
}

impl StoredEnded {
    fn of(ended: &Ended) -> Self {
        let each = ended.each.iter();
        Self {
            until: ended.until.map(Timestamp::millis),
            each: each
                .map(|sign_in| (sign_in.end.millis(), sign_in.id.as_str().to_owned()))
                .collect(),
        }
    }

    fn read(self) -> Option<Ended> {
        let each = self.each.into_iter().map(|(end, id)| {
            Some(SignIn {
                end: Timestamp::from_millis(end),
                id: SignInId::parse(&id)?,
            })
        });
        Some(Ended {
            until: self.until.map(Timestamp::from_millis),
            each: each.collect::<Option<_>>()?,
        })
    }
}

fn destination(text: &str) -> Option<DestinationName> {
    DestinationName::parse(text).ok()
}

impl Kept {
    /// Reads it. An item that only the sets of names were added to has no settings yet.
    pub(crate) fn read(attributes: &Attributes) -> Result<Self, Unreadable> {
        let reading = Reading::of(ITEM, attributes)?;
        let stored = if reading.has(names::JSON) {
            reading.parsed(names::JSON, |text| serde_json::from_str(text).ok())?
        } else {
            Stored::default()
        };
        let (settings, releases) = read(stored).ok_or(reading.fault(names::JSON))?;
        let sources = reading.texts(names::SOURCES)?.iter();
        let destinations = reading.texts(names::DESTINATIONS)?.iter();
        Ok(Self {
            revision: reading.number_if_any(names::REVISION)?.unwrap_or_default(),
            settings,
            releases,
            sources: sources
                .map(|name| SourceName::parse(name).ok())
                .collect::<Option<_>>()
                .ok_or(reading.fault(names::SOURCES))?,
            destinations: destinations
                .map(|name| destination(name))
                .collect::<Option<_>>()
                .ok_or(reading.fault(names::DESTINATIONS))?,
        })
    }

    /// The JSON text of settings and releases.
    pub(crate) fn json(&self) -> String {
        let stored = Stored {
            endpoint: self.settings.endpoint.as_ref().map(StoredEndpoint::of),
            held: self.settings.held.iter().map(ToString::to_string).collect(),
            releases: self
                .releases
                .iter()
                .map(|(name, release)| (name.to_string(), StoredRelease::of(release)))
                .collect(),
            ended: StoredEnded::of(&self.settings.ended),
        };
        // Texts and numbers: nothing that JSON cannot hold.
        serde_json::to_string(&stored).unwrap_or_default()
    }
}

fn read(stored: Stored) -> Option<(Settings, BTreeMap<DestinationName, Release>)> {
    let endpoint = match stored.endpoint {
        Some(endpoint) => Some(endpoint.read()?),
        None => None,
    };
    let held = stored.held.iter().map(|name| destination(name));
    let releases = stored.releases.iter();
    let releases = releases.map(|(name, release)| Some((destination(name)?, release.read())));
    Some((
        Settings {
            endpoint,
            held: held.collect::<Option<_>>()?,
            ended: stored.ended.read()?,
        },
        releases.collect::<Option<_>>()?,
    ))
}

#[cfg(test)]
mod tests {
    use aws_sdk_dynamodb::types::AttributeValue;

    use super::super::Writing;
    use super::*;
    use crate::keys;

    /// The whole item.
    fn write(kept: &Kept) -> Attributes {
        let set = |names: Vec<String>| AttributeValue::Ss(names);
        Writing::at(keys::SETTINGS_PARTITION, keys::SETTINGS)
            .number(names::REVISION, kept.revision)
            .text(names::JSON, kept.json())
            .value(
                names::SOURCES,
                set(kept.sources.iter().map(ToString::to_string).collect()),
            )
            .value(
                names::DESTINATIONS,
                set(kept.destinations.iter().map(ToString::to_string).collect()),
            )
            .done()
    }

    #[test]
    fn what_is_written_is_read_again() {
        let chat = DestinationName::parse("chat").expect("a name");
        let secret = |text| Secret::new(text).expect("a secret");
        let release = Release {
            per_second: 50,
            next: Timestamp::from_millis(5),
            earlier: 3,
            until: Timestamp::from_millis(9),
        };
        let endpoint = Endpoint {
            address: Address::parse("https://example.com/in?a=b", Networks::Public)
                .expect("an address"),
            secret: secret("whsec_AAAA"),
            former: vec![
                (secret("whsec_BBBB"), Timestamp::from_millis(7)),
                (secret("whsec_CCCC"), Timestamp::from_millis(6)),
            ],
        };
        let kept = Kept {
            revision: 4,
            settings: Settings {
                endpoint: Some(endpoint),
                held: BTreeSet::from([chat.clone()]),
                ended: Ended {
                    until: Some(Timestamp::from_millis(11)),
                    each: BTreeSet::from([SignIn {
                        end: Timestamp::from_millis(12),
                        id: SignInId::parse("a-sign-in").expect("an id"),
                    }]),
                },
            },
            releases: BTreeMap::from([(chat.clone(), release)]),
            sources: BTreeSet::from([SourceName::parse("shop").expect("a name")]),
            destinations: BTreeSet::from([chat]),
        };
        assert_eq!(Kept::read(&write(&kept)), Ok(kept));
    }

    #[test]
    fn an_item_that_knows_of_no_sign_ins_is_read() {
        let item = Writing::at(keys::SETTINGS_PARTITION, keys::SETTINGS)
            .number(names::REVISION, 1)
            .text(
                names::JSON,
                r#"{"endpoint":null,"held":["chat"],"releases":{}}"#.to_owned(),
            )
            .done();
        let kept = Kept::read(&item).expect("read");
        assert_eq!(kept.settings.held.len(), 1);
        assert_eq!(kept.settings.ended, Ended::default());
    }

    #[test]
    fn an_item_that_holds_names_only_has_nothing_set() {
        let item = Writing::at(keys::SETTINGS_PARTITION, keys::SETTINGS)
            .value(names::SOURCES, AttributeValue::Ss(vec!["shop".to_owned()]))
            .done();
        let kept = Kept::read(&item).expect("read");
        assert_eq!((kept.revision, kept.settings), (0, Settings::default()));
        assert_eq!(kept.sources.len(), 1);
    }
}
