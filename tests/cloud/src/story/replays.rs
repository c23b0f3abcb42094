//! A stored event delivered again on purpose.

use http::Method;
use serde_json::{Value, json};
use switchboard_tests::sink::Received;
use switchboard_tests::wait;

use super::setting::Scene;

async fn replay(scene: &Scene<'_>, dry_run: bool, progress: &Value) -> Value {
    let body = json!({
        "source": "shop", "sender_id": "brisk-1", "to": "brisk", "dry_run": dry_run, "progress": progress,
    });
    let replayed = scene
        .operator
        .does(Method::POST, "/admin/replay", Some(body));
    replayed.await
}

/// A dry run counts it; the replay comes once, as a first attempt under a key of its own.
pub(super) async fn once_more(scene: &Scene<'_>) {
    let before = scene.came_to("/brisk");
    let begun = replay(scene, false, &Value::Null).await;
    assert_eq!(begun["deliveries"], 0, "{begun}");
    for (dry_run, progress) in [(true, &Value::Null), (false, &begun["progress"])] {
        let answer = replay(scene, dry_run, progress).await;
        let told = [
            &answer["events"],
            &answer["deliveries"],
            &answer["progress"],
        ];
        assert_eq!(told, [&json!(1), &json!(1), &Value::Null], "{answer}");
    }
    scene.count_deliveries(1);
    let due = before.len() + 1;
    let again = wait::until("it came again", async || {
        let came = scene.came_to("/brisk");
        (came.len() == due).then(|| came.into_iter().next_back())?
    })
    .await;
    assert_eq!(again.header("switchboard-attempt"), "1");
    let keys: Vec<&str> = before.iter().map(Received::key).collect();
    assert!(!keys.contains(&again.key()), "{} is a new key", again.key());
}
