//! Records that were written without knowing that their event lives longer.

use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use switchboard_aws::message::Message;
use switchboard_core::delivery::{AttemptRecord, DeathReason, DeliveryKey, Next, Outcome};
use switchboard_core::identity::EventId;
use switchboard_core::piece::Piece;
use switchboard_core::ports::{Begun, Ledger, Recorded};

use crate::scene::{KEEP, Scene, minutes};

impl Scene {
    /// When an item of an event may be removed, in seconds since 1970.
    async fn end(&self, event: &EventId, sort: &str) -> i64 {
        let text = |text: String| AttributeValue::S(text);
        let read = self.ground.clients.dynamodb.get_item();
        let read = read
            .table_name(&self.ground.place.table)
            .key("pk", text(format!("E#{event}")))
            .key("sk", text(sort.to_owned()));
        let item = read.send().await.expect("an answer").item;
        let item = item.expect("it is there");
        item["ttl"]
            .as_n()
            .expect("a number")
            .parse()
            .expect("seconds")
    }

    /// A worker delivers a first hint, without a read.
    async fn deliver(&self, hint: &Message) {
        let begun = self.backend.begin_message(hint, 1, self.now()).await;
        let Begun::Go(attempt) = begun.expect("begun") else {
            panic!("it is due");
        };
        let outcome = Outcome::Answered {
            status: 200,
            piece: Piece::default(),
        };
        let record = AttemptRecord::new(1, self.now(), Duration::from_millis(7), &outcome);
        let recorded = self
            .backend
            .record(&attempt, &record, Next::Delivered, KEEP);
        assert_eq!(recorded.await.expect("recorded"), Recorded::First);
    }
}

fn sort(key: &DeliveryKey) -> String {
    format!("D#{}", key.id)
}

#[tokio::test]
async fn a_first_delivery_behind_a_death_is_made_to_stay_by_the_far_walk() {
    let scene = Scene::new().await;
    let event = scene.event("1001");
    let planned = scene.accept(&event, &["chat", "crm", "team"]).await;
    let hints = scene.drain_hints().await;
    let [dies, early, late] = planned.as_slice() else {
        panic!("three");
    };
    let hint = |key: &DeliveryKey| hints.iter().find(|hint| hint.key == *key);
    scene.deliver(hint(&early.key).expect("a hint")).await;
    let attempt = scene.go(&dies.key, dies.due).await;
    let dead = Next::Dead(DeathReason::AttemptsUsedUp);
    scene.record(&attempt, dead).await;
    let end = scene.end(&event.id, "A").await;
    assert!(scene.end(&event.id, &sort(&early.key)).await > end);

    // The queue was behind, and the worker reads nothing.
    scene.deliver(hint(&late.key).expect("a hint")).await;
    let alone = scene.end(&event.id, &sort(&late.key)).await;
    assert!(alone < end, "it does not know that its event lives longer");
    let token = scene.attribute(&late.key, "tok").await;
    scene.advance(minutes(61));
    assert!(scene.run().await.is_idle(), "nothing is queued for it");
    let stays = scene.end(&event.id, &sort(&late.key)).await;
    assert!(stays > end, "{stays} is behind {end}");
    assert_eq!(scene.attribute(&late.key, "tok").await, token);
}

#[tokio::test]
async fn a_first_delivery_beside_one_that_is_due_far_ahead_is_made_to_stay_too() {
    let scene = Scene::new().await;
    let event = scene.event("1001");
    let planned = scene.accept(&event, &["chat", "crm"]).await;
    let hints = scene.drain_hints().await;
    let [waits, done] = planned.as_slice() else {
        panic!("two");
    };
    let attempt = scene.go(&waits.key, waits.due).await;
    let due = KEEP.until(scene.now()).plus(Duration::from_hours(24 * 4));
    scene.record(&attempt, Next::Waiting(due)).await;
    let mut own = hints.iter().filter(|hint| hint.key == done.key);
    scene.deliver(own.next().expect("a hint")).await;
    scene.advance(minutes(61));
    scene.run().await;
    let end = scene.end(&event.id, "A").await;
    assert!(end > due.seconds());
    assert!(scene.end(&event.id, &sort(&done.key)).await > end);
}

#[tokio::test]
async fn records_of_an_event_that_lives_as_usual_are_left_alone() {
    let scene = Scene::new().await;
    let event = scene.event("1001");
    let planned = scene.accept(&event, &["chat", "crm"]).await;
    for hint in scene.drain_hints().await {
        scene.deliver(&hint).await;
    }
    let ends = async || {
        let ends = planned
            .iter()
            .map(|queued| async { scene.end(&event.id, &sort(&queued.key)).await });
        futures_util::future::join_all(ends).await
    };
    let before = ends().await;
    let event_end = scene.end(&event.id, "A").await;
    assert!(before.iter().all(|end| *end == event_end + 10 * 24 * 3600));
    scene.advance(minutes(61));
    assert!(scene.run().await.is_idle());
    assert_eq!(ends().await, before);
}
