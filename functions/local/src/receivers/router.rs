//! What the receivers' port answers: deliveries and switches by POST, the books and their page by GET.

use std::sync::Arc;

use axum::extract::{DefaultBodyLimit, Path, Query, State};
use axum::middleware::map_response;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use bytes::Bytes;
use http::header::{
    ACCEPT, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, RETRY_AFTER,
};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde::Deserialize;
use serde_json::{Value, json};
use switchboard_core::failure::line;
use switchboard_core::scheme::{standard_webhooks, verify};
use switchboard_core::time::{Clock, Timestamp};
use switchboard_receiver::{Applied, ApplyError, IdempotencyKey};
use tokio::task::spawn_blocking;

use super::book::{self, BookFault, Proof, Receiver};
use super::connection::unanswered;
use super::delivery::{self, Delivery};
use super::guard::{Hosts, own_site};
use super::keys::Keys;
use super::mode::{Mode, Pauses};
use super::page;
use super::store::{Book, Store};

/// Longest body that is taken, in bytes: over what Switchboard takes unless it is told otherwise.
const LONGEST_BODY: usize = 8 * 1024 * 1024;

/// What every request needs.
pub(super) struct Desk {
    store: Store,
    keys: Keys,
    clock: Arc<dyn Clock>,
    pauses: Pauses,
    hosts: Hosts,
}

impl Desk {
    pub(super) fn new(
        store: Store,
        keys: Keys,
        clock: Arc<dyn Clock>,
        pauses: Pauses,
        hosts: Hosts,
    ) -> Self {
        Self {
            store,
            keys,
            clock,
            pauses,
            hosts,
        }
    }
}

/// The routes.
pub(super) fn router(desk: Desk) -> Router {
    Router::new()
        .route("/", get(show_page))
        .route("/books", get(show_books))
        .route(
            "/page.css",
            get(|| async { ([(CONTENT_TYPE, "text/css; charset=utf-8")], page::STYLE) }),
        )
        .route(
            "/page.js",
            get(|| async {
                (
                    [(CONTENT_TYPE, "text/javascript; charset=utf-8")],
                    page::SCRIPT,
                )
            }),
        )
        .route("/{receiver}", post(take))
        .layer(DefaultBodyLimit::max(LONGEST_BODY))
        .layer(map_response(careful))
        .with_state(Arc::new(desk))
}

