//! Holding a destination and releasing it.

use std::collections::BTreeSet;
use std::time::Duration;

use http::Method;
use serde_json::json;
use switchboard_tests::sink::Received;
use switchboard_tests::wait;

use super::setting::Scene;

/// How many deliveries are held before they are released.
const HELD: u64 = 5;
/// How many events that may take: each worker holds at the latest five seconds after it was told.
const MOST: u64 = 500;
/// Longer than it takes the keeper to come around twice.
const KEPT: Duration = Duration::from_mins(3);

/// What is held does not come until its release, and then it comes once.
pub(super) async fn and_release(scene: &Scene<'_>) {
    let held = json!({ "destination": "held" });
    scene
        .operator
        .does(Method::POST, "/admin/hold", Some(held))
        .await;
    let mut sent = 0;
    while sent < MOST && send(scene, sent).await < HELD {
        sent += 1;
    }
    sent += 1;
    let release = json!({ "destination": "held", "per_second": 100 });
    let answer = scene
        .operator
        .does(Method::POST, "/admin/release", Some(release))
        .await;
    let answered = (&answer["released"], &answer["left"]);
    assert_eq!(answered, (&json!(HELD), &json!(0)), "{answer}");
    // A worker that was told of the hold may hold one again: then the keeper releases it in its minute.
    let what = format!("all {sent} deliveries came");
    wait::within(KEPT, &what, async || {
        (came(scene).len() as u64 == sent).then_some(())
    })
    .await;
    scene.operator.wait_total("held", 0).await;
    let keys: BTreeSet<String> = came(scene).iter().map(|one| one.key().to_owned()).collect();
    assert_eq!(keys.len() as u64, sent, "each of them came once");
}

fn came(scene: &Scene<'_>) -> Vec<Received> {
    scene.came_to("/held")
}

/// Sends one more event behind `before` others; how many deliveries are held when that has come or is held too.
async fn send(scene: &Scene<'_>, before: u64) -> u64 {
    let id = format!("held-{before}");
    let sent = scene.sender("shop").send(&id, "held", "{}").await;
    assert_eq!(sent.body["status"], "accepted", "{id}: {}", sent.body);
    scene.count(1, 1);
    wait::until("it came or is held", async || {
        let held = scene.operator.totals().await["held"].as_u64()?;
        (held + came(scene).len() as u64 == before + 1).then_some(held)
    })
    .await
}
