//! What was answered is still there after the backend was closed and opened again.

use switchboard_core::delivery::{DeathReason, Next, State};
use switchboard_core::identity::Run;
use switchboard_core::ports::{Accepted, Begun, Note, Recorded, SameBody, Selection, Views};
use switchboard_core::refusal::Cause;
use switchboard_core::views::EventSearch;

use super::fixture::Fixture;
use super::sample::{
    KEEP, MANY, START, after, event, hint, just_after, just_before, plan, refusal, rejected,
    source, with_body,
};
use super::stage::{Followed, Stage, walk};

/// A delivery in each state, with what led there.
async fn every_state<F: Fixture>(stage: &Stage<F>) -> Vec<(Followed, State)> {
    let fresh = stage.one("shop", "fresh", "a", after(5)).await;
    let tried = stage.one("shop", "tried", "a", START).await;
    stage.fail(&tried.key, START, Next::Waiting(after(2))).await;
    let done = stage.one("shop", "done", "b", START).await;
    stage.deliver(&done, START).await;
    let dead = stage.one("shop", "dead", "c", START).await;
    stage.use_up(&dead, START).await;
    let redriven = stage.one("shop", "redriven", "c", START).await;
    stage.use_up(&redriven, START).await;
    let list = Selection::Dead(vec![redriven.key.id.clone()]);
    stage.requeue(&list, after(90), MANY).await;
    let buried = stage.one("shop", "buried", "d", START).await;
    stage
        .bury("d", DeathReason::NoDestination, after(1), MANY)
        .await;
    let held = stage.one("shop", "held", "e", START).await;
    stage.hold("e", START).await;
    vec![
        (fresh, State::Waiting),
        (tried, State::Waiting),
        (done, State::Delivered),
        (dead, State::Dead),
        (redriven, State::Waiting),
        (buried, State::Dead),
        (held, State::Held),
    ]
}

pub async fn every_event_and_delivery_is_still_there<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let all = every_state(&stage).await;
    let mut before = Vec::new();
    for (followed, state) in &all {
        assert_eq!(stage.state(followed).await, *state);
        before.push(stage.stored(&followed.event.id).await);
    }
    let lists = (
        stage.search(&EventSearch::default()).await,
        stage.dead_letters().await,
    );

    let stage = stage.reopened().await;
    for ((followed, state), before) in all.iter().zip(before) {
        assert_eq!(stage.stored(&followed.event.id).await, before, "{state:?}");
    }
    let now = (
        stage.search(&EventSearch::default()).await,
        stage.dead_letters().await,
    );
    assert_eq!(now, lists);
}

pub async fn the_totals_are_still_the_same<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    every_state(&stage).await;
    let event = event("code", "1", START);
    for body in ["a", "a", "b"] {
        stage.accept(&with_body(&event, body), &[]).await;
    }
    for listed in [None, Some(refusal("a reason"))] {
        let from = source("shop");
        let note = Note::Refused {
            source: from.clone(),
            listed,
        };
        stage.note(START, note).await;
        let cause = Cause::TooLarge;
        let note = Note::Declined {
            source: Some(from),
            cause,
            listed: None,
        };
        stage.note(START, note).await;
    }
    let before = stage.overview().await;
    let stage = stage.reopened().await;
    assert_eq!(stage.overview().await, before);
    let stage = stage.reopened().await;
    assert_eq!(stage.overview().await, before, "however often");
}

pub async fn the_journal_is_still_listed<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    for n in 0..3_u64 {
        let note = Note::Refused {
            source: source("shop"),
            listed: Some(refusal(&n.to_string())),
        };
        stage.note(after(n), note).await;
        let note = Note::Declined {
            source: None,
            cause: Cause::UnknownSource,
            listed: Some(n.to_string()),
        };
        stage.note(after(n), note).await;
    }
    let mut lists = Vec::new();
    let mut stage = stage;
    for _ in 0..2 {
        stage.settled().await;
        let backend = stage.backend();
        let refusals = walk(2, |ask| async move { backend.refusals(&ask).await }).await;
        let declined = walk(2, |ask| async move { backend.declined(&ask).await }).await;
        assert_eq!((refusals.len(), declined.len()), (3, 3));
        lists.push((refusals, declined));
        stage = stage.reopened().await;
    }
    lists.dedup();
    assert_eq!(lists.len(), 1, "the same lists");
}

