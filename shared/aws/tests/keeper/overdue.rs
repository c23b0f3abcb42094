//! Waiting deliveries that are overdue, or far from due.

use std::time::Duration;

use switchboard_aws::keeper::Budget;
use switchboard_core::delivery::{DeliveryKey, Next};
use switchboard_core::time::Timestamp;

use crate::scene::{Scene, minutes};
use crate::support::START;

/// A delivery that waits for `due` after a failure, its hint lost.
async fn lost(scene: &Scene, id: &str, due: Timestamp) -> DeliveryKey {
    let planned = scene.accept(&scene.event(id), &["chat"]).await;
    let key = planned[0].key.clone();
    let attempt = scene.go(&key, planned[0].due).await;
    scene.record_cut(&attempt, due).await;
    scene.drain_hints().await;
    key
}

#[tokio::test]
async fn a_hint_that_was_lost_is_queued_again_after_two_minutes_then_after_twice_as_long_each_time()
{
    let scene = Scene::new().await;
    let due = START.plus(Duration::from_secs(2));
    let key = lost(&scene, "1001", due).await;
    scene.advance(minutes(2) + Duration::from_millis(1_999));
    assert_eq!(scene.run().await.overdue, 0, "its hint may be on its way");
    scene.advance(Duration::from_millis(1));
    for pause in [10, 20, 40] {
        assert_eq!(scene.run().await.overdue, 1);
        assert_eq!(scene.dues(&key).await, [due], "the due time is unchanged");
        assert_eq!(scene.run().await.overdue, 0, "no second one");
        scene.advance(Duration::from_millis(pause * 60_000 - 1));
        assert_eq!(scene.run().await.overdue, 0, "not before {pause} minutes");
        scene.advance(Duration::from_millis(1));
    }
    // The next record sets it back.
    let attempt = scene.go(&key, due).await;
    let next = scene.now().plus(Duration::from_secs(4));
    scene.record_cut(&attempt, next).await;
    assert_eq!(scene.moment(&key, "lk").await, Some(next.plus(minutes(2))));
    assert_eq!(scene.attribute(&key, "bk").await, None);
}

#[tokio::test]
async fn a_long_pause_ends_with_one_hint() {
    let scene = Scene::new().await;
    let due = START.plus(minutes(60));
    let planned = scene.accept(&scene.event("1001"), &["chat"]).await;
    let key = &planned[0].key;
    let attempt = scene.go(key, START).await;
    scene.record(&attempt, Next::Waiting(due)).await;
    scene.drain_hints().await;
    let mut queued = 0;
    for _ in 0..65 {
        scene.advance(minutes(1));
        let kept = scene.run().await;
        if kept.overdue > 0 {
            assert_eq!(scene.now(), START.plus(minutes(50)), "ten minutes before");
        }
        queued += kept.overdue;
    }
    assert_eq!(queued, 1);
    let look = scene.moment(key, "lk").await;
    assert_eq!(
        look,
        Some(due.plus(minutes(10))),
        "again if that one is lost"
    );
    let queue = &scene.ground.place.deliveries;
    let sqs = &scene.ground.clients.sqs;
    let delayed = aws_sdk_sqs::types::QueueAttributeName::ApproximateNumberOfMessagesDelayed;
    let asked = sqs.get_queue_attributes().queue_url(queue);
    let told = asked.attribute_names(delayed.clone()).send().await;
    let told = told.expect("an answer").attributes.expect("attributes");
    assert_eq!(told[&delayed], "1", "it comes when the delivery is due");
}

#[tokio::test]
async fn a_budget_of_one_comes_to_the_end() {
    let scene = Scene::new().await;
    let due = START.plus(Duration::from_secs(2));
    let mut keys = Vec::new();
    for n in 0..7 {
        keys.push(lost(&scene, &n.to_string(), due).await);
    }
    scene.advance(minutes(3));
    let mut found = Vec::new();
    for _ in 0..keys.len() {
        let kept = scene.run_within(Budget::each(1)).await;
        assert_eq!(kept.overdue, 1);
        found.extend(scene.drain_hints().await);
    }
    for key in &keys {
        assert_eq!(found.iter().filter(|hint| hint.key == *key).count(), 1);
    }
    scene.follow(&[], "all taken").await;
}

#[tokio::test]
async fn what_is_done_or_dead_is_not_looked_at() {
    let scene = Scene::new().await;
    let due = START.plus(Duration::from_secs(2));
    let key = lost(&scene, "1001", due).await;
    let attempt = scene.go(&key, due).await;
    scene.record(&attempt, Next::Delivered).await;
    scene.die("1002").await;
    scene.advance(minutes(30));
    let kept = scene.run().await;
    assert!(kept.is_idle(), "{kept:?}");
}
