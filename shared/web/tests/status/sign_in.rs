//! Signing in and out.

use std::sync::atomic::Ordering;
use std::time::Duration;

use http::{Method, StatusCode};

use crate::desk::{Desk, Header, Seen, TOKEN, ask};

fn form() -> Header {
    (
        "content-type",
        "application/x-www-form-urlencoded".to_owned(),
    )
}

fn is_sign_in_page(seen: &Seen) -> bool {
    seen.text.contains("action=\"/sign-in\"")
}

async fn by_token(desk: &Desk, token: &str, more: &[Header]) -> Seen {
    let headers: Vec<Header> = std::iter::once(form()).chain(more.to_vec()).collect();
    let body = format!("token={token}");
    desk.send(ask(Method::POST, "/sign-in", &headers, &body))
        .await
}

#[tokio::test]
async fn the_front_is_the_page_for_the_signed_in_and_the_sign_in_page_for_others() {
    let desk = Desk::new();
    let seen = desk.send(ask(Method::GET, "/", &[], "")).await;
    assert_eq!(seen.status, StatusCode::OK);
    assert!(is_sign_in_page(&seen));
    let cookie = desk.cookie().await;
    let seen = desk.send(ask(Method::GET, "/", &[cookie], "")).await;
    assert!(!is_sign_in_page(&seen), "the page itself");
}

#[tokio::test]
async fn a_one_time_link_signs_in_once() {
    let desk = Desk::new();
    let link = desk.status.one_time_link();
    let code = link.strip_prefix("/sign-in?code=").expect("a code");
    assert_eq!(code.len(), 43, "256 bits");
    assert_ne!(desk.status.one_time_link(), link, "each its own");
    let looked = desk.send(ask(Method::HEAD, &link, &[], "")).await;
    assert_eq!(
        looked.header("set-cookie"),
        "",
        "looking at it signs nobody in"
    );
    let first = desk.send(ask(Method::GET, &link, &[], "")).await;
    assert_eq!(first.status, StatusCode::OK);
    assert!(!is_sign_in_page(&first), "the page itself");
    let overview = ask(
        Method::GET,
        "/api/overview",
        &[("cookie", first.cookie())],
        "",
    );
    assert_eq!(desk.send(overview).await.status, StatusCode::OK);
    let cookie = [("cookie", first.cookie())];
    let again = desk.send(ask(Method::GET, &link, &cookie, "")).await;
    assert_eq!(again.header("location"), "/", "who is signed in goes on");
    for used in [link.as_str(), "/sign-in?code=", "/sign-in?code=unknown"] {
        let seen = desk.send(ask(Method::GET, used, &[], "")).await;
        assert_eq!(seen.header("set-cookie"), "", "{used}");
        assert!(is_sign_in_page(&seen));
        assert!(seen.text.contains("This link was used already"), "{used}");
    }
}

#[tokio::test]
async fn the_cookie_is_out_of_reach_for_scripts_and_other_sites_and_lasts_twelve_hours() {
    for (before, secure) in [
        ("", ""),
        ("public_url = \"https://hooks.example\"", "; Secure"),
    ] {
        let desk = Desk::with(before, TOKEN);
        let seen = by_token(&desk, TOKEN, &[]).await;
        assert_eq!(seen.status, StatusCode::SEE_OTHER);
        let flags = format!("; HttpOnly; SameSite=Strict; Path=/; Max-Age=43200{secure}");
        let set = seen.header("set-cookie");
        assert!(set.starts_with("switchboard-session="), "{set}");
        assert!(set.ends_with(&flags), "{set}");
        let overview = |cookie| ask(Method::GET, "/api/overview", &[("cookie", cookie)], "");
        desk.clock.advance(Duration::from_secs(12 * 3600 - 1));
        assert_eq!(
            desk.send(overview(seen.cookie())).await.status,
            StatusCode::OK
        );
        desk.clock.advance(Duration::from_secs(1));
        let late = desk.send(overview(seen.cookie())).await;
        assert_eq!(late.status, StatusCode::UNAUTHORIZED);
    }
}

