//! Reads a configuration: everything that is wrong with it is found at once, each fault naming its entry.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use http::HeaderMap;
use http::header::{HeaderName, HeaderValue};
use toml::Table;
use url::Url;

use super::fields::Fields;
use super::{
    Configuration, Destination, KEEP_DAYS, Limits, MAX_BODY, MAX_IN_FLIGHT, Source, TIME_LIMIT,
};
use crate::address::{Address, Networks};
use crate::names::{ActionName, DestinationName, Kind, SourceName, YOUR_ENDPOINT};
use crate::retry::{LONGEST_PAUSE, RetryRule};
use crate::route::{Pattern, Planned, Route};
use crate::scheme::{self, Key, SHORTEST_SAFE_KEY, Scheme, standard_webhooks};
use crate::secret::{Reference, Secret, SecretReader};

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
        write!(f, "{}: {}", self.place, self.what)
    }
}

/// Where a configuration comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The sample that is compiled in: it alone may hold `sample:` secrets.
    BuiltIn,
    /// A file of the user's own.
    File,
}

/// A configuration, and what its owner should know about it.
#[derive(Debug)]
pub struct Read {
    /// The configuration.
    pub configuration: Configuration,
    /// What is allowed but unwise.
    pub warnings: Vec<String>,
}

/// Bounds of a destination's time limit: above a minute one slow answer would hold a place for too long.
const TIME_LIMITS: std::ops::RangeInclusive<Duration> =
    Duration::from_millis(10)..=Duration::from_mins(1);
/// Bounds of a first pause: what a queue of every backend can wait.
const FIRST_PAUSES: std::ops::RangeInclusive<Duration> = Duration::ZERO..=Duration::from_mins(12);
/// Headers that a destination may not be configured to get: the connection's and those that Switchboard writes.
const OWN_HEADERS: [&str; 6] = [
    "host",
    "content-length",
    "transfer-encoding",
    "connection",
    "idempotency-key",
    "expect",
];

/// Reads and checks a configuration whole.
pub fn read(text: &str, origin: Origin, secrets: &dyn SecretReader) -> Result<Read, Vec<Fault>> {
    let table = text.parse::<Table>().map_err(|error| {
        let line = error.span().map(|span| {
            let before = text.get(..span.start).unwrap_or_default();
            before.matches('\n').count().saturating_add(1)
        });
        let place = line.map_or("the file".to_owned(), |line| format!("line {line}"));
        vec![Fault::new(
            &place,
            format!("not readable as TOML: {}", error.message()),
        )]
    })?;
    let mut faults = Vec::new();
    let mut warnings = Vec::new();
    let mut reader = Reader {
        origin,
        secrets,
        warnings: &mut warnings,
        networks: Networks::Public,
    };
    let configuration = reader.top(table, &mut faults);
    if faults.is_empty() {
        Ok(Read {
            configuration,
            warnings,
        })
    } else {
        Err(faults)
    }
}

struct Reader<'a> {
    origin: Origin,
    secrets: &'a dyn SecretReader,
    warnings: &'a mut Vec<String>,
    networks: Networks,
}

