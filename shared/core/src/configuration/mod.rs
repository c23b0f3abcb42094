//! The configuration: sources, destinations and routes, checked whole. What is in here cannot be wrong any more.

use std::time::Duration;

use http::HeaderMap;
use url::Url;

use crate::address::{Address, Networks};
use crate::alert::ALERT_AFTER;
use crate::names::{DestinationName, SourceName};
use crate::ports::Keep;
use crate::retry::RetryRule;
use crate::route::Route;
use crate::scheme::{Key, Scheme};
use crate::secret::Secret;

mod destinations;
mod fields;
mod names;
mod read;
mod routes;
mod secrets;
mod sources;

pub use names::Named;
pub(crate) use read::check_deployed_for;
pub use read::{Checked, Fault, Needs, Origin, Read, check_deployed, read, read_for};

/// Longest body that is accepted unless the configuration says otherwise, in bytes: 6 MiB.
pub const MAX_BODY: usize = 6 * 1024 * 1024;
/// Days that an event is kept unless the configuration says otherwise.
pub const KEEP_DAYS: u32 = 30;
/// Attempts in flight to one destination unless the configuration says otherwise.
pub const MAX_IN_FLIGHT: usize = 32;
/// How long a destination may take for status line and headers unless the configuration says otherwise.
pub const TIME_LIMIT: Duration = Duration::from_secs(3);

/// A sender that may post.
#[derive(Clone, Debug)]
pub struct Source {
    /// Its name, and the last part of its address.
    pub name: SourceName,
    /// How it signs.
    pub scheme: &'static Scheme,
    secrets: Vec<Secret>,
    keys: Vec<Key>,
}

impl Source {
    /// A source with the secrets that may sign, each with its key.
    pub fn new(name: SourceName, scheme: &'static Scheme, secrets: Vec<(Secret, Key)>) -> Self {
        let (secrets, keys) = secrets.into_iter().unzip();
        Self {
            name,
            scheme,
            secrets,
            keys,
        }
    }

    /// The keys, one for each secret.
    pub fn keys(&self) -> &[Key] {
        &self.keys
    }

    /// The secrets with their keys.
    pub fn secrets(&self) -> impl Iterator<Item = (&Secret, &Key)> {
        self.secrets.iter().zip(&self.keys)
    }
}

/// By what rules a destination is delivered to.
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    /// When failed attempts are made again.
    pub rule: RetryRule,
    /// How long status line and headers may take.
    pub time_limit: Duration,
    /// How long the first attempt waits, moved by the rule's jitter; none by default.
    pub first_pause: Option<Duration>,
    /// Most attempts under way at once.
    pub max_in_flight: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            rule: RetryRule::default(),
            time_limit: TIME_LIMIT,
            first_pause: None,
            max_in_flight: MAX_IN_FLIGHT,
        }
    }
}

/// A receiver that routes may name.
#[derive(Clone, Debug)]
pub struct Destination {
    /// Its name.
    pub name: DestinationName,
    /// Where it is.
    pub address: Address,
    /// Headers it is sent, from secrets.
    pub headers: HeaderMap,
    /// What its deliveries are signed with, by Standard Webhooks.
    pub sign: Option<Key>,
    /// By what rules it is delivered to.
    pub limits: Limits,
    /// Certificates (PEM) that it may be signed by, besides the web's usual ones.
    pub ca_pem: Option<String>,
}

/// A configuration that was checked whole.
#[derive(Clone, Debug)]
pub struct Configuration {
    /// Days that an event is kept after first receipt.
    pub keep_days: u32,
    /// Longest body that is accepted, in bytes.
    pub max_body: usize,
    /// The address that senders reach this Switchboard under.
    pub public_url: Option<Url>,
    /// Host names that page, API and admin answer to, besides the loopback ones; in lower case.
    pub hosts: Vec<String>,
    /// Which networks destinations may be on.
    pub networks: Networks,
    /// Where alerts go, when they are wanted.
    pub alert_url: Option<Address>,
    /// How long a delivery may wait before that is alerted.
    pub alert_after: Duration,
    /// Who may post.
    pub sources: Vec<Source>,
    /// Who may be delivered to.
    pub destinations: Vec<Destination>,
    /// What goes where.
    pub routes: Vec<Route>,
    /// By what rules your endpoint is delivered to.
    pub endpoint_limits: Limits,
}

impl Configuration {
    /// What stands in a deployed Switchboard before the first was applied: nobody may post.
    pub fn empty() -> Self {
        Self {
            keep_days: KEEP_DAYS,
            max_body: MAX_BODY,
            public_url: None,
            hosts: Vec::new(),
            networks: Networks::Public,
            alert_url: None,
            alert_after: ALERT_AFTER,
            sources: Vec::new(),
            destinations: Vec::new(),
            routes: Vec::new(),
            endpoint_limits: Limits::default(),
        }
    }

    /// The destination of that name, unless it is your endpoint.
    pub fn destination(&self, name: &DestinationName) -> Option<&Destination> {
        self.destinations
            .iter()
            .find(|destination| destination.name == *name)
    }

    /// By what rules a destination is delivered to; the usual ones for one that is not configured.
    pub fn limits(&self, name: &DestinationName) -> &Limits {
        self.destination(name)
            .map_or(&self.endpoint_limits, |destination| &destination.limits)
    }

    /// How long events are kept.
    pub fn keep(&self) -> Keep {
        Keep {
            days: self.keep_days,
        }
    }
}
