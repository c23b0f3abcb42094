//! The API's lists of what failed: dead letters, refusals, declined requests.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use switchboard_core::ports::{Answer, Backend};
use switchboard_core::views::{
    DeadLetter, DeadLetterGroups, DeadLetterSearch, Declined, Page, RefusalRow,
};

use super::Status;
use super::access::Reader;
use super::answer::Failure;
use super::asked::{Asked, NothingAsked, destination, part_of};
use super::cursor::{List, PageAnswer};

/// `?after=&limit=` of a list.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ListQuery {
    after: Option<String>,
    limit: Option<String>,
}

/// `?destination=&after=&limit=` of the dead letters.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DeadLettersQuery {
    destination: Option<String>,
    after: Option<String>,
    limit: Option<String>,
}

type Listed<T> = Result<Json<PageAnswer<T>>, Failure>;

/// `GET /api/dead-letters`
pub(super) async fn dead_letters<B: Backend>(
    _: Reader,
    State(status): State<Arc<Status<B>>>,
    Asked(query): Asked<DeadLettersQuery>,
) -> Listed<DeadLetter> {
    let list = List::DeadLetters;
    let named = query.destination.as_deref().map(destination);
    let search = DeadLetterSearch {
        destination: named.transpose()?,
    };
    let ask = part_of(list, query.after, query.limit)?;
    let page = status.backend.dead_letters(&search, &ask).await;
    listed(list, "list the dead letters", page)
}

/// `GET /api/dead-letters/groups`
pub(super) async fn groups<B: Backend>(
    _: Reader,
    _: NothingAsked,
    State(status): State<Arc<Status<B>>>,
) -> Result<Json<DeadLetterGroups>, Failure> {
    let groups = status.backend.dead_letter_groups().await;
    groups
        .map(Json)
        .map_err(|error| Failure::store("group the dead letters", &error))
}

/// `GET /api/refusals`
pub(super) async fn refusals<B: Backend>(
    _: Reader,
    State(status): State<Arc<Status<B>>>,
    Asked(query): Asked<ListQuery>,
) -> Listed<RefusalRow> {
    let list = List::Refusals;
    let ask = part_of(list, query.after, query.limit)?;
    let page = status.backend.refusals(&ask).await;
    listed(list, "list the refusals", page)
}

/// `GET /api/declined`
pub(super) async fn declined<B: Backend>(
    _: Reader,
    State(status): State<Arc<Status<B>>>,
    Asked(query): Asked<ListQuery>,
) -> Listed<Declined> {
    let list = List::Declined;
    let ask = part_of(list, query.after, query.limit)?;
    let page = status.backend.declined(&ask).await;
    listed(list, "list the declined requests", page)
}

fn listed<T: Serialize>(list: List, doing: &'static str, page: Answer<Page<T>>) -> Listed<T> {
    page.map(|page| Json(list.given(page)))
        .map_err(|error| Failure::store(doing, &error))
}
