//! Your endpoint: the user's own address, its signing secrets, and how they change.

use std::collections::BTreeSet;
use std::time::Duration;

use data_encoding::BASE64;

use crate::address::Address;
use crate::names::DestinationName;
use crate::ports::Spread;
use crate::scheme::standard_webhooks::PREFIX;
use crate::secret::Secret;
use crate::sign_in::{Ended, SignIn};
use crate::time::Timestamp;

/// How long the secret before a rotation goes on signing beside the new one.
pub const OVERLAP: Duration = Duration::from_hours(24);
/// Most secrets before the newest that go on signing: whoever lost one that was just made can rotate again, and cuts off no
/// receiver that has an earlier one.
const FORMER: usize = 3;
/// Bytes of a fresh signing key; Standard Webhooks asks for 24 to 64.
pub const KEY_BYTES: usize = 32;

/// Your endpoint, set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Where the copies go.
    pub address: Address,
    /// What they are signed with.
    pub secret: Secret,
    /// The secrets before the last rotations, the newest first, and until when each signs too.
    pub former: Vec<(Secret, Timestamp)>,
}

impl Endpoint {
    /// The secrets that sign at `now`, the newest first.
    pub fn signing(&self, now: Timestamp) -> Vec<&Secret> {
        let former = self.former.iter().filter(|(_, until)| now < *until);
        let former = former.map(|(secret, _)| secret);
        std::iter::once(&self.secret).chain(former).collect()
    }
}

/// A signing secret made of random bytes: `whsec_` and base64.
pub fn fresh_secret(random: &[u8; KEY_BYTES]) -> Option<Secret> {
    Secret::new(&format!("{PREFIX}{}", BASE64.encode(random)))
}

/// What operators have set, as it stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Your endpoint, when its address is set.
    pub endpoint: Option<Endpoint>,
    /// The destinations held.
    pub held: BTreeSet<DestinationName>,
    /// The sign-ins that operators ended.
    pub ended: Ended,
}

/// A change of what operators have set. Making the same change twice is making it once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Your endpoint gets this address; `fresh` becomes its secret only when it had none.
    SetEndpoint {
        /// Where the copies go from now on.
        address: Address,
        /// The secret for an endpoint that has none.
        fresh: Secret,
    },
    /// Your endpoint gets this secret; the one before goes on signing until the moment given, [`OVERLAP`] from now.
    RotateEndpoint {
        /// The new secret.
        fresh: Secret,
        /// How long both sign.
        overlap_until: Timestamp,
    },
    /// Your endpoint is cleared, address and secrets.
    ClearEndpoint,
    /// Deliveries to this destination wait until it is released.
    Hold(DestinationName),
    /// They go on, and what is held of them is put back at most this fast: see [`Release`](crate::release::Release).
    Release(DestinationName, Spread),
    /// This sign-in holds no more, as of the moment given.
    SignOut(SignIn, Timestamp),
}

impl Settings {
    /// What stands after `change`; a rotation of an endpoint that is not set changes nothing.
    #[must_use]
    pub fn after(mut self, change: Change) -> Self {
        match change {
            Change::SetEndpoint { address, fresh } => {
                self.endpoint = Some(match self.endpoint {
                    Some(endpoint) => Endpoint {
                        address,
                        ..endpoint
                    },
                    None => Endpoint {
                        address,
                        secret: fresh,
                        former: Vec::new(),
                    },
                });
            }
            Change::RotateEndpoint {
                fresh,
                overlap_until,
            } => {
                self.endpoint = self.endpoint.map(|endpoint| {
                    if endpoint.secret == fresh {
                        return endpoint;
                    }
                    let mut former = endpoint.former;
                    former.retain(|(_, until)| overlap_until.since(*until) < OVERLAP);
                    former.insert(0, (endpoint.secret, overlap_until));
                    former.truncate(FORMER);
                    Endpoint {
                        former,
                        secret: fresh,
                        address: endpoint.address,
                    }
                });
            }
            Change::ClearEndpoint => self.endpoint = None,
            Change::Hold(destination) => {
                self.held.insert(destination);
            }
            Change::Release(destination, _) => {
                self.held.remove(&destination);
            }
            Change::SignOut(sign_in, now) => self.ended = self.ended.with(sign_in, now),
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::Networks;

    fn secret(n: u8) -> Secret {
        fresh_secret(&[n; KEY_BYTES]).expect("secret")
    }

    fn set(n: u8) -> Change {
        let address =
            Address::parse("https://example.com/hook", Networks::Public).expect("address");
        Change::SetEndpoint {
            address,
            fresh: secret(n),
        }
    }

    #[test]
    fn an_address_set_again_keeps_its_secret_and_a_cleared_one_loses_it() {
        let settings = Settings::default().after(set(1)).after(set(2));
        assert_eq!(
            settings.endpoint.as_ref().map(|e| e.secret.clone()),
            Some(secret(1))
        );
        let settings = settings.after(Change::ClearEndpoint).after(set(3));
        assert_eq!(settings.endpoint.map(|e| e.secret), Some(secret(3)));
    }

    #[test]
    fn after_a_rotation_both_secrets_sign_until_the_overlap_ends() {
        let until = Timestamp::from_seconds(100);
        let rotate = Change::RotateEndpoint {
            fresh: secret(2),
            overlap_until: until,
        };
        let once = Settings::default().after(set(1)).after(rotate.clone());
        assert_eq!(once, once.clone().after(rotate), "twice is once");
        let endpoint = once.endpoint.expect("endpoint");
        assert_eq!(
            endpoint.signing(Timestamp::from_seconds(99)),
            [&secret(2), &secret(1)]
        );
        assert_eq!(endpoint.signing(until), [&secret(2)]);
    }

    #[test]
    fn a_further_rotation_cuts_off_no_secret_before_its_time() {
        let hour = |n: u64| Timestamp::from_seconds(0).plus(Duration::from_hours(n));
        let rotate = |n: u8, at: u64| Change::RotateEndpoint {
            fresh: secret(n),
            overlap_until: hour(at).plus(OVERLAP),
        };
        let settings = Settings::default().after(set(1));
        let settings = settings.after(rotate(2, 1)).after(rotate(3, 2));
        let of = |settings: &Settings, at| {
            let endpoint = settings.endpoint.clone().expect("endpoint");
            endpoint
                .signing(at)
                .into_iter()
                .cloned()
                .collect::<Vec<_>>()
        };
        assert_eq!(of(&settings, hour(24)), [secret(3), secret(2), secret(1)]);
        assert_eq!(of(&settings, hour(25)), [secret(3), secret(2)]);
        // What signs no more is not kept, and neither is more than a few.
        let later = settings.clone().after(rotate(4, 25));
        assert_eq!(later.endpoint.expect("endpoint").former.len(), 2);
        let often = (4..=9).fold(settings, |settings, n| settings.after(rotate(n, 3)));
        assert_eq!(of(&often, hour(4)), [9, 8, 7, 6].map(secret));
    }
}
