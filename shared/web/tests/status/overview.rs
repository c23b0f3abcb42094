//! The overview: what it tells, and how seldom it is computed.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use http::{Method, StatusCode};
use serde_json::json;
use switchboard_core::endpoint::Change;
use switchboard_core::ports::SettingsStore;

use crate::desk::{Desk, NOW, Seen, TOKEN, ask, bearer, destination};
use crate::fake::Call;

const PATH: &str = "/api/overview";

/// How often the totals were read.
fn computed(desk: &Desk) -> usize {
    let calls = desk.fake.calls();
    calls.iter().filter(|call| **call == Call::Overview).count()
}

async fn with_tag(desk: &Desk, tag: &str) -> Seen {
    let headers = [bearer(TOKEN), ("if-none-match", tag.to_owned())];
    desk.send(ask(Method::GET, PATH, &headers, "")).await
}

#[tokio::test]
async fn the_overview_has_the_totals_and_what_operators_set() {
    let desk = Desk::new();
    desk.fake
        .change(Change::Hold(destination("crm")))
        .await
        .expect("held");
    let seen = desk.get(PATH).await.json();
    assert_eq!(seen["totals"]["received"], 4);
    assert_eq!(seen["totals"]["dead"], 1);
    assert_eq!(seen["sources"]["shop"]["refused"], 7);
    assert_eq!(
        seen["sources"]["forms"]["stored"], 0,
        "configured, nothing came yet"
    );
    assert_eq!(seen["destinations"]["accounting"]["dead"], 1);
    assert_eq!(seen["declined"][0]["count"], 2);
    assert_eq!(
        seen["your_endpoint"],
        json!({ "set": false, "address": null })
    );
    assert_eq!(seen["held"], json!(["crm"]));
    assert_eq!(seen["at"], "2025-11-29T20:00:00.000Z");
    assert_eq!(seen["version"], env!("CARGO_PKG_VERSION"));
}

#[tokio::test]
async fn the_overview_has_the_last_hour() {
    let desk = Desk::new();
    let seen = desk.get(PATH).await.json();
    assert!(desk.fake.calls().contains(&Call::Recent(NOW)));
    let recent = &seen["recent"];
    assert_eq!(recent["since"], "2025-11-29T19:01:00.000Z");
    assert_eq!(recent["minutes"].as_array().map(Vec::len), Some(60));
    assert_eq!(
        recent["minutes"][59],
        json!({ "events": 0, "deliveries": 0, "failures": 6 })
    );
    assert_eq!(
        recent["destinations"]["accounting"],
        json!({
            "delivered": 0,
            "failed": 6,
            "p50_ms": { "ms": 20, "or_more": false },
            "p95_ms": { "ms": 10_000, "or_more": true },
            "last_delivered": null,
            "last_failure": { "at": "2025-11-29T20:00:00.000Z", "why": "answer 503" },
            "in_flight": 0,
            "oldest_due": "2025-11-29T20:00:00.000Z",
        })
    );
    assert_eq!(
        recent["destinations"]["crm"]["last_failure"],
        json!(null),
        "configured, nothing went there yet"
    );
    assert_eq!(
        recent["sources"],
        json!({
            "forms": { "last_event": null, "last_refusal": null },
            "shop": { "last_event": "2025-11-29T20:00:00.000Z", "last_refusal": null },
        })
    );
    assert_eq!(
        recent["queue"],
        json!({ "visible": 0, "in_flight": 0, "delayed": 0 })
    );
}

