//! Events: what is asked for reaches the backend, what is asked for wrongly does not; one event, its headers and its body.

use http::{Method, StatusCode};
use serde_json::json;
use switchboard_core::delivery::State;
use switchboard_core::names::{Kind, SourceName};
use switchboard_core::time::Timestamp;
use switchboard_core::views::{Cursor, DeadLetterSearch, EventSearch, PageAsk};

use crate::desk::{BODY, Desk, PROOF, TOKEN, ask, bearer, destination, event_id};
use crate::fake::Call;

fn part(after: Option<&str>, limit: u32) -> PageAsk {
    PageAsk {
        after: after.and_then(Cursor::new),
        limit,
    }
}

#[tokio::test]
async fn what_is_asked_of_the_events_reaches_the_backend() {
    let desk = Desk::new();
    desk.get("/api/events").await;
    desk.get(
        "/api/events?limit=200&source=shop&kind=orders%2Fcreate&sender_id=a%26b&state=dead&destination=crm\
         &from=2025-11-29T19:00:00Z&until=2025-11-29T21:00:00.5%2B01:00",
    )
    .await;
    let search = EventSearch {
        source: SourceName::parse("shop").ok(),
        kind: Kind::new("orders/create"),
        sender_id: Some("a&b".to_owned()),
        state: Some(State::Dead),
        destination: Some(destination("crm")),
        from: Some(Timestamp::from_millis(1_764_442_800_000)),
        until: Some(Timestamp::from_millis(1_764_446_400_500)),
    };
    assert_eq!(
        desk.fake.calls(),
        [
            Call::Events(EventSearch::default(), part(None, 50)),
            Call::Events(search, part(None, 200)),
        ]
    );
}

#[tokio::test]
async fn a_page_says_how_far_it_looked_and_the_next_goes_on_from_its_cursor() {
    let desk = Desk::new();
    let first = desk.get("/api/events").await.json();
    assert_eq!(
        first["looked"],
        json!({ "at": 7, "back_to": "2025-11-29T20:00:00.000Z" })
    );
    let next = first["next"].as_str().expect("there is more");
    let second = desk.get(&format!("/api/events?after={next}")).await.json();
    assert_eq!(second["next"], json!(null));
    assert_eq!(second["looked"]["back_to"], json!(null));
    let last = desk.fake.calls().pop().expect("a call");
    let expected = Call::Events(EventSearch::default(), part(Some("older"), 50));
    assert_eq!(last, expected, "the backend gets its own cursor back");
}

#[tokio::test]
async fn dead_letters_are_asked_for_by_destination_and_come_in_groups() {
    let desk = Desk::new();
    desk.get("/api/dead-letters?destination=crm&limit=7").await;
    let search = DeadLetterSearch {
        destination: Some(destination("crm")),
    };
    assert_eq!(
        desk.fake.calls(),
        [Call::DeadLetters(search, part(None, 7))]
    );
    let groups = desk.get("/api/dead-letters/groups").await.json();
    assert_eq!(
        groups["items"][0],
        json!({
            "destination": "accounting",
            "reason": "attempts used up: last answer 503",
            "count": 1,
            "oldest": "2025-11-29T20:00:00.000Z",
            "newest": "2025-11-29T20:00:00.000Z",
        })
    );
    assert_eq!(groups["looked"]["at"], 1);
}

