//! The API's events: found, one whole, and its body as it came.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::HeaderValue;
use http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use serde::{Deserialize, Serialize};
use switchboard_core::event::Event;
use switchboard_core::identity::EventId;
use switchboard_core::ports::Backend;
use switchboard_core::views::{EventRow, EventView, Looked};

use super::Status;
use super::access::Reader;
use super::answer::Failure;
use super::asked::{Asked, EventPath, NothingAsked, no_such_event, part_of};
use super::cursor::{List, PageAnswer};
use super::headers::Told;
use super::search::SearchTexts;

/// What narrows the events, and which part of them is meant.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EventsQuery {
    source: Option<String>,
    kind: Option<String>,
    sender_id: Option<String>,
    state: Option<String>,
    destination: Option<String>,
    from: Option<String>,
    until: Option<String>,
    after: Option<String>,
    limit: Option<String>,
}

/// Events that were found, and how far this part looked.
#[derive(Serialize)]
pub(super) struct FoundAnswer {
    #[serde(flatten)]
    page: PageAnswer<EventRow>,
    looked: Looked,
}

/// `GET /api/events`
pub(super) async fn events<B: Backend>(
    _: Reader,
    State(status): State<Arc<Status<B>>>,
    Asked(query): Asked<EventsQuery>,
) -> Result<Json<FoundAnswer>, Failure> {
    let search = SearchTexts {
        source: query.source,
        kind: query.kind,
        sender_id: query.sender_id,
        state: query.state,
        destination: query.destination,
        from: query.from,
        until: query.until,
    };
    let search = search.read()?;
    let ask = part_of(List::Events, query.after, query.limit)?;
    let found = status.backend.events(&search, &ask).await;
    let found = found.map_err(|error| Failure::store("list the events", &error))?;
    Ok(Json(FoundAnswer {
        page: List::Events.given(found.page),
        looked: found.looked,
    }))
}

/// One event, whole but for its body.
#[derive(Serialize)]
pub(super) struct EventAnswer {
    #[serde(flatten)]
    view: EventView,
    #[serde(flatten)]
    told: Told,
}

/// `GET /api/events/{event}`
pub(super) async fn event<B: Backend>(
    _: Reader,
    _: NothingAsked,
    State(status): State<Arc<Status<B>>>,
    EventPath(id): EventPath,
) -> Result<Json<EventAnswer>, Failure> {
    let found = status.backend.event(&id).await;
    let found = found.map_err(|error| Failure::store("read an event", &error))?;
    let view = found.ok_or_else(no_such_event)?;
    let told = match status.headers.of(&id, view.row.at) {
        Some(told) => told,
        None => status.headers.keep(&stored(&status, &id).await?),
    };
    Ok(Json(EventAnswer { view, told }))
}

/// `GET /api/events/{event}/body`
pub(super) async fn body<B: Backend>(
    _: Reader,
    _: NothingAsked,
    State(status): State<Arc<Status<B>>>,
    EventPath(id): EventPath,
) -> Result<Response, Failure> {
    let event = stored(&status, &id).await?;
    // Saved, never shown: it is a stranger's.
    let kept_as = format!("attachment; filename=\"{id}.bin\"");
    let kept_as = HeaderValue::from_str(&kept_as)
        .map_err(|error| Failure::Ours(format!("an id is no file name: {error}")))?;
    let bytes = HeaderValue::from_static("application/octet-stream");
    let headers = [(CONTENT_TYPE, bytes), (CONTENT_DISPOSITION, kept_as)];
    Ok((headers, event.body).into_response())
}

async fn stored<B: Backend>(status: &Status<B>, id: &EventId) -> Result<Event, Failure> {
    let found = status.backend.stored(id).await;
    let found = found.map_err(|error| Failure::store("read an event as it came", &error))?;
    found.ok_or_else(no_such_event)
}