#[tokio::test]
async fn however_many_look_it_is_computed_once_a_second() {
    let desk = Arc::new(Desk::new());
    let (_, cookie) = desk.cookie().await;
    let look = |n: u32| {
        let (desk, cookie) = (Arc::clone(&desk), cookie.clone());
        tokio::spawn(async move {
            let headers = match n % 2 {
                0 => bearer(TOKEN),
                _ => ("cookie", cookie),
            };
            let request = ask(Method::GET, PATH, &[headers], "");
            desk.send(request).await.text
        })
    };
    for second in 1..=3 {
        let looking: Vec<_> = (0..50).map(look).collect();
        let mut told = Vec::new();
        for one in looking {
            told.push(one.await.expect("looked"));
        }
        told.dedup();
        assert_eq!(told.len(), 1, "all see the same");
        assert_eq!(computed(&desk), second);
        desk.clock.advance(Duration::from_millis(999));
        desk.get(PATH).await;
        assert_eq!(computed(&desk), second, "shared for a second");
        desk.clock.advance(Duration::from_millis(1));
    }
}

#[tokio::test]
async fn what_is_seen_already_is_not_sent_again_until_it_changes() {
    let desk = Desk::new();
    let first = desk.get(PATH).await;
    let tag = first.header("etag").to_owned();
    desk.clock.advance(Duration::from_secs(5));
    for known in [tag.as_str(), &format!("\"x\", {tag}"), "*"] {
        let again = with_tag(&desk, known).await;
        assert_eq!(again.status, StatusCode::NOT_MODIFIED, "{known}");
        assert_eq!(again.text, "");
        assert_eq!(
            again.header("etag"),
            tag,
            "the moment alone changes nothing"
        );
        assert_eq!(again.header("cache-control"), "no-store");
    }
    let later = with_tag(&desk, "\"x\"").await;
    assert_eq!(later.status, StatusCode::OK);
    assert_eq!(later.json()["at"], "2025-11-29T20:00:05.000Z");
    desk.fake
        .change(Change::Hold(destination("crm")))
        .await
        .expect("held");
    desk.clock.advance(Duration::from_secs(1));
    let changed = with_tag(&desk, &tag).await;
    assert_eq!(changed.status, StatusCode::OK);
    assert_ne!(changed.header("etag"), tag);
}

#[tokio::test]
async fn a_tag_opens_nothing_to_a_stranger() {
    let desk = Desk::new();
    let tag = desk.get(PATH).await.header("etag").to_owned();
    let seen = desk
        .send(ask(Method::GET, PATH, &[("if-none-match", tag)], ""))
        .await;
    assert_eq!(seen.status, StatusCode::UNAUTHORIZED);
    assert_eq!(seen.header("etag"), "");
}

#[tokio::test]
async fn what_an_operator_changed_is_seen_at_once() {
    let desk = Desk::new();
    desk.get(PATH).await;
    let crm = r#"{"destination":"crm"}"#;
    let wrong = desk.admin(Method::POST, "/admin/hold", "{}").await;
    assert_eq!(wrong.status, StatusCode::BAD_REQUEST);
    desk.get(PATH).await;
    assert_eq!(computed(&desk), 1, "nothing changed");
    desk.admin(Method::POST, "/admin/hold", crm).await;
    assert_eq!(desk.get(PATH).await.json()["held"], json!(["crm"]));
    assert_eq!(computed(&desk), 2);
}

#[tokio::test]
async fn a_failure_is_told_as_one_and_asked_for_once_a_second_too() {
    let desk = Desk::new();
    assert_eq!(desk.get(PATH).await.status, StatusCode::OK);
    desk.fake.works_for.store(0, Ordering::SeqCst);
    desk.clock.advance(Duration::from_secs(1));
    desk.get(PATH).await;
    let asked = desk.fake.asked.load(Ordering::SeqCst);
    for _ in 0..10 {
        let seen = desk.get(PATH).await;
        assert_eq!(seen.status, StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(seen.header("etag"), "");
        seen.problem();
    }
    assert_eq!(desk.fake.asked.load(Ordering::SeqCst), asked);
    desk.fake.works_for.store(u32::MAX, Ordering::SeqCst);
    desk.clock.advance(Duration::from_secs(1));
    assert_eq!(desk.get(PATH).await.status, StatusCode::OK);
}
