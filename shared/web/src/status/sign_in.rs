//! Signing in and out: by a one-time link, by the admin token in a form, and what stands at `/`.

use std::sync::{Arc, PoisonError};

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Redirect, Response};
use http::header::{CONTENT_TYPE, RETRY_AFTER, SET_COOKIE};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use switchboard_core::endpoint::Change;
use switchboard_core::ports::Backend;
use url::form_urlencoded;

use super::access::{sign_ins, signed_in};
use super::answer::Failure;
use super::page::{self, Line};
use super::{LONGEST_BODY, Status, guard};

const FORM: &str = "application/x-www-form-urlencoded";

/// `GET /`: the page for the signed-in, else the sign-in page. While nobody knows which sign-ins were ended, the page: it holds
/// nothing of anyone's, and says what is wrong.
pub(super) async fn front<B: Backend>(
    State(status): State<Arc<Status<B>>>,
    headers: HeaderMap,
) -> Response {
    if signed_in(&headers, &status).await.unwrap_or(true) {
        page::index()
    } else {
        page::sign_in(Line::None)
    }
}

/// `GET /sign-in?code=…`: signs in by a one-time link.
pub(super) async fn by_link<B: Backend>(
    State(status): State<Arc<Status<B>>>,
    method: Method,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    let query = query.unwrap_or_default();
    let Some(code) = field(query.as_bytes(), "code") else {
        return page::sign_in(Line::None);
    };
    // A HEAD comes here too, from programs that look at links before people do; it must not use the code up.
    let good = method == Method::GET
        && status
            .codes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take(&code);
    if good {
        tracing::info!("signed in by a one-time link");
        // The page itself rather than a redirect to it: after a click on another site's page, a browser would not
        // send the cookie along with that.
        with_cookie(page::index(), &fresh_cookie(&status))
    } else if signed_in(&headers, &status).await.unwrap_or(false) {
        front_page()
    } else {
        page::sign_in(Line::UsedLink)
    }
}

/// `POST /sign-in`: signs in by the admin token.
pub(super) async fn by_token<B: Backend>(
    State(status): State<Arc<Status<B>>>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Response {
    if !guard::own_site(&headers) {
        return Failure::OtherSite(guard::OTHER_SITE).into_response();
    }
    let body = match body {
        Ok(body) => body,
        Err(rejection) => return not_read(&rejection).into_response(),
    };
    let token = if is_form(&headers) {
        field(&body, "token")
    } else {
        None
    };
    let Some(token) = token else {
        let what = format!("the body must be the field token, as {FORM}");
        return Failure::Unreadable(what).into_response();
    };
    match check(&status, &token) {
        Check::Right => {
            tracing::info!("signed in by the admin token");
            with_cookie(front_page(), &fresh_cookie(&status))
        }
        Check::Wrong => {
            tracing::warn!("a sign-in failed");
            page::sign_in(Line::WrongToken)
        }
        Check::Later(seconds) => {
            let mut response = page::sign_in(Line::Later);
            response
                .headers_mut()
                .insert(RETRY_AFTER, HeaderValue::from(seconds));
            response
        }
    }
}

/// `POST /sign-out`: ends the sign-in, so that no copy of its cookie holds any more, and takes the cookie away. Where the store
/// fails the cookie goes all the same, but not the sign-in, and that is told.
pub(super) async fn out<B: Backend>(
    State(status): State<Arc<Status<B>>>,
    headers: HeaderMap,
) -> Response {
    if !guard::own_site(&headers) {
        return Failure::OtherSite(guard::OTHER_SITE).into_response();
    }
    let ended = end(&headers, &status).await;
    let answer = ended.map_or_else(IntoResponse::into_response, |()| front_page());
    with_cookie(answer, &status.cookies.forget())
}

/// Ends every sign-in whose cookie came along.
async fn end<B: Backend>(headers: &HeaderMap, status: &Status<B>) -> Result<(), Failure> {
    for sign_in in sign_ins(headers, status) {
        let change = Change::SignOut(sign_in, status.clock.now());
        let ended = status.backend.change(change).await;
        ended.map_err(|error| Failure::store("end a sign-in", &error))?;
        tracing::info!("signed out");
    }
    Ok(())
}

/// Why a body was not read to its end.
fn not_read(rejection: &BytesRejection) -> Failure {
    if rejection.status() == StatusCode::PAYLOAD_TOO_LARGE {
        Failure::TooLarge(LONGEST_BODY)
    } else {
        Failure::Unreadable("the body cannot be read".to_owned())
    }
}

enum Check {
    Right,
    Wrong,
    /// Not looked at; in how many seconds it would be.
    Later(u64),
}

fn check<B: Backend>(status: &Status<B>, token: &str) -> Check {
    let ticks = status.clock.ticks();
    let mut failed = status.failed.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(pause) = failed.pause(ticks) {
        return Check::Later(pause.as_secs().saturating_add(1));
    }
    if status.token.is(token) {
        Check::Right
    } else {
        failed.count(ticks);
        Check::Wrong
    }
}

fn fresh_cookie<B: Backend>(status: &Status<B>) -> String {
    let cookie = status.token.cookie(status.clock.now(), &status.random());
    status.cookies.keep(&cookie)
}

/// 303 to the page.
fn front_page() -> Response {
    Redirect::to("/").into_response()
}

/// An answer with a cookie that is kept or forgotten.
fn with_cookie(mut response: Response, cookie: &str) -> Response {
    if let Ok(value) = HeaderValue::from_str(cookie) {
        response.headers_mut().insert(SET_COOKIE, value);
    }
    response
}

fn is_form(headers: &HeaderMap) -> bool {
    headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next())
        .is_some_and(|kind| kind.trim().eq_ignore_ascii_case(FORM))
}

/// The field of that name in a form or a query.
fn field(encoded: &[u8], name: &str) -> Option<String> {
    form_urlencoded::parse(encoded)
        .find(|(other, _)| other == name)
        .map(|(_, value)| value.into_owned())
}
