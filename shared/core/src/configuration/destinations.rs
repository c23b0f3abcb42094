//! Destinations: who may be delivered to, and by what rules.

use std::collections::BTreeSet;
use std::time::Duration;

use http::HeaderMap;
use http::header::{HeaderName, HeaderValue};
use toml::Table;

use super::fields::Fields;
use super::read::{Fault, Origin, Reader, Values, named};
use super::secrets::shown;
use super::{Destination, Limits, MAX_IN_FLIGHT, TIME_LIMIT};
use crate::address::Address;
use crate::names::{DestinationName, YOUR_ENDPOINT};
use crate::retry::{LONGEST_PAUSE, RetryRule};
use crate::scheme::{Key, SHORTEST_SAFE_KEY, standard_webhooks};
use crate::secret::Reference;

/// Bounds of a destination's time limit: above a minute one slow answer would hold a place for too long.
const TIME_LIMITS: std::ops::RangeInclusive<Duration> =
    Duration::from_millis(10)..=Duration::from_mins(1);
/// Bounds of a first pause: what a queue of every backend can wait.
const FIRST_PAUSES: std::ops::RangeInclusive<Duration> = Duration::ZERO..=Duration::from_mins(12);
/// What every certificate in a PEM file begins with (RFC 7468).
const CERTIFICATE: &str = "-----BEGIN CERTIFICATE-----";
/// Headers that a destination may not be configured to get: the connection's and those that Switchboard writes.
const OWN_HEADERS: [&str; 10] = [
    "keep-alive",
    "te",
    "trailer",
    "upgrade",
    "host",
    "content-length",
    "transfer-encoding",
    "connection",
    "idempotency-key",
    "expect",
];

impl Reader<'_> {
    pub(super) fn destinations(
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
            let address = fields
                .required_text("url")
                .and_then(|text| self.address(&mut fields, "url", text));
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

    /// An address that may be posted to, given as text or by a reference to a secret.
    pub(super) fn address(
        &mut self,
        fields: &mut Fields<'_>,
        key: &str,
        text: String,
    ) -> Option<Address> {
        // What begins like a reference is one, also where its name is none: no address begins so.
        let refers = Reference::parse(&text).is_some() || text.starts_with("secret:");
        let text = if refers {
            self.secret(fields, key, &text)?.expose().trim().to_owned()
        } else {
            text
        };
        match Address::parse(&text, self.networks) {
            Ok(address) => Some(address),
            Err(fault) => {
                fields.fault(format!("{key} {fault}"));
                None
            }
        }
    }

    fn headers(&mut self, fields: &mut Fields<'_>) -> HeaderMap {
        let mut headers = HeaderMap::new();
        let mut seen: BTreeSet<String> = BTreeSet::new();
        for (name, reference) in fields.table("headers").unwrap_or_default() {
            let parsed = HeaderName::try_from(name.as_str()).ok().filter(|name| {
                let name = name.as_str();
                !OWN_HEADERS.contains(&name)
                    && !["switchboard-", "webhook-", "svix-"]
                        .iter()
                        .any(|own| name.starts_with(own))
            });
            let Some(parsed) = parsed else {
                fields.fault(format!(
                    "headers: {name:?} is not a header name, or one that is not yours to set"
                ));
                continue;
            };
            if !seen.insert(parsed.as_str().to_owned()) {
                fields.fault(format!("headers: {name} stands there in two spellings"));
            }
            let toml::Value::String(reference) = reference else {
                let may = self.origin.references();
                fields.fault(format!(
                    "headers: {name} must be a reference to a secret, {may}"
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
        match &key {
            Ok(key) if key.is_short() => self.warnings.push(format!(
                "{}: the secret {} is shorter than {SHORTEST_SAFE_KEY} bytes and can be guessed",
                fields.place(),
                shown(reference)
            )),
            Ok(_) => {}
            Err(fault) => fields.fault(format!("sign: the secret {} {fault}", shown(reference))),
        }
        key.ok()
    }

    /// The certificates of a file, as text; whether each of them can be used is the transport's to say.
    fn certificates(&mut self, fields: &mut Fields<'_>, path: &str) -> Option<String> {
        if self.origin == Origin::Deployed {
            fields
                .fault("ca_file is for a Switchboard on one machine: a deployed one has no files");
            return None;
        }
        let Values::Read(secrets) = self.values else {
            return None;
        };
        match secrets.read(&Reference::File(path.to_owned())) {
            Ok(pem) if pem.contains(CERTIFICATE) => return Some(pem),
            Ok(_) => fields.fault(format!("ca_file {path:?} holds no certificate (PEM)")),
            Err(why) => fields.fault(format!("ca_file {path:?} cannot be read: {why}")),
        }
        None
    }
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
