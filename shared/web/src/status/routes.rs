//! `GET /api/routes`: what goes where, by which retry rule, and the addresses that senders are given.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use switchboard_core::configuration::Configuration;
use switchboard_core::endpoint::Settings;
use switchboard_core::names::{DestinationName, SourceName};
use switchboard_core::ports::Backend;
use switchboard_core::route::Route;
use url::Url;

use super::access::Reader;
use super::answer::Failure;
use super::asked::NothingAsked;
use super::configuration::InUse;
use super::{Status, configuration, overview};

/// The routes, whole: there is never a next page.
#[derive(Serialize)]
pub(super) struct RoutesAnswer<'a> {
    items: &'a [Route],
    next: Option<String>,
    retry: BTreeMap<DestinationName, RetryAnswer>,
    sources: Vec<SourceAnswer<'a>>,
    /// Which configuration this is; not told where it is a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    configuration: Option<InUse>,
}

/// By what rules a destination is delivered to.
#[derive(Serialize)]
struct RetryAnswer {
    /// Scheme, host and port only; none while your endpoint is not set.
    address: Option<String>,
    attempts: u32,
    pauses_ms: Vec<u64>,
    jitter: f64,
    time_limit_ms: u64,
    first_pause_ms: Option<u64>,
    max_in_flight: usize,
    signed: bool,
    held: bool,
}

/// A source, without anything of its secrets but how many there are.
#[derive(Serialize)]
struct SourceAnswer<'a> {
    name: &'a SourceName,
    scheme: &'static str,
    secrets: usize,
    address: String,
}

/// `GET /api/routes`
pub(super) async fn routes<B: Backend>(
    _: Reader,
    _: NothingAsked,
    State(status): State<Arc<Status<B>>>,
) -> Result<axum::response::Response, Failure> {
    let settings = overview::settings(&status).await?;
    let stands = &status.configuration;
    let sources = stands.sources.iter().map(|source| SourceAnswer {
        name: &source.name,
        scheme: source.scheme.name,
        secrets: source.keys().len(),
        address: address_of(&status.address, &source.name),
    });
    let answer = RoutesAnswer {
        items: &stands.routes,
        next: None,
        retry: retry(stands, &settings),
        sources: sources.collect(),
        configuration: configuration::in_use(&status),
    };
    Ok(axum::response::IntoResponse::into_response(Json(answer)))
}

fn retry(
    configuration: &Configuration,
    settings: &Settings,
) -> BTreeMap<DestinationName, RetryAnswer> {
    let configured = configuration.destinations.iter().map(|destination| {
        let address = Some(destination.address.shown());
        let signed = destination.sign.is_some();
        (&destination.name, address, signed)
    });
    let yours = DestinationName::your_endpoint();
    let rules = configured.chain([(&yours, overview::shown(settings), true)]);
    let rules = rules.map(|(name, address, signed)| {
        let limits = configuration.limits(name);
        let rule = &limits.rule;
        let answer = RetryAnswer {
            address,
            attempts: rule.attempts(),
            pauses_ms: rule.pauses().iter().copied().map(millis).collect(),
            jitter: rule.jitter(),
            time_limit_ms: millis(limits.time_limit),
            first_pause_ms: limits.first_pause.map(millis),
            max_in_flight: limits.max_in_flight,
            signed,
            held: settings.held.contains(name),
        };
        (name.clone(), answer)
    });
    rules.collect()
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Where a source's events are posted.
fn address_of(base: &Url, source: &SourceName) -> String {
    format!("{}/in/{source}", base.as_str().trim_end_matches('/'))
}