pub async fn what_waited_goes_on_where_it_was<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let followed = stage.one("shop", "1001", "chat", START).await;
    let first = stage
        .fail(&followed.key, START, Next::Waiting(after(2)))
        .await;
    let second = stage.go(&followed.key, after(2)).await;

    // In flight when the process ended: not recorded, so it is due again under the same number.
    let stage = stage.reopened().await;
    let begun = stage.begin(&hint(&followed.key, after(2)), after(1)).await;
    assert_eq!(begun, Begun::Later(after(2)));
    assert_eq!(stage.go(&followed.key, after(2)).await, second);
    let again = stage
        .record(&first, &rejected(&first, START), Next::Waiting(after(2)))
        .await;
    assert_eq!(again, Recorded::Stale, "it is remembered what was recorded");
    stage.deliver(&followed, after(2)).await;
    let stage = stage.reopened().await;
    assert_eq!(stage.state(&followed).await, State::Delivered);
    let begun = stage.begin(&hint(&followed.key, after(2)), after(9)).await;
    assert_eq!(begun, Begun::Drop);
}

pub async fn a_repeat_is_still_one_and_a_run_still_stored<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let followed = stage.one("shop", "1001", "chat", START).await;
    let event = &followed.event;
    let run = plan(event, Run(1), &["crm"], after(9));
    assert!(stage.replay(&event.id, Run(1), &run).await);
    let stage = stage.reopened().await;
    let yes = Accepted::Repeat(SameBody::Yes);
    assert_eq!(stage.accept(event, &[]).await, yes);
    let no = Accepted::Repeat(SameBody::No);
    assert_eq!(stage.accept(&with_body(event, "b"), &[]).await, no);
    let other = plan(event, Run(1), &["warehouse"], after(9));
    assert!(stage.replay(&event.id, Run(1), &other).await);
    assert_eq!(stage.stored(&event.id).await.deliveries.len(), 2);
    stage.go(&run.first().expect("planned").key, after(9)).await;
}

pub async fn lives_end_when_they_would_have<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let done = stage.one("shop", "1", "a", START).await;
    stage.deliver(&done, START).await;
    let dead = stage.one("shop", "2", "b", START).await;
    stage.die(&dead, START).await;
    let stage = stage.reopened().await;
    assert_eq!(stage.expire(just_before(KEEP.until(START)), MANY).await, 0);
    assert_eq!(stage.expire(just_after(KEEP.until(START)), MANY).await, 1);
    let stage = stage.reopened().await;
    assert_eq!(stage.event(&done.event.id).await, None, "it stays gone");
    let end = KEEP.until_when_dead(START);
    assert_eq!(stage.expire(just_before(end), MANY).await, 0);
    assert_eq!(stage.expire(just_after(end), MANY).await, 1);
    let stage = stage.reopened().await;
    assert_eq!(stage.search(&EventSearch::default()).await, []);
    assert_eq!(stage.totals().await.stored, 2);
}

pub async fn what_is_held_can_still_be_released_and_recovered<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let first = stage.one("shop", "1", "a", START).await;
    let second = stage.one("shop", "2", "b", START).await;
    stage.hold("a", START).await;
    stage.hold("b", START).await;
    stage.let_go("b").await;
    let stage = stage.reopened().await;
    let moved = stage.recover(after(9), MANY).await;
    assert_eq!(
        (moved.done, moved.left),
        (1, 0),
        "only what is not held now"
    );
    assert_eq!(stage.state(&second).await, State::Waiting);
    assert_eq!(stage.state(&first).await, State::Held);
    stage.let_go("a").await;
    assert_eq!(stage.release("a", after(9), MANY).await.done, 1);
    let stage = stage.reopened().await;
    assert_eq!(stage.view(&first).await.due, Some(after(9)));
}