impl Reader<'_> {
    fn top(&mut self, table: Table, faults: &mut Vec<Fault>) -> Configuration {
        let mut top = Fields::new("the file", table, faults);
        let keep_days = top
            .number("keep_days", 7..=3650)
            .and_then(|days| u32::try_from(days).ok())
            .unwrap_or(KEEP_DAYS);
        let max_body = top
            .number("max_body", 1..=64 * 1024 * 1024)
            .and_then(|bytes| usize::try_from(bytes).ok());
        let public_url = public_url(&mut top);
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

    /// Every declared source by name; without the source itself where it has a fault.
    fn sources(
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
        let secret = self.secret(fields, "secrets", reference)?;
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
                fields.fault(format!("the secret {} {fault}", shown(reference)));
                None
            }
        }
    }

    /// The secret behind a reference.
    fn secret(&mut self, fields: &mut Fields<'_>, key: &str, reference: &str) -> Option<Secret> {
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
                fields.fault(format!("the secret {parsed} cannot be read: {why}"));
                return None;
            }
        };
        if secret.is_none() {
            fields.fault(format!("the secret {parsed} is empty"));
        }
        secret
    }

    fn destinations(
        &mut self,
        tables: Vec<Table>,
        faults: &mut Vec<Fault>,
    ) -> Vec<(DestinationName, Option<Destination>)> {
        let mut destinations: Vec<(DestinationName, Option<Destination>)> = Vec::new();
        for (n, table) in tables.into_iter().enumerate() {
            let mut fields = Fields::new(format!("destination {}", n + 1), table, faults);
            let name = named(&mut fields, "destination", DestinationName::parse);
            if name.as_ref().is_some_and(DestinationName::is_your_endpoint) {
                fields.fault(format!("{YOUR_ENDPOINT} is set with `switchboard endpoint set URL`, not in a configuration"));
            }
            if let Some(name) = name
                .as_ref()
                .filter(|name| destinations.iter().any(|(other, _)| other == *name))
            {
                fields.fault(format!(
                    "there are two destinations named {:?}",
                    name.as_str()
                ));
            }
            let address = self.address(&mut fields);
            let headers = self.headers(&mut fields);
            let sign = fields
                .text("sign")
                .and_then(|reference| self.signing_key(&mut fields, &reference));
            let limits = limits(&mut fields);
            let ca_pem = fields
                .text("ca_file")
                .and_then(|path| self.certificates(&mut fields, &path));
            fields.finish();
            if let Some(name) = name {
                let destination = address.map(|address| Destination {
                    name: name.clone(),
                    address,
                    headers,
                    sign,
                    limits,
                    ca_pem,
                });
                destinations.push((name, destination));
            }
        }
        destinations
    }

    fn address(&mut self, fields: &mut Fields<'_>) -> Option<Address> {
        let text = fields.required_text("url")?;
        let text = match Reference::parse(&text) {
            Some(Reference::Environment(_) | Reference::File(_)) => self
                .secret(fields, "url", &text)?
                .expose()
                .trim()
                .to_owned(),
            Some(Reference::Sample(_)) | None => text,
        };
        match Address::parse(&text, self.networks) {
            Ok(address) => Some(address),
            Err(fault) => {
                fields.fault(format!("url {fault}"));
                None
            }
        }
    }

    fn headers(&mut self, fields: &mut Fields<'_>) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, reference) in fields.table("headers").unwrap_or_default() {
            let parsed = HeaderName::try_from(name.as_str()).ok().filter(|name| {
                let name = name.as_str();
                !OWN_HEADERS.contains(&name)
                    && !["switchboard-", "webhook-"]
                        .iter()
                        .any(|own| name.starts_with(own))
            });
            let Some(parsed) = parsed else {
                fields.fault(format!(
                    "headers: {name:?} is not a header name, or one that is not yours to set"
                ));
                continue;
            };
            let toml::Value::String(reference) = reference else {
                fields.fault(format!(
                    "headers: {name} must be a reference to a secret, env:NAME or file:PATH"
                ));
                continue;
            };
            let Some(secret) = self.secret(fields, &format!("headers: {name}"), &reference) else {
                continue;
            };
            match HeaderValue::from_str(secret.expose()) {
                Ok(mut value) => {
                    value.set_sensitive(true);
                    headers.insert(parsed, value);
                }
                Err(_) => fields.fault(format!(
                    "headers: the secret {} cannot stand in a header",
                    shown(&reference)
                )),
            }
        }
        headers
    }

    fn signing_key(&mut self, fields: &mut Fields<'_>, reference: &str) -> Option<Key> {
        let secret = self.secret(fields, "sign", reference)?;
        let key = standard_webhooks::key(&secret);
        if let Err(fault) = &key {
            fields.fault(format!("sign: the secret {} {fault}", shown(reference)));
        }
        key.ok()
    }

    fn certificates(&mut self, fields: &mut Fields<'_>, path: &str) -> Option<String> {
        let read = self.secrets.read(&Reference::File(path.to_owned()));
        if let Err(why) = &read {
            fields.fault(format!("ca_file {path:?} cannot be read: {why}"));
        }
        read.ok()
    }

    fn routes(
        &mut self,
        tables: Vec<Table>,
        sources: &[(SourceName, Option<Source>)],
        destinations: &[(DestinationName, Option<Destination>)],
        faults: &mut Vec<Fault>,
    ) -> Vec<Route> {
        let mut routes = Vec::new();
        let mut named: BTreeSet<DestinationName> = BTreeSet::new();
        for (n, table) in tables.into_iter().enumerate() {
            let mut fields = Fields::new(format!("route {}", n + 1), table, faults);
            let source = match fields.required_text("source").as_deref() {
                Some("*") => Some(Pattern::Any),
                Some(text) => {
                    let found = sources.iter().find(|(name, _)| name.as_str() == text);
                    if found.is_none() {
                        fields.fault(format!("there is no source named {text:?}"));
                    }
                    found.map(|(name, _)| Pattern::Only(name.clone()))
                }
                None => None,
            };
            let kind = match fields.required_text("kind").as_deref() {
                Some("*") => Some(Pattern::Any),
                Some(text) => {
                    let kind = Kind::new(text).filter(|_| !text.is_empty());
                    if kind.is_none() {
                        fields.fault("kind must be \"*\" or 1 to 255 bytes long");
                    }
                    kind.map(Pattern::Only)
                }
                None => None,
            };
            let deliver = fields.tables("deliver");
            if deliver.is_empty() {
                fields.fault("deliver is missing or empty: the route leads nowhere");
            }
            fields.finish();
            let deliver: Vec<Planned> = deliver
                .into_iter()
                .filter_map(|table| {
                    planned(
                        Fields::new(format!("route {}, deliver", n + 1), table, faults),
                        destinations,
                    )
                })
                .collect();
            named.extend(deliver.iter().map(|planned| planned.destination.clone()));
            if let (Some(source), Some(kind)) = (source, kind) {
                routes.push(Route {
                    source,
                    kind,
                    deliver,
                });
            }
        }
        for (name, _) in destinations
            .iter()
            .filter(|(name, _)| !named.contains(name))
        {
            self.warnings.push(format!(
                "destination {:?}: no route names it",
                name.as_str()
            ));
        }
        routes
    }
}

