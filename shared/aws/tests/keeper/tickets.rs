//! Tickets, whose delivery may not be dead any more.

use switchboard_aws::keeper::{Budget, KeeperIntervals, Tickets};
use switchboard_core::delivery::{DeathReason, DeliveryKey, Next};
use switchboard_core::ports::{Ledger, Selection, Spread};

use crate::scene::Scene;

impl Scene {
    /// Sends a dead letter again.
    pub(crate) async fn redrive(&self, key: &DeliveryKey) {
        let spread = Spread {
            start: self.now(),
            per_second: 50,
        };
        let selection = Selection::Dead(vec![key.id.clone()]);
        let moved = self.backend.requeue(&selection, spread, 10).await;
        assert_eq!(moved.expect("redriven").done, 1);
    }
}

#[tokio::test]
async fn only_tickets_of_that_very_death_stay_and_they_stay_visible() {
    let scene = Scene::new().await;
    let queue = &scene.ground.place.dead_letters;
    let dead = scene.die("dead").await;
    let again = scene.die("dead again").await;
    scene.redrive(&again).await;
    let attempt = scene.go(&again, scene.now()).await;
    let next = Next::Dead(DeathReason::AttemptsUsedUp);
    scene.record(&attempt, next).await;
    let redriven = scene.die("redriven").await;
    scene.redrive(&redriven).await;
    scene.put(queue, "somebody else's").await;
    assert_eq!(scene.count(queue).await, (5, 0));

    let kept = scene.run().await;
    let expected = Tickets {
        removed: 2,
        left: 2,
        unreadable: 1,
    };
    assert_eq!(kept.tickets, expected);
    assert_eq!(scene.count(queue).await, (3, 0), "alarms see them");
    let left = scene.drain(queue).await;
    let tells = |key: &DeliveryKey, attempts: u32| {
        let end = format!("\"n\":{attempts}");
        let of_it = |text: &&String| text.contains(key.id.as_str()) && text.contains(&end);
        left.iter().filter(of_it).count()
    };
    assert_eq!((tells(&dead, 1), tells(&again, 2)), (1, 1));
    assert!(left.iter().any(|text| text == "somebody else's"));
}

#[tokio::test]
async fn a_budget_of_one_comes_past_those_that_stay_and_most_of_them_stay_visible() {
    let scene = Scene::new().await;
    for n in 0..4 {
        scene.die(&n.to_string()).await;
    }
    let redriven = scene.die("redriven").await;
    scene.redrive(&redriven).await;
    let intervals = KeeperIntervals::default();
    let mut removed = 0;
    for _ in 0..5 {
        let keeper = scene.keeper_with(&scene.ground.clients, intervals);
        let kept = keeper.run(scene.now(), Budget::each(1)).await;
        assert_eq!(kept.failed, []);
        assert_eq!(kept.tickets.removed + kept.tickets.left, 1);
        removed += kept.tickets.removed;
    }
    assert_eq!(removed, 1, "it made room for others each time");

    // With one for just as many as there are, none is hidden afterwards.
    let scene = Scene::new().await;
    let queue = &scene.ground.place.dead_letters;
    for n in 0..3 {
        scene.die(&n.to_string()).await;
    }
    let keeper = scene.keeper_with(&scene.ground.clients, intervals);
    let kept = keeper.run(scene.now(), Budget::each(3)).await;
    assert_eq!(kept.tickets.left, 3);
    assert_eq!(scene.count(queue).await, (3, 0), "alarms see them");
}
