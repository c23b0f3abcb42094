//! Tickets, whose delivery may not be dead any more.

use switchboard_aws::keeper::{Budget, KeeperIntervals, Tickets};
use switchboard_aws::message::Ticket;
use switchboard_core::delivery::{DeathReason, DeliveryKey, Next};
use switchboard_core::ports::{Ledger, Selection, Spread};

use crate::fuse::Fuse;
use crate::scene::{KEEP, Scene, failure, minutes};

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

#[tokio::test]
async fn a_death_that_is_cut_before_its_ticket_gets_it_in_the_end_and_once() {
    let scene = Scene::new().await;
    let queue = &scene.ground.place.dead_letters;
    let planned = scene.accept(&scene.event("1001"), &["chat"]).await;
    let key = &planned[0].key;
    let attempt = scene.go(key, planned[0].due).await;
    let dying = scene.process(&Fuse::behind(0).over_queues(&scene.ground.clients));
    let next = Next::Dead(DeathReason::AttemptsUsedUp);
    let record = failure(&attempt);
    let recorded = dying.record(&attempt, &record, next, KEEP);
    recorded.await.expect_err("cut before the ticket");
    scene.drain_hints().await;
    assert_eq!(scene.attribute(key, "st").await.as_deref(), Some("3"));
    assert_eq!(scene.run().await.tickets_put, 0, "it may be on its way");
    assert_eq!(scene.count(queue).await, (0, 0));

    scene.advance(minutes(2));
    let kept = scene.run().await;
    assert_eq!((kept.tickets_put, kept.tickets.left), (1, 1), "{kept:?}");
    assert!(scene.run().await.is_idle(), "once");
    let tickets = scene.drain(queue).await;
    assert_eq!(tickets.len(), 1);
    let ticket = Ticket::read(&tickets[0]).expect("a ticket");
    assert_eq!((&ticket.delivery, ticket.attempts), (&key.id, 1));
    // It is redriven as any other.
    scene.redrive(key).await;
    assert_eq!(scene.dues(key).await, [scene.now()]);
}

#[tokio::test]
async fn only_a_death_that_owes_a_ticket_gets_one() {
    let scene = Scene::new().await;
    let queue = &scene.ground.place.dead_letters;
    scene.die("with its ticket").await;
    // Buried at once: all of them owe theirs.
    let mut buried = Vec::new();
    for n in 0..5 {
        buried.extend(scene.accept(&scene.event(&n.to_string()), &["gone"]).await);
    }
    let to = &buried[0].key.destination;
    let gone = DeathReason::NoDestination;
    let moved = scene.backend.bury(to, gone, scene.now(), KEEP, 10).await;
    assert_eq!(moved.expect("buried").done, 5);
    scene.redrive(&buried[0].key).await;
    scene.advance(minutes(2));
    assert_eq!(scene.count(queue).await, (1, 0));
    let kept = scene.run().await;
    assert_eq!(kept.tickets_put, 4, "not for the one that waits again");
    assert_eq!(scene.count(queue).await, (5, 0));
    assert_eq!(scene.run().await.tickets_put, 0);
}

#[tokio::test]
async fn a_budget_of_one_puts_every_ticket_in_the_end() {
    let scene = Scene::new().await;
    let mut planned = Vec::new();
    for n in 0..6 {
        planned.extend(scene.accept(&scene.event(&n.to_string()), &["gone"]).await);
    }
    let to = &planned[0].key.destination;
    let gone = DeathReason::NoDestination;
    let moved = scene.backend.bury(to, gone, scene.now(), KEEP, 10).await;
    assert_eq!(moved.expect("buried").done, 6);
    scene.advance(minutes(2));
    for left in (0..6).rev() {
        let kept = scene.run_within(Budget::each(1)).await;
        assert_eq!(kept.tickets_put, 1, "{left} are left");
    }
    assert_eq!(scene.run().await.tickets_put, 0);
}
