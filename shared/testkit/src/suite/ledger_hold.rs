//! `Ledger::shelve`, `release` and `recover`: a hold loses nothing, and what is not held goes on.
//!
//! Taken to mean: shelving is asked only for destinations that the settings hold. `left` counts what the same call would still move.

use switchboard_core::delivery::{Next, State};
use switchboard_core::endpoint::Change;
use switchboard_core::ports::{Begun, Moved, Spread};
use switchboard_core::time::Timestamp;

use super::fixture::Fixture;
use super::sample::{KEEP, MANY, START, after, destination, hint};
use super::stage::{Followed, Stage};

const NOTHING: Moved = Moved { done: 0, left: 0 };

pub async fn what_is_due_of_a_held_destination_is_held<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let past = stage.one("shop", "1", "chat", START).await;
    let due = stage.one("shop", "2", "chat", after(5)).await;
    let later = stage.one("shop", "3", "chat", after(6)).await;
    let other = stage.one("shop", "4", "crm", START).await;
    let dead = stage.one("shop", "5", "chat", START).await;
    stage.die(&dead, START).await;
    let moved = stage.hold("chat", after(5)).await;
    assert_eq!(moved, Moved { done: 2, left: 0 });
    for followed in [&past, &due] {
        let view = stage.view(followed).await;
        assert_eq!((view.state, view.due), (State::Held, None));
        assert_eq!((view.attempts, view.log), (0, vec![]), "without an attempt");
    }
    let view = stage.view(&later).await;
    assert_eq!((view.state, view.due), (State::Waiting, Some(after(6))));
    assert_eq!(stage.state(&other).await, State::Waiting);
    assert_eq!(stage.state(&dead).await, State::Dead);
    let overview = stage.overview().await;
    let chat = overview.destinations.get(&destination("chat"));
    let chat = chat.expect("its totals");
    assert_eq!((chat.held, chat.waiting, chat.dead), (2, 1, 1));
    assert_eq!((overview.totals.held, overview.totals.waiting), (2, 2));
    assert_eq!(
        stage.shelve("chat", after(5), MANY).await,
        NOTHING,
        "twice is once"
    );
    assert_eq!(stage.shelve("chat", after(6), MANY).await.done, 1);
}

pub async fn what_comes_for_a_held_destination_is_not_attempted_and_waits_for_the_release<
    F: Fixture,
>(
    fixture: F,
) {
    let stage = Stage::open(fixture).await;
    stage.hold("chat", START).await;
    let due = stage.one("shop", "1", "chat", START).await;
    let later = stage.one("shop", "2", "chat", after(6)).await;
    // A backend may store what is due as held at once, or leave that to the shelving.
    stage.shelve("chat", START, MANY).await;
    let view = stage.view(&due).await;
    assert_eq!((view.state, view.due), (State::Held, None));
    assert_eq!(
        stage.begin(&hint(&due.key, START), after(9)).await,
        Begun::Drop
    );
    let kept_until = stage.stored(&due.event.id).await.kept_until;
    assert_eq!(kept_until, KEEP.until_when_dead(START), "it lives longer");
    let view = stage.view(&later).await;
    assert_eq!((view.state, view.due), (State::Waiting, Some(after(6))));
    let totals = stage.totals().await;
    assert_eq!((totals.held, totals.waiting), (1, 1));
    stage.let_go("chat").await;
    assert_eq!(stage.release("chat", after(9), MANY).await.done, 1);
    assert_eq!(stage.go(&due.key, after(9)).await.number, 1);
}

pub async fn shelving_moves_at_most_its_limit_and_says_what_is_left<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    stage.several("chat", 25, START).await;
    stage.several("crm", 3, START).await;
    stage.one("shop", "later", "chat", after(60)).await;
    stage.change(Change::Hold(destination("chat"))).await;
    let mut steps = Vec::new();
    for _ in 0..4 {
        steps.push(stage.shelve("chat", START, 10).await);
    }
    let expected = [(10, 15), (10, 5), (5, 0), (0, 0)];
    assert_eq!(steps, expected.map(|(done, left)| Moved { done, left }));
    let totals = stage.totals().await;
    assert_eq!((totals.held, totals.waiting), (25, 4));
}

/// Two failed attempts, then held.
async fn held_after_two<F: Fixture>(stage: &Stage<F>) -> Followed {
    let followed = stage.one("shop", "tried", "chat", START).await;
    stage
        .fail(&followed.key, START, Next::Waiting(after(2)))
        .await;
    stage
        .fail(&followed.key, after(2), Next::Waiting(after(6)))
        .await;
    assert_eq!(stage.hold("chat", after(6)).await.done, 1);
    followed
}

