//! Who may change anything: the token, or a sign-in with the header of the page.

use http::{Method, StatusCode};

use crate::admin::{json_type, routes};
use crate::desk::{Desk, Header, ask, bearer};

/// What a request with these headers comes to, on every route; nothing is moved or sent where it is no success.
async fn every_route(desk: &Desk, headers: &[Header], expected: StatusCode) {
    for (method, path, body) in routes() {
        let seen = desk.send(ask(method, path, headers, body)).await;
        assert_eq!(seen.status, expected, "{path} {headers:?}");
        seen.problem();
        let told = seen.header("www-authenticate");
        assert_eq!(told == "Bearer", expected == StatusCode::UNAUTHORIZED);
    }
    assert_eq!(desk.fake.calls(), [], "nothing moved");
    let came = desk.tests.came.lock().expect("came");
    assert!(came.is_empty(), "nothing was sent");
}

/// The header by which the page says that a request is its own.
fn pages() -> Header {
    ("switchboard-request", "page".to_owned())
}

#[tokio::test]
async fn nothing_changes_without_the_token_or_a_sign_in() {
    let desk = Desk::new();
    let forged = ("cookie", "switchboard-session=1.x".to_owned());
    for headers in [
        vec![json_type()],
        vec![json_type(), bearer("another")],
        vec![json_type(), bearer("")],
        vec![json_type(), pages()],
        vec![json_type(), pages(), forged],
        vec![json_type(), pages(), bearer("another")],
    ] {
        every_route(&desk, &headers, StatusCode::UNAUTHORIZED).await;
    }
}

#[tokio::test]
async fn a_sign_in_changes_nothing_without_the_header_of_the_page() {
    let desk = Desk::new();
    let cookie = desk.cookie().await;
    let other = |value: &str| ("switchboard-request", value.to_owned());
    for headers in [
        vec![json_type(), cookie.clone()],
        vec![cookie.clone(), ("content-type", "text/plain".into())],
        vec![json_type(), cookie.clone(), other("")],
        vec![json_type(), cookie.clone(), other("Page")],
        vec![json_type(), cookie.clone(), pages(), pages()],
        vec![json_type(), cookie.clone(), bearer("another")],
    ] {
        every_route(&desk, &headers, StatusCode::FORBIDDEN).await;
    }
    desk.clock.advance(std::time::Duration::from_hours(12));
    let late = [json_type(), cookie, pages()];
    every_route(&desk, &late, StatusCode::UNAUTHORIZED).await;
}

#[tokio::test]
async fn a_sign_in_with_the_header_of_the_page_does_what_the_token_does() {
    let desk = Desk::new();
    let headers = [json_type(), desk.cookie().await, pages()];
    for (method, path, body) in routes() {
        let seen = desk.send(ask(method, path, &headers, body)).await;
        assert_eq!(seen.status, StatusCode::OK, "{path}: {}", seen.text);
    }
}

#[tokio::test]
async fn no_page_of_another_site_is_let_send_the_header() {
    let desk = Desk::new();
    let cookie = desk.cookie().await;
    for (method, path, _) in routes() {
        let asked = [
            ("origin", "https://evil.example".to_owned()),
            ("access-control-request-method", method.to_string()),
            (
                "access-control-request-headers",
                "switchboard-request".to_owned(),
            ),
        ];
        let seen = desk.send(ask(Method::OPTIONS, path, &asked, "")).await;
        assert_eq!(seen.status, StatusCode::METHOD_NOT_ALLOWED, "{path}");
        for name in seen.headers.keys() {
            let name = name.as_str();
            assert!(!name.starts_with("access-control"), "{path} {name}");
        }
    }
    for foreign in [
        ("origin", "https://evil.example".to_owned()),
        ("sec-fetch-site", "same-site".to_owned()),
    ] {
        let headers = [json_type(), cookie.clone(), pages(), foreign];
        every_route(&desk, &headers, StatusCode::FORBIDDEN).await;
    }
}
