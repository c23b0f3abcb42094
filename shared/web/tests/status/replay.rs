//! Replay through the admin interface.

use std::sync::atomic::Ordering;

use http::{Method, StatusCode};
use serde_json::{Value, json};
use switchboard_core::identity::Run;
use switchboard_core::names::SourceName;
use switchboard_core::ports::Queued;
use switchboard_core::time::Timestamp;
use switchboard_core::views::EventSearch;

use crate::desk::{Desk, NOW, Seen, event_id};
use crate::fake::{Call, Fake, Shown};

const FROM: &str = "2025-11-29T00:00:00Z";

/// A desk whose one event has a kind that a route names.
fn desk() -> Desk {
    Desk::showing(|shown: &mut Shown| {
        for row in &mut shown.events {
            row.kind = switchboard_core::names::Kind::new("orders/create").expect("kind");
        }
    })
}

async fn replay(desk: &Desk, body: &Value) -> Seen {
    desk.admin(Method::POST, "/admin/replay", &body.to_string())
        .await
}

/// The same for real, once it has begun.
async fn begun(desk: &Desk, body: &Value) -> Value {
    let seen = replay(desk, body).await;
    assert_eq!(seen.status, StatusCode::OK, "{}", seen.text);
    let begun = seen.json();
    assert_eq!(
        (&begun["events"], &begun["deliveries"]),
        (&json!(0), &json!(0))
    );
    let mut body = body.clone();
    body["progress"] = begun["progress"].clone();
    body
}

/// The runs that were stored.
fn stored(fake: &Fake) -> Vec<(Run, Vec<Queued>)> {
    let calls = fake.changes().into_iter();
    calls
        .map(|call| match call {
            Call::Replay(event, run, plan) => {
                assert_eq!(event, event_id());
                (run, plan)
            }
            other => panic!("a replay changes nothing else: {other:?}"),
        })
        .collect()
}

#[tokio::test]
async fn a_dry_run_counts_and_changes_nothing() {
    let desk = desk();
    let seen = replay(&desk, &json!({ "from": FROM, "dry_run": true })).await;
    assert_eq!(seen.status, StatusCode::OK, "{}", seen.text);
    let seen = seen.json();
    assert_eq!(
        (&seen["events"], &seen["deliveries"]),
        (&json!(1), &json!(2))
    );
    assert_eq!(seen["looked"]["at"], 7);
    assert_eq!(seen["run"], NOW.seconds());
    assert_eq!(stored(&desk.fake), []);
}

#[tokio::test]
async fn a_replay_goes_on_from_its_progress_until_nothing_is_left() {
    let desk = desk();
    let mut wish = json!({
        "source": "shop", "from": FROM, "until": "2025-11-30T00:00:00Z", "to": "crm", "per_second": 5,
    });
    let begun = begun(&desk, &wish).await;
    assert_eq!(
        stored(&desk.fake),
        [],
        "nothing is planned before its caller has it"
    );
    let first = replay(&desk, &begun).await.json();
    assert_eq!(
        (&first["events"], &first["deliveries"]),
        (&json!(1), &json!(1))
    );
    // Where its search ends; elsewhere when it began.
    assert_eq!(first["until"], "2025-11-29T20:00:00.001Z");
    let runs = stored(&desk.fake);
    assert_eq!(runs.len(), 1);
    let (run, plan) = runs.first().expect("a run");
    assert_eq!(json!(run.0), first["run"]);
    assert_eq!(plan.len(), 1, "only what goes to that destination");
    let progress = first["progress"].as_str().expect("there is more");
    wish["progress"] = json!(progress);
    let second = replay(&desk, &wish).await.json();
    assert_eq!(second["progress"], json!(null));
    assert_eq!(second["run"], first["run"], "one run");
    let asked = desk.fake.calls().into_iter().filter_map(|call| match call {
        Call::Events(search, ask) => Some((search, ask.after)),
        _ => None,
    });
    let asked: Vec<_> = asked.collect();
    let search = EventSearch {
        source: SourceName::parse("shop").ok(),
        from: Timestamp::parse(FROM),
        // Nothing that comes after it began.
        until: Some(NOW.plus(std::time::Duration::from_millis(1))),
        ..EventSearch::default()
    };
    assert_eq!(asked.len(), 2);
    for (n, (of, after)) in asked.iter().enumerate() {
        assert_eq!(*of, search);
        assert_eq!(after.as_ref().map(|_| 1), (n == 1).then_some(1));
    }
}