pub async fn a_release_keeps_the_round_and_the_log<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let followed = held_after_two(&stage).await;
    let before = stage.view(&followed).await;
    stage.let_go("chat").await;
    let moved = stage.release("chat", after(50), MANY).await;
    assert_eq!(moved, Moved { done: 1, left: 0 });
    let view = stage.view(&followed).await;
    assert_eq!((view.state, view.due), (State::Waiting, Some(after(50))));
    assert_eq!((view.attempts, &view.log), (2, &before.log));
    let third = stage.go(&followed.key, after(50)).await;
    assert_eq!((third.number, third.in_round), (3, 3));
    assert_eq!(stage.release("chat", after(60), MANY).await, NOTHING);
    assert_eq!(stage.view(&followed).await, view, "twice is once");
}

pub async fn a_release_moves_only_what_is_held_of_its_destination<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let held = stage.several("chat", 25, START).await;
    let others = stage.several("crm", 3, START).await;
    stage.hold("chat", START).await;
    stage.hold("crm", START).await;
    let dead = stage.several_dead("warehouse", 2, START).await;
    let waiting = stage.one("shop", "waiting", "chat", after(5)).await;
    stage.let_go("chat").await;
    let mut steps = Vec::new();
    for _ in 0..4 {
        steps.push(stage.release("chat", after(10), 10).await);
    }
    let expected = [(10, 15), (10, 5), (5, 0), (0, 0)];
    assert_eq!(steps, expected.map(|(done, left)| Moved { done, left }));
    assert_eq!(stage.in_state(&held, State::Waiting).await, 25);
    assert_eq!(stage.in_state(&others, State::Held).await, 3);
    assert_eq!(stage.in_state(&dead, State::Dead).await, 2);
    assert_eq!(stage.view(&waiting).await.due, Some(after(5)));
}

/// What `followed` are due at, the soonest first; what is held is not.
async fn dues<F: Fixture>(stage: &Stage<F>, followed: &[Followed]) -> Vec<Timestamp> {
    let mut dues = Vec::new();
    for one in followed {
        dues.extend(stage.view(one).await.due);
    }
    dues.sort_unstable();
    dues
}

/// Takes the hold on "chat" back, from when on and how many are to start each second.
async fn let_go_at<F: Fixture>(stage: &Stage<F>, start: Timestamp, per_second: u32) -> Spread {
    let spread = Spread { start, per_second };
    let change = Change::Release(destination("chat"), spread);
    stage.change(change).await;
    spread
}

fn evenly(spread: Spread, count: u32) -> Vec<Timestamp> {
    (0..count).map(|nth| spread.due(nth)).collect()
}

pub async fn a_release_is_as_fast_as_was_asked_for_in_every_step<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let held = stage.several("chat", 25, START).await;
    stage.hold("chat", START).await;
    let spread = let_go_at(&stage, after(10), 4).await;
    // An operator's steps, with one of the recovery between them.
    assert_eq!(stage.release("chat", after(10), 10).await.done, 10);
    assert_eq!(stage.recover(after(10), 10).await.done, 10);
    assert_eq!(stage.release("chat", after(10), 10).await.done, 5);
    assert_eq!(dues(&stage, &held).await, evenly(spread, 25));
}

pub async fn a_release_that_was_cut_goes_on_as_fast_as_was_asked_for<F: Fixture>(fixture: F) {
    let mut stage = Stage::open(fixture).await;
    let held = stage.several("chat", 12, START).await;
    stage.hold("chat", START).await;
    let spread = let_go_at(&stage, after(10), 2).await;
    // Cut before the first step and after it, and never asked for again.
    for (done, left) in [(4, 8), (4, 4), (4, 0)] {
        stage = stage.reopened().await;
        let moved = stage.recover(after(10), 4).await;
        assert_eq!(moved, Moved { done, left });
    }
    assert_eq!(dues(&stage, &held).await, evenly(spread, 12));
}

