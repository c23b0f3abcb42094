//! `Ledger::bury`: open deliveries that have nowhere to go become dead letters without an attempt.
//!
//! Taken to mean: whether they are due does not matter. A dead letter made so is dated by the call's `now`.

use switchboard_core::address::{Address, Networks};
use switchboard_core::delivery::{DeathReason, Next, State};
use switchboard_core::endpoint::{Change, KEY_BYTES, fresh_secret};
use switchboard_core::names::YOUR_ENDPOINT;
use switchboard_core::ports::{Moved, Selection};

use super::fixture::Fixture;
use super::sample::{KEEP, MANY, START, after, delivered, destination, rejected};
use super::stage::Stage;

const REASON: DeathReason = DeathReason::NoDestination;

pub async fn what_is_open_becomes_dead_with_its_reason_and_no_attempt<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let held = stage.one("shop", "held", "chat", START).await;
    let due = stage.one("shop", "due", "chat", after(1)).await;
    let later = stage.one("shop", "later", "chat", after(500)).await;
    let tried = stage.one("shop", "tried", "chat", after(1)).await;
    let next = Next::Waiting(after(2));
    stage.fail(&tried.key, after(1), next).await;
    assert_eq!(stage.hold("chat", START).await.done, 1);
    let moved = stage.bury("chat", REASON, after(9), MANY).await;
    assert_eq!(moved, Moved { done: 4, left: 0 });

    let letters = stage.dead_letters().await;
    assert_eq!(letters.len(), 4);
    for (followed, attempts) in [(&held, 0), (&due, 0), (&later, 0), (&tried, 1)] {
        let view = stage.view(followed).await;
        assert_eq!((view.state, view.due), (State::Dead, None));
        assert_eq!(view.attempts, attempts, "no attempt was made");
        assert_eq!(view.log.len(), attempts as usize);
        let reason = view.reason.expect("a dead letter has a reason");
        assert!(reason.starts_with("no such destination"), "{reason}");
        let mut listed = letters.iter().filter(|l| l.delivery == followed.key.id);
        let letter = listed.next().expect("it is listed");
        assert_eq!(letter.reason, "no such destination");
        assert_eq!((letter.attempts, letter.at), (attempts, after(9)));
        assert_eq!(letter.kept_until, KEEP.until_when_dead(START));
    }
    let totals = stage.totals().await;
    assert_eq!((totals.dead, totals.waiting, totals.held), (4, 0, 0));
    let twice = stage.bury("chat", REASON, after(10), MANY).await;
    assert_eq!(twice, Moved::default(), "twice is once");
    assert_eq!(stage.dead_letters().await, letters);
}

pub async fn every_reason_is_kept_and_told<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    for (nth, reason) in DeathReason::ALL.into_iter().enumerate() {
        let open = stage.one("shop", &nth.to_string(), "chat", START).await;
        stage.bury("chat", reason, after(9), MANY).await;
        let told = stage.view(&open).await.reason.expect("a reason");
        assert!(told.starts_with(&reason.to_string()), "{told}");
        let letters = stage.dead_letters().await;
        let letter = letters.iter().find(|l| l.delivery == open.key.id);
        assert_eq!(letter.map(|l| &l.reason), Some(&told), "as it is listed");
    }
}

pub async fn only_what_is_open_of_that_destination_is_buried<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let done = stage.one("shop", "done", "chat", START).await;
    stage.deliver(&done, START).await;
    let dead = stage.one("shop", "dead", "chat", START).await;
    stage.die(&dead, START).await;
    let before = stage.view(&dead).await;
    let other = stage.one("shop", "other", "crm", START).await;
    let copy = stage.one("shop", "copy", YOUR_ENDPOINT, START).await;
    let moved = stage.bury("chat", REASON, after(9), MANY).await;
    assert_eq!(moved, Moved::default());
    assert_eq!(stage.state(&done).await, State::Delivered);
    assert_eq!(stage.view(&dead).await, before, "it keeps its reason");
    assert_eq!(stage.state(&other).await, State::Waiting);

    let cleared = DeathReason::EndpointCleared;
    let moved = stage.bury(YOUR_ENDPOINT, cleared, after(9), MANY).await;
    assert_eq!(moved, Moved { done: 1, left: 0 });
    let reason = stage.view(&copy).await.reason.expect("a reason");
    assert!(reason.starts_with("your endpoint is not set"), "{reason}");
    let overview = stage.overview().await;
    let endpoint = overview.destinations.get(&destination(YOUR_ENDPOINT));
    assert_eq!(endpoint.expect("its totals").dead, 1);
}

