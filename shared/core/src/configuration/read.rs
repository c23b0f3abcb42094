//! Reads a configuration: everything that is wrong with it is found at once, each fault naming its entry.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use toml::Table;
use url::Url;

use super::fields::Fields;
use super::{Configuration, KEEP_DAYS, Limits, MAX_BODY};
use crate::address::Networks;
use crate::alert::ALERT_AFTER;
use crate::names::NameError;
use crate::secret::{SecretName, SecretReader};

/// Bounds of how long a delivery may wait before that is alerted.
const ALERT_AFTERS: std::ops::RangeInclusive<Duration> =
    Duration::from_secs(1)..=Duration::from_hours(7 * 24);

/// The place of what stands above all tables: its key says enough.
const TOP: &str = "";

/// One thing that is wrong with a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    place: String,
    what: String,
}

impl Fault {
    pub(super) fn new(place: &str, what: impl Into<String>) -> Self {
        Self {
            place: place.to_owned(),
            what: what.into(),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.place.is_empty() {
            return f.write_str(&self.what);
        }
        write!(f, "{}: {}", self.place, self.what)
    }
}

/// Where a configuration comes from, which decides what may stand in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The sample that is compiled in: it alone may hold `sample:` secrets.
    BuiltIn,
    /// A file of the user's own, on the machine that serves: secrets by `env:` and `file:`.
    File,
    /// What was applied to a deployed Switchboard, which has neither a file nor an environment of its owner's:
    ///
    /// - secrets by `secret:` only, which are the deployment's own;
    /// - no `ca_file`, since there is no file: a destination needs a certificate of a public authority;
    /// - no `hosts`: the gateway answers to its own names only, and says which one it was;
    /// - `public_url` begins with `https`, as everything does behind the gateway;
    /// - `max_body` is at most 6 MiB, which is what the platform takes in one request.
    ///
    /// `alert_url` and `alert_after` do nothing, since the stack's own alarms tell, which is a warning.
    ///
    /// `allow_private_networks` may stand there, for functions that are attached to a private network; the platform's own
    /// addresses stay forbidden. `max_in_flight` counts in each process.
    Deployed,
}

impl Origin {
    /// The references to secrets that may stand in it, for whoever wrote another text.
    pub(super) fn references(self) -> &'static str {
        match self {
            Self::BuiltIn | Self::File => "env:NAME or file:PATH",
            Self::Deployed => "secret:NAME (of a-z, 0-9, - and single slashes)",
        }
    }
}

/// A configuration, and what its owner should know about it.
#[derive(Debug)]
pub struct Read {
    /// The configuration.
    pub configuration: Configuration,
    /// What is allowed but unwise.
    pub warnings: Vec<String>,
}

/// What can be said of a deployed configuration by somebody who may not read its secrets.
#[derive(Debug, Default)]
pub struct Checked {
    /// All that is wrong with it, but for its secrets.
    pub faults: Vec<Fault>,
    /// What is allowed but unwise.
    pub warnings: Vec<String>,
    /// Every secret that it names.
    pub secrets: BTreeSet<SecretName>,
}

/// Reads and checks a configuration whole.
pub fn read(text: &str, origin: Origin, secrets: &dyn SecretReader) -> Result<Read, Vec<Fault>> {
    read_for(text, origin, Needs::Everything, secrets)
}

/// The same for whoever needs a part of it only: what stands behind a secret that is not needed is not there.
pub fn read_for(
    text: &str,
    origin: Origin,
    needs: Needs,
    secrets: &dyn SecretReader,
) -> Result<Read, Vec<Fault>> {
    let table = parsed(text).map_err(|fault| vec![fault])?;
    let mut faults = Vec::new();
    let mut reader = Reader::new(origin, needs, Values::Read(secrets));
    let configuration = reader.top(table, &mut faults);
    if faults.is_empty() {
        Ok(Read {
            configuration,
            warnings: reader.warnings,
        })
    } else {
        Err(faults)
    }
}

/// Checks all of a deployed configuration but the secrets behind its references, which it only names. What finds no
/// fault here can still have a secret that is missing or makes no key: [`read`] tells.
pub fn check_deployed(text: &str) -> Checked {
    check_deployed_for(text, Needs::Everything)
}

/// The same, naming only the secrets that are needed.
pub(crate) fn check_deployed_for(text: &str, needs: Needs) -> Checked {
    let mut faults = Vec::new();
    let mut reader = Reader::new(Origin::Deployed, needs, Values::Unread);
    match parsed(text) {
        Ok(table) => {
            reader.top(table, &mut faults);
        }
        Err(fault) => faults.push(fault),
    }
    Checked {
        faults,
        warnings: reader.warnings,
        secrets: reader.named,
    }
}

fn parsed(text: &str) -> Result<Table, Fault> {
    text.parse::<Table>().map_err(|error| {
        let line = error.span().map(|span| {
            let before = text.get(..span.start).unwrap_or_default();
            before.matches('\n').count().saturating_add(1)
        });
        let place = line.map_or("the file".to_owned(), |line| format!("line {line}"));
        Fault::new(&place, format!("not readable as TOML: {}", error.message()))
    })
}