#[tokio::test]
async fn bad_parameters_are_answered_400_with_the_reason_and_not_quoted() {
    let desk = Desk::new();
    let first = desk.get("/api/events").await.json();
    let next = first["next"].as_str().expect("there is more").to_owned();
    let before = desk.fake.calls();
    let broken = next.get(1..).expect("a part");
    let long = "x".repeat(1025);
    for (path, query) in [
        ("events", "limit=0"),
        ("events", "limit=201"),
        ("events", "limit=-1"),
        ("events", "limit=%2B5"),
        ("events", "limit=ten"),
        ("events", "limit="),
        ("events", "limit=1&limit=2"),
        ("events", "after="),
        ("events", "after=QUOTED"),
        ("events", &format!("after={broken}")),
        ("events", "unknown=1"),
        ("events", "source=NOT%20A%20NAME"),
        ("events", "state=QUOTED"),
        ("events", "state="),
        ("events", "destination=NOT%20A%20NAME"),
        ("events", "sender_id="),
        ("events", &format!("sender_id={long}")),
        ("events", &format!("kind={long}")),
        ("events", "from=QUOTED"),
        ("events", "from=2025-11-29"),
        ("events", "until=1764446400"),
        ("events", "until=2025-02-30T00:00:00Z"),
        ("dead-letters", &format!("after={next}")),
        ("dead-letters", "destination=A"),
        ("dead-letters", "source=shop"),
        ("refusals", &format!("after={next}")),
        ("declined", &format!("after={next}")),
        ("declined", "limit=0"),
        ("overview", "x=1"),
        ("overview", "x"),
        ("routes", "x=1"),
        ("openapi.json", "x=1"),
        ("dead-letters/groups", "limit=1"),
        ("events/evt_aaaaaaaaaaaaaaaaaaaaaaaaaa", "x=1"),
        ("events/evt_aaaaaaaaaaaaaaaaaaaaaaaaaa/body", "x=1"),
    ] {
        let seen = desk.get(&format!("/api/{path}?{query}")).await;
        assert_eq!(seen.status, StatusCode::BAD_REQUEST, "{path} {query}");
        seen.problem();
        assert!(!seen.text.contains("QUOTED"), "{}", seen.text);
    }
    assert_eq!(desk.fake.calls(), before, "nothing was read");
}

#[tokio::test]
async fn an_unknown_event_is_not_found() {
    let desk = Desk::new();
    for id in [
        "evt_aaaaaaaaaaaaaaaaaaaaaaaaaa",
        "evt_",
        "x",
        "%00",
        "%ff%fe",
    ] {
        for path in [
            format!("/api/events/{id}"),
            format!("/api/events/{id}/body"),
        ] {
            let seen = desk.get(&path).await;
            assert_eq!(seen.status, StatusCode::NOT_FOUND, "{path}");
            assert_eq!(seen.problem(), "there is no such event");
        }
    }
}

#[tokio::test]
async fn an_event_shows_its_headers_but_no_proof_and_its_body_is_read_once_for_them() {
    let desk = Desk::new();
    let path = format!("/api/events/{}", event_id());
    for _ in 0..3 {
        let seen = desk.get(&path).await;
        assert!(!seen.text.contains(PROOF));
        let seen = seen.json();
        assert_eq!(
            seen["headers"],
            json!([
                ["content-type", "application/json"],
                ["x-shopify-topic", "orders/create"],
                ["x-shopify-hmac-sha256", null],
            ])
        );
        assert_eq!(seen["content_type"], "application/json");
        assert_eq!(seen["delivery_list"][0]["log"][0]["status"], 503);
    }
    let stored = desk.fake.calls();
    let stored = stored.iter().filter(|call| **call == Call::Stored).count();
    assert_eq!(stored, 1, "an event that is looked at again and again");
}

#[tokio::test]
async fn a_body_comes_byte_for_byte_and_is_never_shown_by_the_browser() {
    let desk = Desk::new();
    let cookie = desk.cookie().await;
    let path = format!("/api/events/{}/body", event_id());
    for headers in [bearer(TOKEN), cookie] {
        let seen = desk.send(ask(Method::GET, &path, &[headers], "")).await;
        assert_eq!(seen.status, StatusCode::OK);
        assert_eq!(seen.bytes, BODY, "as it came");
        for (name, value) in [
            ("content-type", "application/octet-stream"),
            (
                "content-disposition",
                &format!("attachment; filename=\"{}.bin\"", event_id()),
            ),
            ("x-content-type-options", "nosniff"),
            ("cache-control", "no-store"),
        ] {
            assert_eq!(seen.header(name), value, "{name}");
        }
    }
}
