//! Many events at once.

use std::collections::BTreeSet;
use std::time::Duration;

use futures_util::stream::{self, StreamExt};
use serde_json::json;
use switchboard_tests::receivers::books;
use switchboard_tests::wait;

use super::setting::Scene;

/// How many, each to three receivers.
const EVENTS: u64 = 300;
/// How many are under way at a time: each is a process of its own while it is answered, on this one machine.
const AT_ONCE: usize = 24;
/// Enough for the emulator, which takes a tenth of a second for each call.
const DEADLINE: Duration = Duration::from_mins(4);

/// Orders, in parallel; each is booked once by every receiver it goes to.
pub(super) async fn at_once(scene: &Scene<'_>) {
    let before = books(&scene.receivers.url).await;
    let sending = stream::iter(0..EVENTS).map(|number| async move {
        let order =
            json!({ "id": 5000 + number, "name": format!("#{}", 5000 + number), "line_items": [] });
        let id = format!("many-{number}");
        let sent = scene
            .sender("shop")
            .send(&id, "orders/create", order.to_string())
            .await;
        assert_eq!(sent.body["status"], "accepted", "{id}: {}", sent.body);
        sent.event()
    });
    let events: BTreeSet<String> = sending.buffer_unordered(AT_ONCE).collect().await;
    assert_eq!(
        events.len() as u64,
        EVENTS,
        "each event has an id of its own"
    );
    scene.count(EVENTS, 3);
    for receiver in ["accounting", "warehouse", "chat"] {
        let due = before[receiver]["applied"].as_u64().expect("a number") + EVENTS;
        let what = format!("{receiver} has applied {due}");
        let applied = async || books(&scene.receivers.url).await[receiver]["applied"].clone();
        wait::within(DEADLINE, &what, async || {
            (applied().await == due).then_some(())
        })
        .await;
    }
}
