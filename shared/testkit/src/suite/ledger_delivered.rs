//! `Ledger::record` of a success: it is kept whenever it comes, wins over every state, and nothing moves it back.
//!
//! Taken to mean: a success that moves the delivery is `First`. One that finds it delivered is `Stale`, and whether
//! the log lists it beside the one that moved it is not asked.

use std::collections::BTreeSet;

use switchboard_core::delivery::{DeathReason, Next, State, Verdict};
use switchboard_core::identity::Run;
use switchboard_core::ports::{Begun, Ledger, Moved, Recorded, Selection};

use super::fixture::Fixture;
use super::sample::{KEEP, MANY, START, after, delivered, destination, hint, plan, rejected};
use super::stage::{Stage, sure};

const DEAD: Next = Next::Dead(DeathReason::AttemptsUsedUp);

pub async fn a_late_success_takes_no_new_number_and_both_are_in_the_log<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let followed = stage.one("shop", "1001", "chat", START).await;
    let first = stage
        .fail(&followed.key, START, Next::Waiting(after(2)))
        .await;
    let success = delivered(&first, START);
    let recorded = stage.record(&first, &success, Next::Delivered).await;
    assert_eq!(recorded, Recorded::First, "it moved the delivery");
    let view = stage.view(&followed).await;
    assert_eq!((view.state, view.due), (State::Delivered, None));
    assert_eq!(view.attempts, 1, "no new number");
    assert_eq!(view.log.len(), 2);
    assert!(view.log.contains(&rejected(&first, START)));
    assert!(view.log.contains(&success));
    let again = stage.record(&first, &success, Next::Delivered).await;
    assert_eq!(again, Recorded::Stale);
    assert_eq!(stage.view(&followed).await, view, "twice is once");
    let begun = stage.begin(&hint(&followed.key, after(2)), after(2)).await;
    assert_eq!(begun, Begun::Drop, "no attempt after a success");
    let totals = stage.totals().await;
    assert_eq!((totals.delivered, totals.waiting), (1, 0));
}

pub async fn a_success_of_an_older_attempt_counts_too<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let followed = stage.one("shop", "1001", "chat", START).await;
    let first = stage
        .fail(&followed.key, START, Next::Waiting(after(2)))
        .await;
    let second = stage
        .fail(&followed.key, after(2), Next::Waiting(after(6)))
        .await;
    let success = delivered(&first, after(1));
    let recorded = stage.record(&first, &success, Next::Delivered).await;
    assert_eq!(recorded, Recorded::First);
    let view = stage.view(&followed).await;
    assert_eq!((view.state, view.attempts), (State::Delivered, 2));
    assert_eq!(view.log.len(), 3);
    let third = stage
        .record(&second, &rejected(&second, after(2)), DEAD)
        .await;
    assert_eq!(third, Recorded::Stale, "it is delivered");
    assert_eq!(stage.state(&followed).await, State::Delivered);
}

pub async fn a_success_wins_over_every_other_state<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let waiting = stage.one("shop", "1", "a", START).await;
    let first = stage
        .fail(&waiting.key, START, Next::Waiting(after(2)))
        .await;
    let dead = stage.one("shop", "2", "b", START).await;
    let second = stage.die(&dead, START).await;
    let buried = stage.one("shop", "3", "c", START).await;
    let third = stage.go(&buried.key, START).await;
    stage
        .bury("c", DeathReason::NoDestination, START, MANY)
        .await;
    let held = stage.one("shop", "4", "d", START).await;
    let fourth = stage.go(&held.key, START).await;
    stage.hold("d", START).await;
    let redriven = stage.one("shop", "5", "e", START).await;
    let fifth = stage.die(&redriven, START).await;
    let of_e = Selection::DeadOf(destination("e"));
    assert_eq!(stage.requeue(&of_e, after(9), MANY).await.done, 1);

    let all = [waiting, dead, buried, held, redriven];
    let states = [
        State::Waiting,
        State::Dead,
        State::Dead,
        State::Held,
        State::Waiting,
    ];
    let attempts = [first, second, third, fourth, fifth];
    for ((followed, attempt), state) in all.iter().zip(attempts).zip(states) {
        assert_eq!(stage.state(followed).await, state);
        let success = delivered(&attempt, after(1));
        let recorded = stage.record(&attempt, &success, Next::Delivered).await;
        assert_eq!(recorded, Recorded::First, "over {state:?}");
        let view = stage.view(followed).await;
        assert_eq!(view.state, State::Delivered, "over {state:?}");
        assert_eq!((view.due, view.reason, view.attempts), (None, None, 1));
        assert!(view.log.contains(&success), "over {state:?}");
    }
    assert_eq!(stage.dead_letters().await, []);
    let totals = stage.totals().await;
    let open = (totals.waiting, totals.held, totals.dead);
    assert_eq!((totals.delivered, open), (5, (0, 0, 0)));
}