/// Which secrets of a configuration somebody needs. Each read of one costs, and what a process does not know it cannot tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Needs {
    /// All of them.
    #[default]
    Everything,
    /// Those of destinations: whoever delivers proves nothing of a sender's. There are no sources then.
    Destinations,
    /// None. There are no sources then, and no address, header or signature that is a secret.
    Nothing,
}

/// What stands behind a reference.
#[derive(Clone, Copy)]
pub(super) enum Values<'a> {
    /// It is read and judged.
    Read(&'a dyn SecretReader),
    /// It is not looked at.
    Unread,
}

/// What is needed to read every part.
pub(super) struct Reader<'a> {
    pub(super) origin: Origin,
    pub(super) needs: Needs,
    pub(super) values: Values<'a>,
    pub(super) warnings: Vec<String>,
    pub(super) networks: Networks,
    /// Secrets of the deployment that were named.
    pub(super) named: BTreeSet<SecretName>,
}

impl<'a> Reader<'a> {
    fn new(origin: Origin, needs: Needs, values: Values<'a>) -> Self {
        Self {
            origin,
            needs,
            values,
            warnings: Vec::new(),
            networks: Networks::Public,
            named: BTreeSet::new(),
        }
    }

    fn top(&mut self, table: Table, faults: &mut Vec<Fault>) -> Configuration {
        let mut top = Fields::new(TOP, table, faults);
        let keep_days = top
            .number("keep_days", 7..=3650)
            .and_then(|days| u32::try_from(days).ok())
            .unwrap_or(KEEP_DAYS);
        let max_body = top
            .number("max_body", 1..=most_body(self.origin))
            .and_then(|bytes| usize::try_from(bytes).ok());
        let public_url = public_url(&mut top, self.origin);
        if self.origin == Origin::Deployed && top.has("hosts") {
            top.fault("hosts is for a Switchboard on one machine: a deployed one answers to the names of its gateway");
        }
        for key in ["alert_url", "alert_after"] {
            // No fault: what was applied before this was said goes on.
            if self.origin == Origin::Deployed && top.has(key) {
                self.warnings.push(format!("{key} does nothing in a deployed Switchboard: the alarms of its stack tell, by the stack's parameter AlarmTopic"));
            }
        }
        let hosts = top.texts("hosts").unwrap_or_default();
        for host in hosts
            .iter()
            .filter(|host| host.is_empty() || host.contains(['/', ':', '*', ' ']))
        {
            top.fault(format!("hosts: {host:?} is not a bare host name"));
        }
        if top.switch("allow_private_networks") == Some(true) {
            self.networks = Networks::PrivateToo;
        }
        let alert_after = top.span("alert_after", ALERT_AFTERS);
        let alert_url = top
            .text("alert_url")
            .and_then(|text| self.address(&mut top, "alert_url", text));
        let (sources, destinations, routes) = (
            top.tables("source"),
            top.tables("destination"),
            top.tables("route"),
        );
        if sources.is_empty() {
            top.fault("there is no [[source]]: nobody could post");
        }
        top.finish();
        let sources = self.sources(sources, faults);
        let destinations = self.destinations(destinations, faults);
        let routes = self.routes(routes, &sources, &destinations, faults);
        Configuration {
            keep_days,
            max_body: max_body.unwrap_or(MAX_BODY),
            public_url,
            hosts: hosts.iter().map(|host| host.to_ascii_lowercase()).collect(),
            networks: self.networks,
            alert_url,
            alert_after: alert_after.unwrap_or(ALERT_AFTER),
            sources: sources
                .into_iter()
                .filter_map(|(_, source)| source)
                .collect(),
            destinations: destinations
                .into_iter()
                .filter_map(|(_, destination)| destination)
                .collect(),
            routes,
            endpoint_limits: Limits::default(),
        }
    }
}

/// Reads the name of an entry, and calls the entry by it from then on.
pub(super) fn named<T>(
    fields: &mut Fields<'_>,
    what: &str,
    parse: fn(&str) -> Result<T, NameError>,
) -> Option<T> {
    let text = fields.required_text("name")?;
    match parse(&text) {
        Ok(name) => {
            fields.call(format!("{what} {text:?}"));
            Some(name)
        }
        Err(error) => {
            fields.fault(format!("name: {error}"));
            None
        }
    }
}

/// The longest body that may be allowed, in bytes.
const fn most_body(origin: Origin) -> i64 {
    match origin {
        Origin::BuiltIn | Origin::File => 64 * 1024 * 1024,
        Origin::Deployed => 6 * 1024 * 1024,
    }
}

fn public_url(top: &mut Fields<'_>, origin: Origin) -> Option<Url> {
    let text = top.text("public_url")?;
    let url = Url::parse(&text).ok().filter(|url| {
        matches!(url.scheme(), "http" | "https")
            && url.has_host()
            && url.username().is_empty()
            && url.password().is_none()
            && url.query().is_none()
            && url.fragment().is_none()
    });
    if url.is_none() {
        top.fault("public_url is not an address such as \"https://hooks.example.com\"");
    }
    if origin == Origin::Deployed && url.as_ref().is_some_and(|url| url.scheme() != "https") {
        top.fault("public_url must begin with https: the gateway speaks nothing else");
    }
    url
}
