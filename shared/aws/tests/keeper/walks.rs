//! Events without records.

use std::time::Duration;

use switchboard_aws::keeper::{Budget, Step, Walked};
use switchboard_core::delivery::Next;
use switchboard_core::ports::Ledger;

use crate::scene::{KEEP, PLENTY, Scene, minutes, plan};
use crate::support::START;

#[tokio::test]
async fn an_event_whose_hints_were_never_sent_is_queued_after_three_minutes() {
    let scene = Scene::new().await;
    let event = scene.event("1001");
    let planned = scene.accept_cut(&event, &["chat", "crm"]).await;
    scene.advance(Duration::from_millis(179_999));
    assert_eq!(scene.run().await.near, Walked::default(), "it is too young");
    assert!(scene.drain_hints().await.is_empty());

    scene.advance(Duration::from_millis(1));
    let kept = scene.run().await;
    assert_eq!((kept.near.events, kept.near.queued), (1, 2));
    let mut hints = scene.drain_hints().await;
    hints.sort_by_key(|hint| hint.key.destination.clone());
    let found = hints.iter().map(|hint| (&hint.key, hint.due));
    let expected = planned.iter().map(|queued| (&queued.key, queued.due));
    assert!(found.eq(expected), "with their planned due: {hints:?}");
    for queued in &planned {
        let record = ["st", "n"].map(|name| scene.attribute(&queued.key, name));
        let [state, attempts] = record;
        assert_eq!(
            (state.await.as_deref(), attempts.await.as_deref()),
            (Some("0"), Some("0"))
        );
        assert_eq!(scene.moment(&queued.key, "due").await, Some(queued.due));
        let look = scene.moment(&queued.key, "lk").await;
        assert_eq!(look, Some(scene.now().plus(minutes(60))), "in an hour");
    }
    assert!(scene.run().await.is_idle(), "once");
    scene.advance(minutes(57));
    let kept = scene.run().await;
    assert_eq!(
        (kept.far.events, kept.far.queued),
        (1, 0),
        "they have records"
    );
    assert!(kept.is_idle(), "{kept:?}");
    assert!(scene.drain_hints().await.is_empty());
}

#[tokio::test]
async fn what_was_recorded_is_left_alone_and_each_walk_looks_once() {
    let scene = Scene::new().await;
    let planned = scene.accept(&scene.event("1001"), &["chat"]).await;
    let key = &planned[0].key;
    let attempt = scene.go(key, START).await;
    scene.record(&attempt, Next::Delivered).await;
    scene.accept(&scene.event("unrouted"), &[]).await;
    scene.drain_hints().await;
    let before = scene.attribute(key, "tok").await;
    for (advance, near, far) in [(4, 2, 0), (1, 0, 0), (55, 0, 2), (1, 0, 0)] {
        scene.advance(minutes(advance));
        let kept = scene.run().await;
        assert_eq!((kept.near.events, kept.far.events), (near, far));
        assert!(kept.is_idle(), "{kept:?}");
    }
    assert_eq!(scene.attribute(key, "tok").await, before);
    assert!(scene.drain_hints().await.is_empty());
}

#[tokio::test]
async fn a_delivery_planned_for_far_from_now_gets_its_record_and_no_hint() {
    let scene = Scene::new().await;
    let event = scene.event("1001");
    let due = START.plus(minutes(90));
    let plan = plan(&event, &["chat"], due);
    let fuse = crate::fuse::Fuse::behind(2);
    let dying = scene.process(&fuse.over(&scene.ground.clients));
    let cut = dying.accept(&event, &plan, KEEP).await;
    cut.expect_err("cut behind the event");
    assert_eq!(scene.attribute(&plan[0].key, "st").await, None);
    scene.advance(minutes(3));
    assert_eq!(scene.run().await.near.queued, 1);
    assert!(scene.drain_hints().await.is_empty(), "not now");
    let look = scene.moment(&plan[0].key, "lk").await;
    assert_eq!(look, Some(START.plus(minutes(80))), "ten minutes before");
}

