//! A message in the queue of deliveries that is none of ours.

use switchboard_tests::wait;

use super::setting::Scene;

const QUEUE: &str = "Deliveries";

/// Puts it there: all that is told behind it comes to its end beside it.
pub(super) async fn put(scene: &Scene<'_>) {
    scene.deployed.put(QUEUE, "{\"not\":\"ours\"}").await;
}

/// It alone is in the queue still, given back for a newer worker: five receipts are a minute apart.
pub(super) async fn waits(scene: &Scene<'_>) {
    wait::until("nothing else is in the queue", async || {
        (scene.deployed.depth(QUEUE).await == 1).then_some(())
    })
    .await;
}