#[tokio::test]
async fn a_restart_keeps_a_sign_in_and_a_new_token_ends_it() {
    let cookie = Desk::new().cookie().await;
    let overview = || {
        ask(
            Method::GET,
            "/api/overview",
            std::slice::from_ref(&cookie),
            "",
        )
    };
    let restarted = Desk::new().send(overview()).await;
    assert_eq!(restarted.status, StatusCode::OK);
    let other = Desk::with("", "another-token").send(overview()).await;
    assert_eq!(other.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_wrong_token_signs_nobody_in_and_ten_a_minute_are_looked_at() {
    let desk = Desk::new();
    for _ in 0..10 {
        let seen = by_token(&desk, "wrong", &[]).await;
        assert_eq!(seen.status, StatusCode::UNAUTHORIZED);
        assert_eq!(seen.header("set-cookie"), "");
        assert!(seen.text.contains("This is not the admin token."));
    }
    let seen = by_token(&desk, TOKEN, &[]).await;
    assert_eq!(seen.status, StatusCode::TOO_MANY_REQUESTS, "not looked at");
    assert_eq!(seen.header("set-cookie"), "");
    assert_ne!(seen.header("retry-after"), "");
    let programs = desk.get("/api/overview").await;
    assert_eq!(
        programs.status,
        StatusCode::OK,
        "programs are not locked out"
    );
    desk.clock.advance(Duration::from_mins(1));
    assert_eq!(
        by_token(&desk, TOKEN, &[]).await.status,
        StatusCode::SEE_OTHER
    );
}

#[tokio::test]
async fn right_tokens_do_not_use_up_what_is_allowed_to_fail() {
    let desk = Desk::new();
    for _ in 0..30 {
        assert_eq!(
            by_token(&desk, TOKEN, &[]).await.status,
            StatusCode::SEE_OTHER
        );
    }
}

#[tokio::test]
async fn forms_of_other_sites_are_not_taken() {
    let desk = Desk::new();
    for foreign in [
        ("origin", "https://evil.example"),
        ("origin", "http://localhost:4000"),
        ("origin", "null"),
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
    ] {
        let foreign = (foreign.0, foreign.1.to_owned());
        let seen = by_token(&desk, TOKEN, std::slice::from_ref(&foreign)).await;
        assert_eq!(seen.status, StatusCode::FORBIDDEN, "{foreign:?}");
        assert_eq!(seen.header("set-cookie"), "", "{foreign:?}");
        let out = ask(
            Method::POST,
            "/sign-out",
            std::slice::from_ref(&foreign),
            "",
        );
        let seen = desk.send(out).await;
        assert_eq!(seen.status, StatusCode::FORBIDDEN, "{foreign:?}");
        assert_eq!(seen.header("set-cookie"), "", "{foreign:?}");
    }
    let own = [
        ("origin", "http://localhost:3000".to_owned()),
        ("sec-fetch-site", "same-origin".to_owned()),
    ];
    assert_eq!(
        by_token(&desk, TOKEN, &own).await.status,
        StatusCode::SEE_OTHER
    );
}

#[tokio::test]
async fn what_is_no_form_signs_nobody_in() {
    let desk = Desk::new();
    let plain = ("content-type", "text/plain".to_owned());
    let body = format!("token={TOKEN}");
    for (headers, body) in [(plain, body.as_str()), (form(), ""), (form(), "other=1")] {
        let request = ask(
            Method::POST,
            "/sign-in",
            std::slice::from_ref(&headers),
            body,
        );
        let seen = desk.send(request).await;
        assert_eq!(seen.status, StatusCode::BAD_REQUEST, "{headers:?} {body}");
        assert_eq!(seen.header("set-cookie"), "");
    }
}

#[tokio::test]
async fn signing_out_takes_the_cookie_away() {
    let desk = Desk::new();
    let cookie = desk.cookie().await;
    let seen = desk
        .send(ask(Method::POST, "/sign-out", &[cookie], ""))
        .await;
    assert_eq!(seen.status, StatusCode::SEE_OTHER);
    assert!(
        seen.header("set-cookie")
            .starts_with("switchboard-session=; ")
    );
    assert!(seen.header("set-cookie").contains("Max-Age=0"));
}

/// What the API answers to a cookie.
async fn answered(desk: &Desk, cookie: &Header) -> StatusCode {
    let asked = ask(Method::GET, "/api/events", std::slice::from_ref(cookie), "");
    desk.send(asked).await.status
}

async fn sign_out(desk: &Desk, cookie: &Header) -> Seen {
    let asked = ask(Method::POST, "/sign-out", std::slice::from_ref(cookie), "");
    desk.send(asked).await
}

#[tokio::test]
async fn a_copy_of_the_cookie_holds_no_more_once_it_signed_out_and_no_other_is_touched() {
    let desk = Desk::new();
    let (mine, others) = (desk.cookie().await, desk.cookie().await);
    assert_ne!(mine, others, "two sign-ins of one second");
    assert_eq!(answered(&desk, &mine).await, StatusCode::OK);
    sign_out(&desk, &mine).await;
    assert_eq!(answered(&desk, &mine).await, StatusCode::UNAUTHORIZED);
    let front = ask(Method::GET, "/", std::slice::from_ref(&mine), "");
    assert!(is_sign_in_page(&desk.send(front).await));
    let headers = [
        mine.clone(),
        ("switchboard-request", "page".to_owned()),
        ("content-type", "application/json".to_owned()),
    ];
    let redrive = ask(Method::POST, "/admin/redrive", &headers, r#"{"all":true}"#);
    assert_eq!(desk.send(redrive).await.status, StatusCode::UNAUTHORIZED);
    assert_eq!(answered(&desk, &others).await, StatusCode::OK);
    sign_out(&desk, &mine).await;
    assert_eq!(answered(&desk, &others).await, StatusCode::OK, "twice");
    let again = desk.cookie().await;
    assert_eq!(answered(&desk, &again).await, StatusCode::OK);
}

#[tokio::test]
async fn another_process_over_the_same_store_knows_who_signed_out() {
    let desk = Desk::new();
    let cookie = desk.cookie().await;
    let other = desk.another();
    assert_eq!(answered(&other, &cookie).await, StatusCode::OK);
    sign_out(&desk, &cookie).await;
    assert_eq!(answered(&other, &cookie).await, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_request_asks_the_store_who_signed_out_only_for_a_cookie_that_proves_itself() {
    let desk = Desk::new();
    let forged = ("cookie", "switchboard-session=9999999999.a.b".to_owned());
    for headers in [vec![], vec![forged]] {
        let seen = desk.send(ask(Method::GET, "/", &headers, "")).await;
        assert!(is_sign_in_page(&seen));
    }
    assert_eq!(desk.fake.asked.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn where_the_store_fails_nobody_is_taken_for_signed_in_and_a_sign_out_is_not_claimed() {
    let desk = Desk::new();
    let cookie = desk.cookie().await;
    desk.fake.works_for.store(0, Ordering::SeqCst);
    let status = answered(&desk, &cookie).await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    let front = ask(Method::GET, "/", std::slice::from_ref(&cookie), "");
    let front = desk.send(front).await;
    assert!(!is_sign_in_page(&front), "the page says what is wrong");
    let seen = sign_out(&desk, &cookie).await;
    assert_eq!(seen.status, StatusCode::SERVICE_UNAVAILABLE);
    let forgotten = seen.header("set-cookie").contains("Max-Age=0");
    assert!(forgotten, "this browser has it no more");
    desk.fake.works_for.store(u32::MAX, Ordering::SeqCst);
    assert_eq!(answered(&desk, &cookie).await, StatusCode::OK, "not ended");
}