#[tokio::test]
async fn a_budget_of_one_comes_to_the_end_and_serves_the_oldest_first() {
    let scene = Scene::new().await;
    let mut planned = Vec::new();
    for n in 0..6 {
        for source in ["shop", "code"] {
            let event = scene.event_of(source, &n.to_string());
            planned.push(scene.accept_cut(&event, &["chat"]).await.remove(0));
        }
        scene.advance(Duration::from_secs(1));
    }
    scene.advance(minutes(3));
    let mut found = Vec::new();
    for _ in 0..60 {
        let kept = scene.run_within(Budget::each(1)).await;
        assert!(kept.near.events <= 1 && kept.far.events == 0, "{kept:?}");
        found.extend(scene.drain_hints().await);
        if found.len() == planned.len() {
            break;
        }
    }
    assert_eq!(found.len(), planned.len(), "all in the end");
    for queued in &planned {
        assert!(found.iter().any(|hint| hint.key == queued.key));
    }
    assert!(scene.run().await.is_idle());
}

#[tokio::test]
async fn an_event_that_cannot_be_read_holds_up_no_other() {
    of_a_newer_version_holds_up_no_other("A").await;
}

#[tokio::test]
async fn an_event_with_a_record_that_cannot_be_read_holds_up_no_other() {
    of_a_newer_version_holds_up_no_other("D#newer").await;
}

/// An item of an event, by its sort key, was written by a newer version; many others have lost their hints.
async fn of_a_newer_version_holds_up_no_other(sort: &str) {
    let scene = Scene::new().await;
    let newer = scene.event("newer");
    scene.accept_cut(&newer, &["chat"]).await;
    let text = |text: &str| aws_sdk_dynamodb::types::AttributeValue::S(text.to_owned());
    let update = scene.ground.clients.dynamodb.update_item();
    let update = update
        .table_name(&scene.ground.place.table)
        .key("pk", text(&format!("E#{}", newer.id)))
        .key("sk", text(sort))
        .update_expression("SET v = :v")
        .expression_attribute_values(
            ":v",
            aws_sdk_dynamodb::types::AttributeValue::N("2".to_owned()),
        );
    update.send().await.expect("written");
    scene.advance(Duration::from_secs(1));
    // More than the parts of the index: one of them shares the part.
    for n in 0..12 {
        scene
            .accept_cut(&scene.event(&n.to_string()), &["chat"])
            .await;
    }
    scene.advance(minutes(4));
    let run = async || {
        let keeper = scene.keeper(&scene.ground.clients);
        keeper.run(scene.now(), PLENTY).await
    };
    let kept = run().await;
    assert_eq!((kept.near.queued, kept.near.unreadable), (12, 1));
    assert!(!kept.failed.contains(&Step::Near), "{kept:?}");
    assert_eq!(run().await.near, Walked::default(), "it was passed over");
}

#[tokio::test]
async fn a_run_without_time_loses_nothing_and_folds_all_the_same() {
    let scene = Scene::new().await;
    scene.accept_cut(&scene.event("1001"), &["chat"]).await;
    scene.advance(minutes(4));
    let none = Budget {
        time: Duration::ZERO,
        ..PLENTY
    };
    let keeper = scene.keeper(&scene.ground.clients);
    let kept = keeper.run(scene.now(), none).await;
    let steps = [
        Step::Near,
        Step::Far,
        Step::Overdue,
        Step::Returned,
        Step::Held,
        Step::Owed,
        Step::Tickets,
    ];
    assert_eq!(kept.failed, steps);
    assert_eq!((kept.near.queued, kept.totals_behind_s), (0, Some(0)));
    assert!(kept.folded > 0, "the event is counted");
    assert_eq!(scene.run().await.near.queued, 1);
}

#[tokio::test]
async fn totals_that_were_never_whole_are_as_old_as_the_first_fold() {
    let scene = Scene::new().await;
    scene.accept(&scene.event("1001"), &["chat"]).await;
    let unread = Budget { reads: 0, ..PLENTY };
    for minute in 0..3 {
        let kept = scene.run_within(unread).await;
        assert_eq!(kept.totals_behind_s, Some(minute * 60), "{kept:?}");
        scene.advance(minutes(1));
    }
    assert_eq!(scene.run().await.totals_behind_s, Some(0));
}

#[tokio::test]
async fn totals_are_as_old_as_the_last_fold_that_left_nothing() {
    let scene = Scene::new().await;
    assert_eq!(scene.run().await.totals_behind_s, Some(0));
    scene.accept(&scene.event("1001"), &["chat"]).await;
    scene.advance(minutes(3));
    let unread = Budget { reads: 0, ..PLENTY };
    let kept = scene.run_within(unread).await;
    assert_eq!((kept.folded, kept.totals_behind_s), (0, Some(180)));
    assert_eq!(scene.run().await.totals_behind_s, Some(0));
}
