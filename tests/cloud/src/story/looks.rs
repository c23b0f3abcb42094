//! What an operator sees of the last hour, and finds again. The story takes less than an hour.

use serde_json::json;

use super::setting::{Due, Scene};

/// The minutes hold all of the story, and each destination and source what happened to it.
pub(super) async fn at_the_last_hour(scene: &Scene<'_>) {
    let Due { stored, delivered } = scene.due();
    let recent = scene.operator.get("/api/overview").await["recent"].take();
    let minutes = recent["minutes"].as_array().expect("minutes");
    assert_eq!(minutes.len(), 60);
    let sum = |what: &str| -> u64 { minutes.iter().filter_map(|m| m[what].as_u64()).sum() };
    assert_eq!((sum("events"), sum("deliveries")), (stored, delivered));
    assert!(sum("failures") >= 12 + 6, "those of both that failed");
    let brisk = &recent["destinations"]["brisk"];
    let counts = (&brisk["delivered"], &brisk["failed"]);
    assert_eq!(counts, (&json!(2), &json!(12)), "{brisk}");
    assert_eq!(brisk["last_failure"]["why"], "answer 503", "{brisk}");
    assert!(brisk["p50_ms"]["ms"].is_u64(), "{brisk}");
    let shop = &recent["sources"]["shop"];
    for last in ["last_event", "last_refusal"] {
        assert!(shop[last].is_string(), "{last}: {shop}");
    }
    for part in ["visible", "in_flight", "delayed"] {
        let queue = &recent["queue"];
        assert!(queue[part].is_u64(), "the queue tells {part}: {queue}");
    }
}

/// One event among hundreds is found by what became of it, and is there whole.
pub(super) async fn at_one_event(scene: &Scene<'_>) {
    let search = "/api/events?source=shop&kind=brisk&state=delivered&destination=brisk";
    let found = scene.operator.get(search).await;
    let items = found["items"].as_array().expect("a list");
    let [event] = items.as_slice() else {
        panic!("one event of that kind: {found}");
    };
    assert_eq!(event["sender_id"], "brisk-1", "{event}");
    assert_eq!(event["deliveries"]["delivered"], 2, "{event}");
    let id = event["event"].as_str().expect("an id");
    let body = scene.operator.get(&format!("/api/events/{id}/body")).await;
    assert_eq!(body, json!({}), "the bytes that came");
}
