//! The API's reading side: what the page shows, as JSON.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use serde::{Deserialize, Serialize};
use switchboard_core::endpoint::Settings;
use switchboard_core::identity::EventId;
use switchboard_core::names::{DestinationName, SourceName};
use switchboard_core::ports::Backend;
use switchboard_core::time::Timestamp;
use switchboard_core::views::{
    Cursor, DeadLetter, Declined, EventRow, EventSearch, EventView, Overview, Page, PageAsk,
    RefusalRow,
};

use super::Status;
use super::access::Reader;
use super::answer::{Asked, Failure};

/// Items of a page unless `limit` says otherwise, and the most it may say.
const USUAL_LIMIT: u32 = 50;
const MOST_LIMIT: u32 = 200;

/// Your endpoint, as far as it is shown.
#[derive(Serialize)]
pub(super) struct EndpointAnswer {
    set: bool,
    /// Scheme, host and port only.
    address: Option<String>,
}

/// The totals and what operators have set.
#[derive(Serialize)]
pub(super) struct OverviewAnswer {
    #[serde(flatten)]
    pub(super) overview: Overview,
    your_endpoint: EndpointAnswer,
    pub(super) held: BTreeSet<DestinationName>,
    at: Timestamp,
}

/// `?after=&limit=` of a list.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ListQuery {
    after: Option<String>,
    limit: Option<String>,
}

/// `?after=&limit=&source=&sender_id=` of the events.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EventsQuery {
    after: Option<String>,
    limit: Option<String>,
    source: Option<String>,
    sender_id: Option<String>,
}

type Listed<T> = Result<Json<Page<T>>, Failure>;

/// `GET /api/overview`
pub(super) async fn overview<B: Backend>(
    _: Reader,
    State(status): State<Arc<Status<B>>>,
) -> Result<Json<OverviewAnswer>, Failure> {
    whole(&status).await.map(Json)
}

/// The totals, with every configured source and destination in them, also those that nothing came to yet.
pub(super) async fn whole<B: Backend>(status: &Status<B>) -> Result<OverviewAnswer, Failure> {
    let settings = settings(status).await?;
    let mut overview = status
        .backend
        .overview()
        .await
        .map_err(|error| Failure::store("read the overview", &error))?;
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
    Ok(OverviewAnswer {
        overview,
        your_endpoint: EndpointAnswer {
            set: address.is_some(),
            address,
        },
        held: settings.held.clone(),
        at: status.clock.now(),
    })
}

/// What operators have set.
pub(super) async fn settings<B: Backend>(status: &Status<B>) -> Result<Arc<Settings>, Failure> {
    status
        .backend
        .settings()
        .await
        .map_err(|error| Failure::store("read the settings", &error))
}

/// The address of your endpoint as it is shown, when it is set.
pub(super) fn shown(settings: &Settings) -> Option<String> {
    settings
        .endpoint
        .as_ref()
        .map(|endpoint| endpoint.address.shown())
}

/// `GET /api/events`
pub(super) async fn events<B: Backend>(
    _: Reader,
    State(status): State<Arc<Status<B>>>,
    Asked(query): Asked<EventsQuery>,
) -> Listed<EventRow> {
    let source = query
        .source
        .map(|text| SourceName::parse(&text))
        .transpose()
        .map_err(|error| Failure::Unreadable(format!("source: {error}")))?;
    let search = EventSearch {
        source,
        sender_id: query.sender_id,
    };
    let ask = ask(query.after, query.limit)?;
    listed(
        "list the events",
        status.backend.events(&search, &ask).await,
    )
}

/// `GET /api/events/{event}`
pub(super) async fn event<B: Backend>(
    _: Reader,
    State(status): State<Arc<Status<B>>>,
    Path(id): Path<String>,
) -> Result<Json<EventView>, Failure> {
    let unknown = || Failure::NotFound("there is no such event".to_owned());
    let id = EventId::parse(&id).ok_or_else(unknown)?;
    let found = status.backend.event(&id).await;
    found
        .map_err(|error| Failure::store("read an event", &error))?
        .map(Json)
        .ok_or_else(unknown)
}

/// `GET /api/dead-letters`
pub(super) async fn dead_letters<B: Backend>(
    _: Reader,
    State(status): State<Arc<Status<B>>>,
    Asked(query): Asked<ListQuery>,
) -> Listed<DeadLetter> {
    let ask = ask(query.after, query.limit)?;
    listed(
        "list the dead letters",
        status.backend.dead_letters(&ask).await,
    )
}

/// `GET /api/refusals`
pub(super) async fn refusals<B: Backend>(
    _: Reader,
    State(status): State<Arc<Status<B>>>,
    Asked(query): Asked<ListQuery>,
) -> Listed<RefusalRow> {
    let ask = ask(query.after, query.limit)?;
    listed("list the refusals", status.backend.refusals(&ask).await)
}

/// `GET /api/declined`
pub(super) async fn declined<B: Backend>(
    _: Reader,
    State(status): State<Arc<Status<B>>>,
    Asked(query): Asked<ListQuery>,
) -> Listed<Declined> {
    let ask = ask(query.after, query.limit)?;
    listed(
        "list the declined requests",
        status.backend.declined(&ask).await,
    )
}

fn listed<T>(doing: &'static str, page: switchboard_core::ports::Answer<Page<T>>) -> Listed<T> {
    page.map(Json)
        .map_err(|error| Failure::store(doing, &error))
}

/// Which part of a list is meant.
fn ask(after: Option<String>, limit: Option<String>) -> Result<PageAsk, Failure> {
    let after = after
        .map(|text| Cursor::new(&text).ok_or("after is not where a page ended"))
        .transpose();
    let limit = limit.map_or(Ok(USUAL_LIMIT), |text| {
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse()
            .ok()
            .filter(|limit| digits && (1..=MOST_LIMIT).contains(limit))
            .ok_or("limit must be 1 to 200")
    });
    match (after, limit) {
        (Ok(after), Ok(limit)) => Ok(PageAsk { after, limit }),
        (Err(what), _) | (_, Err(what)) => Err(Failure::Unreadable(what.to_owned())),
    }
}
