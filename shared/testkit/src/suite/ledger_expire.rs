//! `Ledger::expire`: what is past its life and needed by nobody goes; the totals stay.
//!
//! Taken to mean: an event with a waiting delivery is kept however long it waits, and one that expiry found so may stay
//! a day longer than it needs to. A call may remove fewer than its limit while there is more to remove. Nothing is asked about a held
//! delivery past `Keep::until_when_dead`, nor whether an event that was dead or held once and is delivered now lives
//! the longer or the shorter life.

use std::time::Duration;

use switchboard_core::delivery::{DeathReason, DeliveryKey, State};
use switchboard_core::identity::Run;
use switchboard_core::ports::{Accepted, Begun};
use switchboard_core::time::Timestamp;
use switchboard_core::views::EventSearch;

use super::fixture::Fixture;
use super::sample::{KEEP, MANY, START, destination, event, hint, just_after, just_before, plan};
use super::stage::{Followed, Stage};

fn past() -> Timestamp {
    just_after(KEEP.until(START))
}

async fn is_gone<F: Fixture>(stage: &Stage<F>, followed: &Followed, now: Timestamp) {
    assert_eq!(stage.event(&followed.event.id).await, None);
    let begun = stage.begin(&hint(&followed.key, followed.due), now).await;
    assert_eq!(begun, Begun::Drop, "there is no such delivery any more");
    let search = EventSearch {
        sender_id: Some(followed.event.sender_id.as_str().to_owned()),
        ..EventSearch::default()
    };
    assert_eq!(stage.search(&search).await, []);
}

pub async fn a_delivered_event_goes_at_the_end_of_its_life_and_not_before<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let followed = stage.one("shop", "1001", "chat", START).await;
    stage.deliver(&followed, START).await;
    let view = stage.stored(&followed.event.id).await;
    let end = KEEP.until(START);
    assert_eq!(view.kept_until, end, "a success does not lengthen a life");
    assert_eq!(stage.expire(just_before(end), MANY).await, 0);
    assert_eq!(stage.event(&followed.event.id).await, Some(view));
    assert_eq!(stage.expire(past(), MANY).await, 1);
    is_gone(&stage, &followed, past()).await;
    assert_eq!(stage.expire(past(), MANY).await, 0, "twice is once");
}

pub async fn an_event_that_no_route_names_goes_too<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let event = event("shop", "1001", START);
    assert_eq!(stage.accept(&event, &[]).await, Accepted::New);
    assert_eq!(stage.expire(just_before(KEEP.until(START)), MANY).await, 0);
    assert_eq!(stage.expire(past(), MANY).await, 1);
    assert_eq!(stage.event(&event.id).await, None);
}

pub async fn an_event_with_a_waiting_delivery_stays_until_that_is_done<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let event = event("shop", "1001", START);
    let plan = plan(&event, Run(0), &["chat", "crm"], START);
    stage.accept(&event, &plan).await;
    let [chat, crm] = plan.as_slice() else {
        panic!("two planned");
    };
    let follow = |key: &DeliveryKey| Followed {
        event: event.clone(),
        key: key.clone(),
        due: START,
    };
    stage.deliver(&follow(&chat.key), START).await;
    assert_eq!(stage.expire(past(), MANY).await, 0);
    assert_eq!(stage.state(&follow(&crm.key)).await, State::Waiting);
    stage.deliver(&follow(&crm.key), START).await;
    let a_day_later = past().plus(Duration::from_hours(25));
    assert_eq!(stage.expire(a_day_later, MANY).await, 1);
    is_gone(&stage, &follow(&crm.key), a_day_later).await;
}

pub async fn dead_letters_keep_their_event_ninety_days_more<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let died = stage.one("shop", "1001", "chat", START).await;
    let buried = stage.one("shop", "1002", "crm", START).await;
    stage.die(&died, START).await;
    let reason = DeathReason::NoDestination;
    assert_eq!(stage.bury("crm", reason, START, 9).await.done, 1);
    let end = KEEP.until_when_dead(START);
    for followed in [&died, &buried] {
        let view = stage.stored(&followed.event.id).await;
        assert_eq!(view.kept_until, end, "the view shows until when");
    }
    assert!(
        stage
            .dead_letters()
            .await
            .iter()
            .all(|d| d.kept_until == end)
    );
    for now in [past(), just_before(end)] {
        assert_eq!(stage.expire(now, MANY).await, 0, "{now}");
    }
    assert_eq!(stage.dead_letters().await.len(), 2);
    assert_eq!(stage.expire(just_after(end), MANY).await, 2);
    is_gone(&stage, &died, just_after(end)).await;
    is_gone(&stage, &buried, just_after(end)).await;
    assert_eq!(stage.dead_letters().await, []);
    let totals = stage.totals().await;
    assert_eq!((totals.dead, totals.expired), (2, 2), "they happened");
}

pub async fn held_deliveries_keep_their_event_as_long_as_they_are_held<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let followed = stage.one("shop", "1001", "chat", START).await;
    assert_eq!(stage.hold("chat", START).await.done, 1);
    let end = KEEP.until_when_dead(START);
    assert_eq!(stage.stored(&followed.event.id).await.kept_until, end);
    for now in [past(), just_before(end), just_after(end)] {
        assert_eq!(stage.expire(now, MANY).await, 0, "{now}");
    }
    assert_eq!(stage.state(&followed).await, State::Held);
}

pub async fn expiry_goes_in_steps_of_at_most_its_limit<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    for followed in stage.several("chat", 25, START).await {
        stage.deliver(&followed, START).await;
    }
    let mut steps = Vec::new();
    for _ in 0..4 {
        steps.push(stage.expire(past(), 10).await);
        let totals = stage.totals().await;
        assert_eq!((totals.stored, totals.delivered), (25, 25));
    }
    assert_eq!(steps, [10, 10, 5, 0]);
    assert_eq!(stage.search(&EventSearch::default()).await, []);
}

pub async fn events_that_stay_do_not_stand_in_the_way_of_those_that_go<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let waiting = stage.several("slow", 30, START).await;
    let dead = stage.several_dead("down", 30, START).await;
    for followed in stage.several("chat", 5, START).await {
        stage.deliver(&followed, START).await;
    }
    let mut removed = 0;
    for _ in 0..30 {
        removed += stage.expire(past(), 5).await;
    }
    assert_eq!(removed, 5, "each call gets further");
    assert_eq!(stage.in_state(&waiting, State::Waiting).await, 30);
    assert_eq!(stage.in_state(&dead, State::Dead).await, 30);
}

pub async fn expiry_takes_nothing_off_the_totals<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let followed = stage.one("shop", "1001", "chat", START).await;
    stage.accept(&followed.event, &[]).await;
    stage.deliver(&followed, START).await;
    let other = stage.one("code", "1", "crm", START).await;
    stage.die(&other, START).await;
    stage.accept(&event("forms", "1", START), &[]).await;
    let mut before = stage.overview().await;
    let end = just_after(KEEP.until_when_dead(START));
    assert_eq!(stage.expire(end, MANY).await, 3);
    let expired = before.destinations.get_mut(&destination("crm"));
    expired.expect("its totals").expired = 1;
    before.totals.expired = 1;
    assert_eq!(stage.overview().await, before, "it tells of it");
}