pub async fn a_release_goes_on_behind_what_an_earlier_one_put_back<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let held = stage.several("chat", 20, START).await;
    stage.hold("chat", START).await;
    let spread = let_go_at(&stage, after(10), 2).await;
    stage.release("chat", after(10), 8).await;
    // Held half-way: what is due by then is held again.
    assert_eq!(stage.hold("chat", after(11)).await.done, 3);
    let_go_at(&stage, after(11), 2).await;
    stage.release("chat", after(11), MANY).await;
    let whole = evenly(spread, 23).split_off(3);
    assert_eq!(dues(&stage, &held).await, whole, "two a second, as before");
    // A higher number counts from now on, together with what waits.
    let mut more = Vec::new();
    for n in 0..10 {
        more.push(stage.one("shop", &format!("more-{n}"), "chat", START).await);
    }
    assert_eq!(stage.hold("chat", after(10)).await.done, 10);
    let_go_at(&stage, after(12), 5).await;
    assert_eq!(stage.release("chat", after(12), MANY).await.done, 10);
    let beside = Spread {
        start: after(12),
        per_second: 3,
    };
    assert_eq!(dues(&stage, &more).await, evenly(beside, 10));
}

pub async fn nothing_is_put_back_of_a_destination_that_is_held_again<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let held = stage.several("chat", 5, START).await;
    stage.hold("chat", START).await;
    let all_left = Moved { done: 0, left: 5 };
    assert_eq!(stage.release("chat", after(9), MANY).await, all_left);
    stage.let_go("chat").await;
    assert_eq!(stage.release("chat", after(9), 2).await.done, 2);
    // Another operator holds it between two steps.
    stage.change(Change::Hold(destination("chat"))).await;
    let rest_left = Moved { done: 0, left: 3 };
    assert_eq!(stage.release("chat", after(9), MANY).await, rest_left);
    assert_eq!(stage.in_state(&held, State::Held).await, 3);
}

pub async fn recovery_releases_what_is_held_of_destinations_not_held_now<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let followed = held_after_two(&stage).await;
    let more = stage.several("chat", 4, START).await;
    stage.shelve("chat", after(6), MANY).await;
    let still = stage.several("crm", 3, START).await;
    stage.hold("crm", after(6)).await;
    let dead = stage.several_dead("warehouse", 2, START).await;
    let waiting = stage.one("shop", "waiting", "chat", after(500)).await;
    assert_eq!(
        stage.recover(after(50), MANY).await,
        NOTHING,
        "all are held"
    );

    stage.let_go("chat").await;
    let moved = stage.recover(after(50), MANY).await;
    assert_eq!(moved, Moved { done: 5, left: 0 });
    assert_eq!(stage.in_state(&more, State::Waiting).await, 4);
    let view = stage.view(&followed).await;
    assert_eq!((view.state, view.attempts), (State::Waiting, 2));
    let due = view.due.expect("a due time");
    assert!(due <= after(50 + 5), "it is due soon, not at {due}");
    let third = stage.go(&followed.key, due).await;
    assert_eq!((third.number, third.in_round), (3, 3), "the same round");
    assert_eq!(stage.in_state(&still, State::Held).await, 3);
    assert_eq!(stage.in_state(&dead, State::Dead).await, 2);
    assert_eq!(stage.view(&waiting).await.due, Some(after(500)));
    assert_eq!(
        stage.recover(after(60), MANY).await,
        NOTHING,
        "twice is once"
    );
    assert_eq!(stage.view(&followed).await, view);
}

pub async fn recovery_goes_in_steps_of_at_most_its_limit<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    for to in ["a", "b", "c"] {
        stage.several(to, 5, START).await;
        stage.hold(to, START).await;
    }
    for to in ["a", "c"] {
        stage.let_go(to).await;
    }
    let mut steps = Vec::new();
    for _ in 0..4 {
        steps.push(stage.recover(after(9), 4).await);
    }
    let expected = [(4, 6), (4, 2), (2, 0), (0, 0)];
    assert_eq!(steps, expected.map(|(done, left)| Moved { done, left }));
    let totals = stage.totals().await;
    assert_eq!((totals.waiting, totals.held), (10, 5));
}

pub async fn recovery_of_nothing_changes_nothing<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    assert_eq!(stage.recover(START, MANY).await, NOTHING);
    let waiting = stage.one("shop", "1", "a", START).await;
    let done = stage.one("shop", "2", "b", START).await;
    stage.deliver(&done, START).await;
    let dead = stage.one("shop", "3", "c", START).await;
    stage.die(&dead, START).await;
    let before = stage.overview().await;
    assert_eq!(stage.recover(after(9), MANY).await, NOTHING);
    assert_eq!(stage.overview().await, before);
    assert_eq!(stage.view(&waiting).await.due, Some(START));
}