/// The headers of every answer.
async fn careful(mut response: Response) -> Response {
    let always = [
        (CACHE_CONTROL, "no-store"),
        (CONTENT_SECURITY_POLICY, page::POLICY),
        (REFERRER_POLICY, "no-referrer"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    for (name, value) in always {
        response
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
    }
    response
}

/// What stands behind the question mark.
#[derive(Deserialize)]
struct Asked {
    mode: Option<String>,
}

/// `POST /{receiver}`: a delivery, or a switch when there is no idempotency key and `?mode=` says how to behave.
async fn take(
    State(desk): State<Arc<Desk>>,
    Path(name): Path<String>,
    Query(asked): Query<Asked>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let Some(receiver) = book::named(&name) else {
        return fault(StatusCode::NOT_FOUND, "there is no such receiver");
    };
    let asked = match asked.mode.as_deref().map(Mode::named) {
        Some(None) => {
            return fault(
                StatusCode::BAD_REQUEST,
                "mode is ok, slow, late, fail or down",
            );
        }
        Some(Some(mode)) => Some(mode),
        None => None,
    };
    match (is_delivery(receiver, &headers), asked) {
        (true, asked) => deliver(desk, receiver, asked, &headers, body).await,
        (false, Some(mode)) => switch(desk, receiver, mode, &headers).await,
        (false, None) => fault(StatusCode::BAD_REQUEST, "a delivery has an Idempotency-Key"),
    }
}

fn is_delivery(receiver: &Receiver, headers: &HeaderMap) -> bool {
    let names: &[&str] = match receiver.proof {
        Proof::NotAsked => &["idempotency-key"],
        Proof::Signature => &["idempotency-key", "webhook-id", "svix-id"],
    };
    names.iter().any(|name| headers.contains_key(*name))
}

async fn deliver(
    desk: Arc<Desk>,
    receiver: &'static Receiver,
    asked: Option<Mode>,
    headers: &HeaderMap,
    body: Bytes,
) -> Response {
    let mode = asked.unwrap_or_else(|| desk.store.mode(receiver));
    match mode {
        Mode::Down => return unanswered(),
        Mode::Fail => {
            return fault(
                StatusCode::INTERNAL_SERVER_ERROR,
                "failing, as the switch says",
            );
        }
        Mode::Ok | Mode::Slow | Mode::Late => {}
    }
    let now = desk.clock.now();
    let key = match receiver.proof {
        Proof::NotAsked => named_key(headers),
        Proof::Signature => proven_key(&desk, receiver, headers, &body, now).await,
    };
    let scoped = key.and_then(|key| Ok((within(receiver, &key)?, key)));
    let (scoped, key) = match scoped {
        Ok(keys) => keys,
        Err((status, why)) => return fault(status, why),
    };
    if delivery::is_test(headers) {
        desk.pauses.before_answer(mode).await;
        return Json(json!({ "status": "test" })).into_response();
    }
    let delivery = Delivery::read(headers, key, body, now);
    let at_desk = Arc::clone(&desk);
    let applying = spawn_blocking(move || at_desk.store.apply(receiver, &scoped, &delivery));
    let applied = match applying.await {
        Ok(applied) => applied,
        Err(error) => return failed(receiver, &error),
    };
    if let Ok(Applied::First(_)) = applied {
        desk.pauses.before_answer(mode).await;
    }
    answer(receiver, applied)
}

/// Why there is no key.
type NoKey = (StatusCode, &'static str);
const NO_KEY: NoKey = (
    StatusCode::BAD_REQUEST,
    "the Idempotency-Key is missing, repeated or too long",
);

fn named_key(headers: &HeaderMap) -> Result<IdempotencyKey, NoKey> {
    delivery::key(headers).and_then(Result::ok).ok_or(NO_KEY)
}

/// The key that the signature covers: another one could be written beside a copy that was signed for somebody else.
async fn proven_key(
    desk: &Arc<Desk>,
    receiver: &'static Receiver,
    headers: &HeaderMap,
    body: &[u8],
    now: Timestamp,
) -> Result<IdempotencyKey, NoKey> {
    let scheme = &standard_webhooks::SCHEME;
    let keys = desk.keys.now().await;
    if let Err((reason, _)) = verify(scheme, &keys, headers, body, now) {
        tracing::debug!(receiver = receiver.name, %reason, "a sample receiver refused a copy");
        let at_desk = Arc::clone(desk);
        drop(spawn_blocking(move || at_desk.store.count_refused(receiver)).await);
        return Err((StatusCode::UNAUTHORIZED, "the signature does not hold"));
    }
    let identity = (scheme.identify)(headers, body).map_err(|_| NO_KEY)?;
    IdempotencyKey::parse(identity.sender_id.as_str()).map_err(|_| NO_KEY)
}

/// The receivers share one file, so each keeps its keys under its own name.
fn within(receiver: &Receiver, key: &IdempotencyKey) -> Result<IdempotencyKey, NoKey> {
    IdempotencyKey::parse(&format!("{}/{key}", receiver.name)).map_err(|_| NO_KEY)
}

fn answer(receiver: &Receiver, applied: Result<Applied, ApplyError<BookFault>>) -> Response {
    match applied {
        Ok(Applied::First(answer) | Applied::Again(answer)) => {
            let status = StatusCode::from_u16(answer.status()).unwrap_or(StatusCode::OK);
            (
                status,
                [(CONTENT_TYPE, "application/json")],
                answer.body().to_vec(),
            )
                .into_response()
        }
        Ok(Applied::InProgress { retry_after }) => {
            let retry_after = retry_after.as_secs().max(1).to_string();
            (
                StatusCode::CONFLICT,
                [(RETRY_AFTER, retry_after)],
                error("this delivery is being applied"),
            )
                .into_response()
        }
        Err(ApplyError::Effect(BookFault::Unreadable(unreadable))) => {
            fault(StatusCode::UNPROCESSABLE_ENTITY, &unreadable.to_string())
        }
        Err(error) => failed(receiver, &error),
    }
}

/// Our own failure: logged here, and the delivery may come again.
fn failed(receiver: &Receiver, error: &dyn std::error::Error) -> Response {
    tracing::error!(
        receiver = receiver.name,
        "a sample receiver failed: {}",
        line(error)
    );
    fault(
        StatusCode::SERVICE_UNAVAILABLE,
        "the book cannot be written now",
    )
}

fn error(why: &str) -> Json<Value> {
    Json(json!({ "error": why }))
}

fn fault(status: StatusCode, why: &str) -> Response {
    (status, error(why)).into_response()
}

/// Sets how a receiver behaves until it is told otherwise; a browser is led back to the page.
async fn switch(
    desk: Arc<Desk>,
    receiver: &'static Receiver,
    mode: Mode,
    headers: &HeaderMap,
) -> Response {
    if !desk.hosts.allow(headers) || !own_site(headers) {
        return fault(
            StatusCode::FORBIDDEN,
            "switches are set from the receivers' own page or a program",
        );
    }
    match spawn_blocking(move || desk.store.set_mode(receiver, mode)).await {
        Ok(Ok(())) if wants_page(headers) => Redirect::to("/").into_response(),
        Ok(Ok(())) => {
            Json(json!({ "receiver": receiver.name, "mode": mode.name() })).into_response()
        }
        Ok(Err(error)) => failed(receiver, &error),
        Err(error) => failed(receiver, &error),
    }
}

fn wants_page(headers: &HeaderMap) -> bool {
    headers
        .get(ACCEPT)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|accept| accept.contains("text/html"))
}

async fn read(desk: Arc<Desk>, headers: &HeaderMap) -> Result<Vec<Book>, Response> {
    if !desk.hosts.allow(headers) {
        return Err(fault(
            StatusCode::FORBIDDEN,
            "the books are read under a name of this machine",
        ));
    }
    let failed = |error: &dyn std::error::Error| {
        tracing::error!(
            "the sample receivers' books cannot be read: {}",
            line(error)
        );
        fault(
            StatusCode::SERVICE_UNAVAILABLE,
            "the books cannot be read now",
        )
    };
    match spawn_blocking(move || desk.store.books()).await {
        Ok(books) => books.map_err(|error| failed(&error)),
        Err(error) => Err(failed(&error)),
    }
}

async fn show_page(State(desk): State<Arc<Desk>>, headers: HeaderMap) -> Response {
    match read(desk, &headers).await {
        Ok(books) => (
            [(CONTENT_TYPE, "text/html; charset=utf-8")],
            page::page(&books),
        )
            .into_response(),
        Err(response) => response,
    }
}

async fn show_books(State(desk): State<Arc<Desk>>, headers: HeaderMap) -> Response {
    match read(desk, &headers).await {
        Ok(books) => Json(Value::Object(books.into_iter().map(as_json).collect())).into_response(),
        Err(response) => response,
    }
}

fn as_json(book: Book) -> (String, Value) {
    let entries: Vec<Value> = book
        .entries
        .into_iter()
        .map(|entry| Value::Object(entry.0))
        .collect();
    let json = json!({
        book.receiver.book: entries,
        "total": book.tally.entries,
        "applied": book.tally.applied,
        "answered_again": book.tally.answered_again,
        "refused": book.tally.refused,
        "mode": book.mode.name(),
    });
    (book.receiver.name.to_owned(), json)
}
