//! `GET /api/overview`: totals, the last hour, and what operators have set. Computed at most once a second, however many
//! look, and sent again only where it changed.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue};
use serde::Serialize;
use switchboard_core::endpoint::Settings;
use switchboard_core::names::DestinationName;
use switchboard_core::ports::Backend;
use switchboard_core::time::Timestamp;
use switchboard_core::views::{Overview, Recent};

use super::Status;
use super::access::Reader;
use super::answer::Failure;
use super::asked::NothingAsked;
use super::tag::{Tag, tagged};

/// How long an answer is good for.
const GOOD_FOR: Duration = Duration::from_secs(1);

/// Your endpoint, as far as it is shown.
#[derive(Serialize)]
struct EndpointAnswer {
    set: bool,
    /// Scheme, host and port only.
    address: Option<String>,
}

/// The totals, and what operators have set.
#[derive(Serialize)]
pub(super) struct Standing {
    #[serde(flatten)]
    pub(super) overview: Overview,
    your_endpoint: EndpointAnswer,
    pub(super) held: BTreeSet<DestinationName>,
}

/// What the page shows first.
#[derive(Serialize)]
struct OverviewAnswer {
    #[serde(flatten)]
    standing: Standing,
    recent: Recent,
    /// Of the program.
    version: &'static str,
}

/// The same, and as of when: that moment alone makes it no other answer.
#[derive(Serialize)]
struct AsOf<'a> {
    #[serde(flatten)]
    answer: &'a OverviewAnswer,
    at: Timestamp,
}

/// The last answer. Whoever asks meanwhile waits for the one who is asking.
#[derive(Default)]
pub(super) struct Shared {
    last: tokio::sync::Mutex<Option<Kept>>,
    /// How often operators changed something here: what was computed before does not count any more.
    changes: AtomicU64,
}

struct Kept {
    /// When it came, in ticks.
    at: Duration,
    changes: u64,
    /// Nothing where the store failed.
    told: Option<Told>,
}

#[derive(Clone)]
struct Told {
    body: Bytes,
    tag: Tag,
}

impl Shared {
    /// An operator changed something: whoever looks next sees it.
    pub(super) fn changed(&self) {
        self.changes.fetch_add(1, Ordering::SeqCst);
    }
}

/// `GET /api/overview`
pub(super) async fn overview<B: Backend>(
    _: Reader,
    _: NothingAsked,
    State(status): State<Arc<Status<B>>>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let told = shared(&status).await;
    let Told { body, tag } = told.ok_or(Failure::Unreachable { moved: None })?;
    let json = HeaderValue::from_static("application/json");
    Ok(tagged(&headers, &tag, || {
        ([(CONTENT_TYPE, json)], body).into_response()
    }))
}

async fn shared<B: Backend>(status: &Status<B>) -> Option<Told> {
    let mut last = status.overview.last.lock().await;
    let changes = status.overview.changes.load(Ordering::SeqCst);
    let ticks = status.clock.ticks();
    let fresh = last
        .as_ref()
        .filter(|kept| kept.changes == changes && ticks.saturating_sub(kept.at) < GOOD_FOR);
    if let Some(kept) = fresh {
        return kept.told.clone();
    }
    // Why not is in the log already.
    let told = told(status).await.ok();
    *last = Some(Kept {
        at: status.clock.ticks(),
        changes,
        told: told.clone(),
    });
    told
}

async fn told<B: Backend>(status: &Status<B>) -> Result<Told, Failure> {
    let at = status.clock.now();
    let (standing, recent) = tokio::try_join!(standing(status), recent(status, at))?;
    let answer = OverviewAnswer {
        standing,
        recent,
        version: env!("CARGO_PKG_VERSION"),
    };
    let written = |error: serde_json::Error| {
        Failure::Ours(format!("the overview cannot be written: {error}"))
    };
    let tag = Tag::of(&serde_json::to_vec(&answer).map_err(written)?);
    let answer = &answer;
    let body = serde_json::to_vec(&AsOf { answer, at }).map_err(written)?;
    Ok(Told {
        body: Bytes::from(body),
        tag,
    })
}

/// The totals, with every configured source and destination in them, also those that nothing came to yet.
pub(super) async fn standing<B: Backend>(status: &Status<B>) -> Result<Standing, Failure> {
    let (settings, overview) = tokio::try_join!(settings(status), totals(status))?;
    let mut overview = overview;
    for source in &status.configuration.sources {
        overview.sources.entry(source.name.clone()).or_default();
    }
    for destination in &status.configuration.destinations {
        let name = destination.name.clone();
        overview.destinations.entry(name).or_default();
    }
    let address = shown(&settings);
    if address.is_some() {
        let name = DestinationName::your_endpoint();
        overview.destinations.entry(name).or_default();
    }
    Ok(Standing {
        overview,
        your_endpoint: EndpointAnswer {
            set: address.is_some(),
            address,
        },
        held: settings.held.clone(),
    })
}

async fn totals<B: Backend>(status: &Status<B>) -> Result<Overview, Failure> {
    let read = status.backend.overview().await;
    read.map_err(|error| Failure::store("read the overview", &error))
}

/// The last hour, with every configured source and destination in it.
async fn recent<B: Backend>(status: &Status<B>, now: Timestamp) -> Result<Recent, Failure> {
    let read = status.backend.recent(now).await;
    let mut recent = read.map_err(|error| Failure::store("read the last hour", &error))?;
    for source in &status.configuration.sources {
        recent.sources.entry(source.name.clone()).or_default();
    }
    for destination in &status.configuration.destinations {
        let name = destination.name.clone();
        recent.destinations.entry(name).or_default();
    }
    Ok(recent)
}

/// What operators have set.
pub(super) async fn settings<B: Backend>(status: &Status<B>) -> Result<Arc<Settings>, Failure> {
    let read = status.backend.settings().await;
    read.map_err(|error| Failure::store("read the settings", &error))
}

/// The address of your endpoint as it is shown, when it is set.
pub(super) fn shown(settings: &Settings) -> Option<String> {
    let endpoint = settings.endpoint.as_ref();
    endpoint.map(|endpoint| endpoint.address.shown())
}