pub async fn nothing_moves_a_delivered_one_back<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let followed = stage.one("shop", "1001", "chat", START).await;
    stage
        .fail(&followed.key, START, Next::Waiting(after(2)))
        .await;
    let mut attempt = stage.deliver(&followed, after(2)).await;
    let before = stage.view(&followed).await;

    attempt.number += 1;
    attempt.in_round += 1;
    for next in [Next::Waiting(after(9)), DEAD] {
        let failure = rejected(&attempt, after(5));
        let recorded = stage.record(&attempt, &failure, next).await;
        assert_eq!(recorded, Recorded::Stale, "a further failure");
    }
    let chat = destination("chat");
    let nothing = Moved::default();
    assert_eq!(stage.hold("chat", after(9)).await, nothing);
    let reason = DeathReason::NoDestination;
    assert_eq!(stage.bury("chat", reason, after(9), MANY).await, nothing);
    for selection in [
        Selection::AllDead,
        Selection::DeadOf(chat),
        Selection::Dead(vec![followed.key.id.clone()]),
    ] {
        let moved = stage.requeue(&selection, after(9), MANY).await;
        assert_eq!(moved, nothing, "{selection:?}");
    }
    stage.let_go("chat").await;
    assert_eq!(stage.release("chat", after(9), MANY).await, nothing);
    assert_eq!(stage.recover(after(9), MANY).await, nothing);
    let run = plan(&followed.event, Run(0), &["chat"], after(9));
    assert!(stage.replay(&followed.event.id, Run(0), &run).await);
    stage.accept(&followed.event, &run).await;
    assert_eq!(stage.view(&followed).await, before);
    assert_eq!(stage.totals().await.delivered, 1);
}

pub async fn failures_and_successes_at_once_end_delivered<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    for round in 0..5 {
        let followed = stage.one("shop", &round.to_string(), "chat", START).await;
        let attempt = stage.go(&followed.key, START).await;
        let answers = stage
            .at_once(20, move |backend, n| {
                let attempt = attempt.clone();
                async move {
                    let (record, next) = if n.is_multiple_of(2) {
                        (rejected(&attempt, START), Next::Waiting(after(2)))
                    } else {
                        (delivered(&attempt, START), Next::Delivered)
                    };
                    sure(backend.record(&attempt, &record, next, KEEP).await)
                }
            })
            .await;
        let firsts = answers.iter().filter(|a| **a == Recorded::First).count();
        assert!((1..=2).contains(&firsts), "a failure and a success at most");
        let view = stage.view(&followed).await;
        assert_eq!((view.state, view.attempts), (State::Delivered, 1));
        let verdicts: BTreeSet<_> = view
            .log
            .iter()
            .map(|r| r.outcome == Verdict::Delivered)
            .collect();
        assert!(verdicts.contains(&true), "the success is in the log");
        assert_eq!(view.log.len(), firsts, "what moved it, each once");
    }
    let totals = stage.totals().await;
    assert_eq!((totals.delivered, totals.waiting), (5, 0));
}
