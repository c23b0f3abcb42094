//! What the queue gave back.

use std::sync::Arc;
use std::time::Duration;

use switchboard_aws::Place;
use switchboard_aws::keeper::{Keeper, KeeperIntervals, Returned, Step};
use switchboard_aws::message::{Message, Origin};
use switchboard_core::delivery::{DeathReason, DeliveryKey, Next};
use switchboard_core::event::Event;
use switchboard_core::ports::Ledger;

use crate::scene::{KEEP, PLENTY, Scene, minutes};

/// Moves all hints of the workers to where the queue puts what was received too often.
async fn give_back(scene: &Scene) {
    let hints = scene.drain(&scene.ground.place.deliveries).await;
    for text in hints {
        scene.put(&scene.ground.place.returned, &text).await;
    }
}

/// An event with one delivery, whose hint is given back.
async fn given_back(scene: &Scene, id: &str) -> DeliveryKey {
    let planned = scene.accept(&scene.event(id), &["chat"]).await;
    give_back(scene).await;
    planned[0].key.clone()
}

fn sent_back() -> Returned {
    Returned {
        sent_back: 1,
        ..Returned::default()
    }
}

#[tokio::test]
async fn a_hint_that_holds_goes_back_unchanged_and_as_no_first_one() {
    let scene = Scene::new().await;
    let planned = scene.accept(&scene.event("1001"), &["chat"]).await;
    let first = scene.drain_hints().await.remove(0);
    assert_eq!(first.origin, Origin::First);
    scene.put(&scene.ground.place.returned, &first.text()).await;
    assert_eq!(scene.run().await.returned, sent_back());
    let expected = Message {
        origin: Origin::Later,
        ..first
    };
    assert_eq!(scene.drain_hints().await, [expected]);
    assert_eq!(scene.count(&scene.ground.place.returned).await, (0, 0));
    assert_eq!(
        scene.attribute(&planned[0].key, "rt").await.as_deref(),
        Some("1")
    );
}

#[tokio::test]
async fn a_hint_that_the_platform_moved_goes_back() {
    let scene = Scene::new().await;
    let (sqs, place) = (&scene.ground.clients.sqs, &scene.ground.place);
    let name = aws_sdk_sqs::types::QueueAttributeName::QueueArn;
    let asked = sqs.get_queue_attributes().queue_url(&place.returned);
    let told = asked.attribute_names(name.clone()).send().await;
    let arn = told.expect("an answer").attributes.expect("attributes")[&name].clone();
    let policy = format!("{{\"deadLetterTargetArn\":\"{arn}\",\"maxReceiveCount\":\"1\"}}");
    let redrive = aws_sdk_sqs::types::QueueAttributeName::RedrivePolicy;
    let set = sqs.set_queue_attributes().queue_url(&place.deliveries);
    set.attributes(redrive, policy).send().await.expect("set");

    let planned = scene.accept(&scene.event("1001"), &["chat"]).await;
    for _ in 0..3 {
        let received = sqs.receive_message().queue_url(&place.deliveries);
        let received = received.visibility_timeout(0).send().await;
        received.expect("an answer");
    }
    assert_eq!(scene.count(&place.returned).await, (1, 0), "it was moved");
    assert_eq!(scene.run().await.returned, sent_back());
    assert_eq!(scene.dues(&planned[0].key).await, [planned[0].due]);
}

#[tokio::test]
async fn the_third_return_is_the_end_and_a_redrive_begins_anew() {
    let scene = Scene::new().await;
    let key = given_back(&scene, "1001").await;
    for returns in ["1", "2"] {
        // Within the hour it is counted once, however many copies there are.
        for pause in [0, 0, 59] {
            scene.advance(minutes(pause));
            let kept = scene.run().await.returned;
            assert_eq!((kept.died, kept.sent_back > 0), (0, true));
            assert_eq!(scene.attribute(&key, "rt").await.as_deref(), Some(returns));
            give_back(&scene).await;
        }
        scene.advance(minutes(1));
    }
    let kept = scene.run().await;
    assert_eq!((kept.returned.died, kept.returned.sent_back), (1, 0));
    let reason = DeathReason::ReturnedTooOften.to_string();
    assert_eq!(scene.attribute(&key, "st").await.as_deref(), Some("3"));
    assert_eq!(scene.attribute(&key, "wl").await, Some(reason));
    assert_eq!(scene.attribute(&key, "rt").await, None);
    let event = scene.event("1001");
    let kept_until = KEEP.until_when_dead(crate::support::START);
    assert_eq!(scene.moment(&key, "un").await, Some(kept_until));
    let tickets = scene.drain(&scene.ground.place.dead_letters).await;
    assert!(tickets.iter().all(|text| text.contains(event.id.as_str())) && !tickets.is_empty());

    // Sent again, it is as fresh as any other.
    scene.drain_hints().await;
    scene.redrive(&key).await;
    for _ in 0..2 {
        give_back(&scene).await;
        let kept = scene.run().await;
        assert_eq!((kept.returned.died, kept.returned.sent_back > 0), (0, true));
        scene.advance(minutes(61));
    }
    give_back(&scene).await;
    assert_eq!(scene.run().await.returned.died, 1);
}

