//! `Ledger::accept` past an event's life: how long an event is remembered, whether expiry has come by or not.
//!
//! Taken to mean: `received_at` of the event that comes is the present. An event with a dead or held delivery is not
//! past its life before `Keep::until_when_dead`. Nothing is asked about one that is past its life while a delivery of
//! it still waits.

use std::time::Duration;

use switchboard_core::delivery::State;
use switchboard_core::identity::Run;
use switchboard_core::ports::{Accepted, SameBody};
use switchboard_core::time::Timestamp;

use super::fixture::Fixture;
use super::sample::{KEEP, START, again_at, event, just_after, just_before, plan, with_body};
use super::stage::{Followed, Stage};

const YES: Accepted = Accepted::Repeat(SameBody::Yes);

/// Accepts the followed event again at `at`, with the plan of then.
async fn again<F: Fixture>(stage: &Stage<F>, followed: &Followed, at: Timestamp) -> Accepted {
    let event = again_at(&followed.event, at);
    let plan = plan(&event, Run(0), &[followed.key.destination.as_str()], at);
    stage.accept(&event, &plan).await
}

pub async fn an_event_past_its_life_counts_as_not_stored<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let followed = stage.one("shop", "1001", "chat", START).await;
    stage.deliver(&followed, START).await;
    let end = KEEP.until(START);
    assert_eq!(again(&stage, &followed, just_before(end)).await, YES);
    let at = just_after(end);
    assert_eq!(again(&stage, &followed, at).await, Accepted::New);

    let view = stage.stored(&followed.event.id).await;
    assert_eq!((view.row.at, view.row.repeats), (at, 0), "a first receipt");
    assert_eq!(view.kept_until, KEEP.until(at));
    assert_eq!(view.deliveries.len(), 1);
    let delivery = stage.view(&followed).await;
    assert_eq!((delivery.state, delivery.due), (State::Waiting, Some(at)));
    assert_eq!((delivery.attempts, delivery.log), (0, vec![]));
    assert_eq!(stage.go(&followed.key, at).await.number, 1);

    let totals = stage.totals().await;
    assert_eq!((totals.stored, totals.repeats), (2, 1));
    assert_eq!((totals.delivered, totals.waiting), (1, 1), "two planned");
}

pub async fn the_event_that_took_its_place_is_the_one_repeated<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let first = event("shop", "1001", START);
    let at = just_after(KEEP.until(START));
    let second = with_body(&again_at(&first, at), "{\"other\":true}");
    assert_eq!(stage.accept(&first, &[]).await, Accepted::New);
    let plan = plan(&second, Run(0), &["chat"], at);
    assert_eq!(stage.accept(&second, &plan).await, Accepted::New);
    assert_eq!(stage.accept(&second, &plan).await, YES);
    let no = Accepted::Repeat(SameBody::No);
    assert_eq!(stage.accept(&again_at(&first, at), &[]).await, no);
    let attempt = stage.go(&plan.first().expect("planned").key, at).await;
    assert_eq!(*attempt.event, second);
    assert_eq!(stage.totals().await.unrouted, 1, "the first one only");
}

pub async fn repeats_do_not_lengthen_a_life<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let followed = stage.one("shop", "1001", "chat", START).await;
    stage.deliver(&followed, START).await;
    let end = KEEP.until(START);
    let mut at = START;
    loop {
        at = at.plus(Duration::from_hours(11));
        if at >= just_before(end) {
            break;
        }
        assert_eq!(again(&stage, &followed, at).await, YES, "{at}");
    }
    assert_eq!(stage.stored(&followed.event.id).await.kept_until, end);
    let at = just_after(end);
    assert_eq!(again(&stage, &followed, at).await, Accepted::New);
}

pub async fn a_dead_letter_keeps_its_event_ninety_days_more<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let followed = stage.one("shop", "1001", "chat", START).await;
    stage.die(&followed, START).await;
    let end = KEEP.until_when_dead(START);
    let at = just_after(KEEP.until(START));
    assert_eq!(again(&stage, &followed, at).await, YES);
    assert_eq!(again(&stage, &followed, just_before(end)).await, YES);
    assert_eq!(
        stage.state(&followed).await,
        State::Dead,
        "a repeat moves nothing"
    );
    let at = just_after(end);
    assert_eq!(again(&stage, &followed, at).await, Accepted::New);
    assert_eq!(stage.state(&followed).await, State::Waiting);
    assert_eq!(stage.dead_letters().await, [], "the new one is not dead");
    let totals = stage.totals().await;
    assert_eq!((totals.dead, totals.waiting), (1, 1), "two planned");
}

pub async fn whether_expiry_came_by_makes_no_difference<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let at = just_after(KEEP.until(START));
    let mut answers = Vec::new();
    for id in ["before it came by", "after it came by"] {
        let followed = stage.one("shop", id, "chat", START).await;
        if !answers.is_empty() {
            assert_eq!(stage.expire(at, 10).await, 0, "its delivery still waits");
        }
        stage.deliver(&followed, START).await;
        answers.push(again(&stage, &followed, at).await);
    }
    assert_eq!(answers, [Accepted::New, Accepted::New]);
}

pub async fn an_event_that_expiry_removed_is_new_when_it_comes_again<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let followed = stage.one("shop", "1001", "chat", START).await;
    stage.deliver(&followed, START).await;
    let at = just_after(KEEP.until(START));
    assert_eq!(stage.expire(at, 10).await, 1);
    assert_eq!(again(&stage, &followed, at).await, Accepted::New);
    assert_eq!(again(&stage, &followed, at).await, YES);
    assert_eq!(stage.state(&followed).await, State::Waiting);
    let totals = stage.totals().await;
    assert_eq!((totals.stored, totals.repeats), (2, 1));
    assert_eq!((totals.delivered, totals.waiting), (1, 1));
}