fn planned(
    mut fields: Fields<'_>,
    destinations: &[(DestinationName, Option<Destination>)],
) -> Option<Planned> {
    let to = fields.required_text("to");
    let action = match fields.text("action") {
        None => Some(ActionName::deliver()),
        Some(text) => ActionName::parse(&text)
            .map_err(|error| fields.fault(format!("action: {error}")))
            .ok(),
    };
    let destination = to.and_then(|to| {
        let found = destinations
            .iter()
            .find(|(name, _)| name.as_str() == to)
            .map(|(name, _)| name.clone());
        if found.is_none() {
            fields.fault(format!("there is no destination named {to:?}"));
        }
        found
    });
    fields.finish();
    Some(Planned {
        destination: destination?,
        action: action?,
    })
}

fn named<T>(
    fields: &mut Fields<'_>,
    what: &str,
    parse: fn(&str) -> Result<T, crate::names::NameError>,
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

fn limits(fields: &mut Fields<'_>) -> Limits {
    let usual = RetryRule::default();
    let pauses = fields
        .spans("pauses", &(Duration::ZERO..=LONGEST_PAUSE))
        .unwrap_or_else(|| usual.pauses().to_vec());
    let jitter = fields.fraction("jitter").unwrap_or_else(|| usual.jitter());
    let rule = RetryRule::new(pauses, jitter).unwrap_or_else(|| {
        fields.fault("pauses must be at most 50, jitter from 0 to 0.9");
        usual
    });
    Limits {
        rule,
        time_limit: fields.span("time_limit", TIME_LIMITS).unwrap_or(TIME_LIMIT),
        first_pause: fields
            .span("first_pause", FIRST_PAUSES)
            .filter(|pause| !pause.is_zero()),
        max_in_flight: fields
            .number("max_in_flight", 1..=1000)
            .and_then(|n| usize::try_from(n).ok())
            .unwrap_or(MAX_IN_FLIGHT),
    }
}

fn public_url(top: &mut Fields<'_>) -> Option<Url> {
    let text = top.text("public_url")?;
    let url = Url::parse(&text).ok().filter(|url| {
        matches!(url.scheme(), "http" | "https")
            && url.has_host()
            && url.query().is_none()
            && url.fragment().is_none()
    });
    if url.is_none() {
        top.fault(format!(
            "public_url: {text:?} is not an address such as \"https://hooks.example.com\""
        ));
    }
    url
}

fn shown(reference: &str) -> String {
    Reference::parse(reference).map_or_else(|| "…".to_owned(), |reference| reference.to_string())
}