#[tokio::test]
async fn a_death_that_was_cut_before_its_ticket_gets_one() {
    let scene = Scene::new().await;
    let key = given_back(&scene, "1001").await;
    for _ in 0..2 {
        scene.run().await;
        give_back(&scene).await;
        scene.advance(minutes(61));
    }
    let nowhere = Place {
        dead_letters: format!("{}-nowhere", scene.ground.place.dead_letters),
        ..scene.ground.place.clone()
    };
    let dying = scene.ground.open_with(&scene.ground.clients, nowhere);
    let intervals = KeeperIntervals {
        hide_taken: Duration::from_secs(1),
        ..KeeperIntervals::default()
    };
    let dying = Keeper::new(Arc::new(dying), intervals, KEEP);
    let kept = dying.run(scene.now(), PLENTY).await;
    assert_eq!(kept.failed, [Step::Returned, Step::Tickets]);
    assert_eq!(scene.attribute(&key, "st").await.as_deref(), Some("3"));
    let place = &scene.ground.place;
    scene.wait_until_shown(&place.returned).await;
    assert_eq!(scene.count(&place.dead_letters).await, (0, 0));
    scene.advance(minutes(2));
    assert_eq!(scene.run().await.tickets_put, 1, "it owed one");
    assert_eq!(scene.count(&place.dead_letters).await, (1, 0));
    assert_eq!(scene.count(&place.returned).await, (0, 0));
}

#[tokio::test]
async fn a_dead_letter_that_is_sent_again_has_no_returns_whatever_it_died_of() {
    let scene = Scene::new().await;
    let key = given_back(&scene, "1001").await;
    scene.run().await;
    assert_eq!(scene.attribute(&key, "rt").await.as_deref(), Some("1"));
    let to = &key.destination;
    let gone = DeathReason::NoDestination;
    let buried = scene.backend.bury(to, gone, scene.now(), KEEP, 10).await;
    assert_eq!(buried.expect("buried").done, 1);
    scene.redrive(&key).await;
    assert_eq!(scene.attribute(&key, "rt").await, None);
    assert_eq!(scene.attribute(&key, "rta").await, None);
}

#[tokio::test]
async fn a_hint_that_is_out_of_date_is_removed() {
    let scene = Scene::new().await;
    let returned = &scene.ground.place.returned;
    let planned = scene.accept(&scene.event("done"), &["chat"]).await;
    let hint = scene.drain_hints().await.remove(0);
    let attempt = scene.go(&planned[0].key, planned[0].due).await;
    scene.record(&attempt, Next::Delivered).await;
    scene.put(returned, &hint.text()).await;

    let planned = scene.accept(&scene.event("failed"), &["chat"]).await;
    let hint = scene.drain_hints().await.remove(0);
    let attempt = scene.go(&planned[0].key, planned[0].due).await;
    let due = scene.now().plus(Duration::from_millis(1));
    scene.record(&attempt, Next::Waiting(due)).await;
    scene.put(returned, &hint.text()).await;

    // Of no event, and of an earlier life of one.
    let elsewhere = Scene::new().await;
    for id in ["nowhere", "failed"] {
        elsewhere.accept(&elsewhere.event(id), &["chat"]).await;
    }
    for hint in elsewhere.drain_hints().await {
        scene.put(returned, &hint.text()).await;
    }
    scene.drain_hints().await;
    let expected = Returned {
        dropped: 4,
        ..Returned::default()
    };
    assert_eq!(scene.run().await.returned, expected);
    assert!(scene.drain_hints().await.is_empty());
    assert_eq!(scene.count(returned).await, (0, 0));
}

#[tokio::test]
async fn what_nobody_can_read_is_counted_by_its_reason_and_kept() {
    let scene = Scene::new().await;
    let returned = &scene.ground.place.returned;
    let event: Event = scene.event("1001");
    scene.accept(&event, &["chat"]).await;
    let hint = scene.drain_hints().await.remove(0).text();
    scene.put(returned, "not ours").await;
    scene.put(returned, "neither").await;
    let newer = hint.replace("\"v\":1", "\"v\":2");
    scene.put(returned, &newer).await;
    let aside = scene.backend.set_aside(&hint, "no hint of mine").await;
    aside.expect("set aside");

    let kept = scene.run().await;
    let reasons = kept.returned.unreadable.iter();
    let reasons: Vec<(&str, u32)> = reasons.map(|(reason, count)| (&**reason, *count)).collect();
    assert_eq!(reasons.len(), 3, "{reasons:?}");
    assert!(reasons.contains(&("the message is no hint", 2)));
    assert!(reasons.contains(&("no hint of mine", 1)));
    assert!(
        reasons
            .iter()
            .any(|(reason, _)| reason.contains("version 2"))
    );
    assert_eq!(scene.count(returned).await, (0, 4), "none is lost");
    assert!(scene.run().await.is_idle(), "nor does it come each minute");
    assert!(scene.drain_hints().await.is_empty());
}

#[tokio::test]
async fn a_ticket_that_came_back_is_a_ticket_again() {
    let scene = Scene::new().await;
    scene.die("1001").await;
    let tickets = &scene.ground.place.dead_letters;
    let ticket = scene.drain(tickets).await.remove(0);
    scene.put(&scene.ground.place.returned, &ticket).await;
    let kept = scene.run().await;
    assert_eq!((kept.returned.tickets, kept.tickets.left), (1, 1));
    assert_eq!(scene.drain(tickets).await, [ticket]);
}

#[tokio::test]
async fn a_budget_of_one_comes_to_the_end() {
    let scene = Scene::new().await;
    let mut keys = Vec::new();
    for n in 0..4 {
        keys.push(given_back(&scene, &n.to_string()).await);
    }
    for _ in 0..4 {
        let kept = scene
            .run_within(switchboard_aws::keeper::Budget::each(1))
            .await;
        assert_eq!(kept.returned, sent_back());
    }
    scene.follow(&keys, "sent back").await;
}
