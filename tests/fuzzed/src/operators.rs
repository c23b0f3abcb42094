//! What operators reach, through the real router: bodies of the admin interface, credentials of every form, and the
//! parameters of the lists.

use std::time::Duration;

use http::header::{AUTHORIZATION, CONTENT_TYPE, COOKIE, HOST, SET_COOKIE};
use http::{HeaderMap, HeaderValue};

use crate::door::{Answer, Door, TOKEN};
use crate::request;

thread_local! {
    static DOOR: Door = Door::of_operators();
}

const ADMIN: [(&[u8], &[u8]); 8] = [
    (b"POST", b"/admin/redrive"),
    (b"POST", b"/admin/hold"),
    (b"POST", b"/admin/release"),
    (b"PUT", b"/admin/endpoint"),
    (b"POST", b"/admin/endpoint/rotate"),
    (b"DELETE", b"/admin/endpoint"),
    (b"POST", b"/admin/replay"),
    (b"POST", b"/admin/test"),
];

const LISTS: [&str; 7] = [
    "/api/events",
    "/api/dead-letters",
    "/api/refusals",
    "/api/declined",
    "/api/events/evt_",
    "/api/overview",
    "/api/dead-letters/groups",
];

/// The first line is a number that says which part of the admin interface is meant, the rest the body. Any body is
/// taken or answered with a shape, never quoted; an endpoint that is set was judged.
pub fn admin(input: &[u8]) {
    if holds_token(input) {
        return;
    }
    let (number, body) = numbered(input);
    let (method, path) = ADMIN[number % ADMIN.len()];
    let mut headers = with_token();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    DOOR.with(|door| {
        door.store.take();
        let Some(answer) = door.ask(method, path, &headers, body) else {
            return;
        };
        whole(&answer, &[200, 400, 404, 409, 413]);
        if let Some(endpoint) = &door.store.take().settings.endpoint {
            crate::address::spelled(endpoint.address.url().as_str().as_bytes());
        }
        let text = String::from_utf8_lossy(&answer.body);
        let quoted = String::from_utf8_lossy(body);
        // A destination's name is told again, and of an address that is set where it leads; of a refused one nothing.
        let is_refused = path == b"/admin/endpoint" && answer.status != 200;
        let has_secret = is_refused && quoted.contains("hidden-in-the-body");
        assert!(
            !has_secret || !text.contains("hidden-in-the-body"),
            "{text}"
        );
    });
}

/// The first line is what is asked for behind `/sign-in`, then headers and a form: none of it is a credential.
pub fn sign_in(input: &[u8]) {
    if holds_token(input) {
        return;
    }
    let told = request::read(input, 1);
    let mut headers = told.headers;
    headers.insert(HOST, HeaderValue::from_static("localhost"));
    DOOR.with(|door| {
        let path = [b"/sign-in", told.first[0]].concat();
        // With a cookie among them, the page's own header would do what the token does.
        headers.insert("switchboard-request", HeaderValue::from_static("page"));
        // Only so many failed sign-ins are looked at in a minute.
        door.clock.advance(Duration::from_mins(1));
        // The one link that is good stays unused: an input cannot know its code.
        assert!(!door.link.is_empty());
        for (method, path, passes) in [
            (&b"GET"[..], &path[..], &[][..]),
            (b"POST", &path, &[303]),
            (b"GET", b"/api/overview", &[200]),
            (b"GET", b"/", &[]),
            (b"DELETE", b"/admin/endpoint", &[200]),
        ] {
            let Some(answer) = door.ask(method, path, &headers, told.body) else {
                continue;
            };
            whole(&answer, &[200, 303, 400, 401, 403, 404, 405, 413]);
            if !could_be_a_form_with_it(told.body) {
                assert!(
                    !passes.contains(&answer.status.as_u16()),
                    "{} {} was answered {}",
                    request::text(method),
                    request::text(path),
                    answer.status
                );
                let cookie = answer.headers.get(SET_COOKIE);
                assert!(cookie.is_none(), "a cookie for nothing: {cookie:?}");
            }
        }
        // Without credentials of any form, a page of another site gets nowhere either.
        headers.remove(AUTHORIZATION);
        headers.remove(COOKIE);
        let answer = door.ask(b"GET", b"/api/events", &headers, b"");
        assert!(answer.is_some_and(|answer| answer.status == 401));
    });
}

/// Percent signs may spell the token in a form.
fn could_be_a_form_with_it(body: &[u8]) -> bool {
    body.contains(&b'%')
}

/// Whether an input holds the token, so that an answer that tells what was asked may hold it too.
fn holds_token(input: &[u8]) -> bool {
    input
        .windows(TOKEN.len())
        .any(|window| window == TOKEN.as_bytes())
}

/// The first line is a number that says which list is meant, the second its query. Any is answered with a page or
/// with what is wrong with it.
pub fn lists(input: &[u8]) {
    if holds_token(input) {
        return;
    }
    let (number, rest) = numbered(input);
    let query = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let list = LISTS[number % LISTS.len()].as_bytes();
    let between: &[u8] = if list.ends_with(b"_") { b"" } else { b"?" };
    let path = [list, between, query].concat();
    DOOR.with(|door| {
        door.store.take();
        let Some(answer) = door.ask(b"GET", &path, &with_token(), b"") else {
            return;
        };
        whole(&answer, &[200, 400, 404]);
        for ask in door.store.take().asked {
            assert!((1..=200).contains(&ask.limit), "a page of {}", ask.limit);
            let length = ask.after.map_or(1, |cursor| cursor.as_str().len());
            assert!((1..=100).contains(&length), "a cursor of {length} bytes");
            assert_eq!(answer.status, 200);
        }
    });
}

/// The number in the first line, and what follows it.
fn numbered(input: &[u8]) -> (usize, &[u8]) {
    let told = request::read(input, 1);
    let number = request::text(told.first[0]).parse().unwrap_or_default();
    (number, &input[(told.first[0].len() + 1).min(input.len())..])
}

fn with_token() -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(HOST, HeaderValue::from_static("localhost"));
    let bearer = HeaderValue::from_str(&format!("Bearer {TOKEN}")).expect("a value");
    headers.insert(AUTHORIZATION, bearer);
    headers
}

/// An answer with one of these statuses, closed to other sites, without the token.
fn whole(answer: &Answer, statuses: &[u16]) {
    let text = String::from_utf8_lossy(&answer.body);
    let status = answer.status.as_u16();
    assert!(statuses.contains(&status), "answered {status}: {text}");
    assert!(answer.headers.contains_key("content-security-policy"));
    assert!(!text.contains(TOKEN), "the token is told: {text}");
    let headers = format!("{:?}", answer.headers);
    assert!(!headers.contains(TOKEN), "the token is told: {headers}");
}
