//! Who may reach a route: readers with the token or a cookie; the admin interface with the token, or with a cookie and a
//! header that no page of another site can send.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use http::HeaderMap;
use http::header::{AUTHORIZATION, COOKIE};
use http::request::Parts;
use switchboard_core::ports::Backend;
use switchboard_core::sign_in::SignIn;

use super::answer::Failure;
use super::overview::settings;
use super::{Status, guard, session};

/// Somebody who may read: the admin token in a header, or the cookie of a sign-in.
pub(super) struct Reader;

/// Somebody who may change things: the admin token in a header, which no browser adds by itself, or a cookie and the header
/// [`REQUEST`] beside it. Nothing here answers what a browser asks before it lets another site's page send that header, so
/// it never does.
pub(super) struct Admin;

/// The header by which the page says that a request is its own.
const REQUEST: &str = "switchboard-request";
/// Its value.
const PAGE: &str = "page";

impl<B: Backend> FromRequestParts<Arc<Status<B>>> for Reader {
    type Rejection = Failure;

    async fn from_request_parts(
        parts: &mut Parts,
        status: &Arc<Status<B>>,
    ) -> Result<Self, Failure> {
        if has_token(&parts.headers, status) || signed_in(&parts.headers, status).await? {
            Ok(Self)
        } else {
            Err(Failure::NoCredentials(
                "sign in, or send the admin token: Authorization: Bearer …",
            ))
        }
    }
}

impl<B: Backend> FromRequestParts<Arc<Status<B>>> for Admin {
    type Rejection = Failure;

    async fn from_request_parts(
        parts: &mut Parts,
        status: &Arc<Status<B>>,
    ) -> Result<Self, Failure> {
        if !guard::own_site(&parts.headers) {
            return Err(Failure::OtherSite(guard::OTHER_SITE));
        }
        if has_token(&parts.headers, status) {
            Ok(Self)
        } else if !signed_in(&parts.headers, status).await? {
            Err(Failure::NoCredentials(
                "sign in, or send the admin token: Authorization: Bearer …",
            ))
        } else if is_the_pages(&parts.headers) {
            Ok(Self)
        } else {
            Err(Failure::OtherSite(
                "a sign-in alone changes nothing: send Switchboard-Request: page beside it, or the admin token",
            ))
        }
    }
}

fn is_the_pages(headers: &HeaderMap) -> bool {
    let mut said = headers.get_all(REQUEST).iter();
    said.next().is_some_and(|value| value == PAGE) && said.next().is_none()
}

fn has_token<B>(headers: &HeaderMap, status: &Status<B>) -> bool {
    headers
        .get(AUTHORIZATION)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split_once(' '))
        .is_some_and(|(kind, token)| kind.eq_ignore_ascii_case("bearer") && status.token.is(token))
}

/// Whether the cookie of a sign-in came along that holds. Which ones were ended is known as the rest of what operators have set
/// is, and asked only for a cookie that proves itself.
pub(super) async fn signed_in<B: Backend>(
    headers: &HeaderMap,
    status: &Status<B>,
) -> Result<bool, Failure> {
    let sign_ins = sign_ins(headers, status);
    if sign_ins.is_empty() {
        return Ok(false);
    }
    let ended = &settings(status).await?.ended;
    Ok(sign_ins.iter().any(|sign_in| !ended.has(sign_in)))
}

/// The sign-ins whose cookies came along and are not over, whether they were ended or not.
pub(super) fn sign_ins<B>(headers: &HeaderMap, status: &Status<B>) -> Vec<SignIn> {
    let now = status.clock.now();
    let values = headers.get_all(COOKIE).iter();
    values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .filter(|(name, _)| *name == session::COOKIE)
        .filter_map(|(_, value)| status.token.made(value, now))
        .collect()
}