pub async fn copies_are_not_buried_once_your_endpoint_is_set_again<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let copy = stage.one("shop", "copy", YOUR_ENDPOINT, START).await;
    stage
        .change(Change::SetEndpoint {
            address: Address::parse("https://example.com/in", Networks::PrivateToo)
                .expect("an address"),
            fresh: fresh_secret(&[1; KEY_BYTES]).expect("a secret"),
        })
        .await;
    let cleared = DeathReason::EndpointCleared;
    let moved = stage.bury(YOUR_ENDPOINT, cleared, after(9), MANY).await;
    assert_eq!(moved, Moved::default());
    assert_eq!(stage.state(&copy).await, State::Waiting);
    stage.change(Change::ClearEndpoint).await;
    let moved = stage.bury(YOUR_ENDPOINT, cleared, after(9), MANY).await;
    assert_eq!(moved, Moved { done: 1, left: 0 });
}

pub async fn an_attempt_under_way_when_its_delivery_is_buried_is_kept<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let fails = stage.one("shop", "fails", "chat", START).await;
    let succeeds = stage.one("shop", "succeeds", "chat", START).await;
    let under_way = [&fails, &succeeds].map(|followed| stage.go(&followed.key, START));
    let [first, second] = under_way;
    let (failing, succeeding) = (first.await, second.await);
    stage.bury("chat", REASON, after(1), MANY).await;
    let next = Next::Waiting(after(9));
    let failure = rejected(&failing, START);
    stage.record(&failing, &failure, next).await;
    let view = stage.view(&fails).await;
    assert_eq!(
        (view.state, view.attempts),
        (State::Dead, 1),
        "it stays dead"
    );
    assert_eq!(view.log, [failure]);
    assert!(
        view.reason
            .expect("a reason")
            .starts_with("no such destination")
    );
    let success = delivered(&succeeding, START);
    stage.record(&succeeding, &success, Next::Delivered).await;
    assert_eq!(stage.state(&succeeds).await, State::Delivered);
}

pub async fn the_last_attempt_of_the_round_before_a_redrive_does_not_end_the_new_one<F: Fixture>(
    fixture: F,
) {
    let stage = Stage::open(fixture).await;
    let followed = stage.one("shop", "1", "chat", START).await;
    for _ in 0..5 {
        stage.fail(&followed.key, START, Next::Waiting(START)).await;
    }
    let sixth = stage.go(&followed.key, START).await;
    stage.bury("chat", REASON, after(1), MANY).await;
    stage.requeue(&Selection::AllDead, after(100), MANY).await;
    let used_up = Next::Dead(DeathReason::AttemptsUsedUp);
    stage
        .record(&sixth, &rejected(&sixth, START), used_up)
        .await;
    let view = stage.view(&followed).await;
    assert_eq!((view.state, view.attempts), (State::Waiting, 6));
    let next = stage.go(&followed.key, after(100)).await;
    assert_eq!((next.number, next.in_round), (7, 1), "six more are to come");
}

pub async fn burying_moves_at_most_its_limit_and_says_what_is_left<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    stage.several("chat", 12, START).await;
    stage.hold("chat", START).await;
    for n in 0..13 {
        let id = format!("more-{n}");
        stage.one("shop", &id, "chat", after(500)).await;
    }
    stage.several("crm", 3, START).await;
    let mut steps = Vec::new();
    for _ in 0..4 {
        steps.push(stage.bury("chat", REASON, after(9), 10).await);
        let totals = stage.totals().await;
        let planned = totals.dead + totals.waiting + totals.held;
        assert_eq!(planned, 28, "the numbers add up at every moment");
    }
    let expected = [(10, 15), (10, 5), (5, 0), (0, 0)];
    assert_eq!(steps, expected.map(|(done, left)| Moved { done, left }));
    assert_eq!(stage.totals().await.waiting, 3);
}
