//! Holding a destination and releasing it.

use std::sync::atomic::{AtomicU64, Ordering};

use http::Method;
use serde_json::json;
use switchboard_tests::wait;

use super::setting::Scene;

/// How many more are sent when the first is held.
const MORE: u64 = 5;

/// Nothing comes while it is held, everything after its release.
pub(super) async fn and_release(scene: &Scene<'_>) {
    let held = json!({ "destination": "held" });
    scene
        .operator
        .does(Method::POST, "/admin/hold", Some(held))
        .await;
    let before = known(scene).await;
    for number in 0..MORE {
        send(scene, &format!("held-{number}")).await;
    }
    scene.operator.wait_total("held", MORE + 1).await;
    let came = scene.came_to("/held").len() as u64;
    assert_eq!(came, before, "nothing comes while it is held");
    let release = json!({ "destination": "held", "per_second": 100 });
    let answer = scene
        .operator
        .does(Method::POST, "/admin/release", Some(release))
        .await;
    let answered = (&answer["released"], &answer["left"]);
    assert_eq!(answered, (&json!(MORE + 1), &json!(0)), "{answer}");
    wait::until("all of them came", async || {
        (scene.came_to("/held").len() as u64 == before + MORE + 1).then_some(())
    })
    .await;
    scene.operator.wait_total("held", 0).await;
}

async fn send(scene: &Scene<'_>, id: &str) {
    let sent = scene.sender("shop").send(id, "held", "{}").await;
    assert_eq!(sent.body["status"], "accepted", "{id}: {}", sent.body);
    scene.count(1, 1);
}

/// Sends events until one is held, and gives how many came until then: a worker may have read the settings just before they
/// changed.
async fn known(scene: &Scene<'_>) -> u64 {
    let sent = AtomicU64::new(0);
    wait::until("a delivery is held", async || {
        let before = sent.fetch_add(1, Ordering::Relaxed);
        send(scene, &format!("before-{before}")).await;
        let is_held = wait::until("it came or is held", async || {
            let held = scene.operator.totals().await["held"].as_u64()?;
            let came = scene.came_to("/held").len() as u64;
            (held + came == before + 1).then_some(held > 0)
        })
        .await;
        is_held.then_some(before)
    })
    .await
}