#[tokio::test]
async fn what_is_no_wish_or_goes_on_from_another_replay_changes_nothing() {
    let desk = desk();
    let dry = json!({ "from": FROM, "dry_run": true });
    let progress = replay(&desk, &dry).await.json()["progress"].clone();
    assert!(progress.is_string());
    for (body, why) in [
        (json!({}), "from is needed"),
        (json!({ "source": "shop" }), "from is needed"),
        (json!({ "from": null, "to": "crm" }), "from is needed"),
        (json!({ "from": "QUOTED" }), "from must be like"),
        (json!({ "from": 5 }), "the body must be"),
        (
            json!({ "from": FROM, "until": "QUOTED" }),
            "until must be like",
        ),
        (json!({ "from": FROM, "state": "QUOTED" }), "state must be"),
        (json!({ "from": FROM, "source": "No Name" }), "source: "),
        (json!({ "from": FROM, "to": "No Name" }), "destination: "),
        (json!({ "from": FROM, "per_second": 0 }), "the body must be"),
        (
            json!({ "from": FROM, "per_second": 1001 }),
            "the body must be",
        ),
        (
            json!({ "from": FROM, "dry_run": "yes" }),
            "the body must be",
        ),
        (json!({ "from": FROM, "QUOTED": 1 }), "the body must be"),
        (json!({ "sender_id": "" }), "sender_id must"),
        (
            json!({ "from": FROM, "progress": "QUOTED" }),
            "progress is not",
        ),
        (
            json!({ "from": FROM, "progress": "1.0.x" }),
            "progress is not",
        ),
        // For real behind a dry run, and with another search.
        (
            json!({ "from": FROM, "progress": progress }),
            "progress is not",
        ),
        (
            json!({ "from": FROM, "to": "crm", "dry_run": true, "progress": progress }),
            "progress is not",
        ),
    ] {
        let seen = replay(&desk, &body).await;
        assert_eq!(seen.status, StatusCode::BAD_REQUEST, "{body}");
        let told = seen.problem();
        assert!(told.starts_with(why), "{body}: {told}");
        assert!(!seen.text.contains("QUOTED"), "{}", seen.text);
    }
    let yours = json!({ "from": FROM, "to": "your-endpoint" });
    let unset = replay(&desk, &yours).await;
    assert_eq!(unset.status, StatusCode::CONFLICT);
    assert_eq!(unset.problem(), "your endpoint is not set");
    let unknown = replay(&desk, &json!({ "from": FROM, "to": "crn" })).await;
    assert_eq!(unknown.status, StatusCode::NOT_FOUND);
    assert_eq!(stored(&desk.fake), []);
}

#[tokio::test]
async fn one_event_is_replayed_by_its_senders_id_alone() {
    let desk = desk();
    let begun = begun(&desk, &json!({ "sender_id": "5001" })).await;
    let seen = replay(&desk, &begun).await;
    assert_eq!(seen.status, StatusCode::OK);
    assert_eq!(stored(&desk.fake).len(), 1);
}

#[tokio::test]
async fn a_replay_cut_by_the_store_goes_on_with_the_same_run() {
    let desk = desk();
    let begun = begun(&desk, &json!({ "from": FROM })).await;
    // The events and the settings are read, the run is not stored.
    desk.fake.works_for.store(2, Ordering::SeqCst);
    let seen = replay(&desk, &begun).await;
    assert_eq!(seen.status, StatusCode::SERVICE_UNAVAILABLE);
    let told = seen.json();
    assert_eq!(told["moved"], 0);
    assert_eq!(stored(&desk.fake).len(), 1, "it was asked for");
    desk.fake.works_for.store(u32::MAX, Ordering::SeqCst);
    desk.clock.advance(std::time::Duration::from_secs(5));
    let again = replay(&desk, &begun).await;
    assert_eq!(again.status, StatusCode::OK, "{}", again.text);
    let runs: Vec<Run> = stored(&desk.fake).iter().map(|(run, _)| *run).collect();
    assert_eq!(runs.len(), 2);
    assert_eq!(runs.first(), runs.get(1), "the same run: planned once");
}

#[tokio::test]
async fn a_call_whose_answer_was_lost_is_made_again_and_plans_the_same() {
    let desk = desk();
    let begun = begun(&desk, &json!({ "from": FROM })).await;
    for _ in 0..2 {
        let seen = replay(&desk, &begun).await;
        assert_eq!(seen.status, StatusCode::OK, "{}", seen.text);
        desk.clock.advance(std::time::Duration::from_secs(5));
    }
    let runs: Vec<Run> = stored(&desk.fake).iter().map(|(run, _)| *run).collect();
    assert_eq!(runs.len(), 2);
    assert_eq!(runs.first(), runs.get(1));
}
