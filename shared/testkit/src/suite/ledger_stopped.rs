//! Every step of the ledger, given up half-way and called again: together they are the step once.
//!
//! The first call is dropped after it has waited one, two or three times; what of it stands by then is the backend's
//! own. The second has the same arguments, and after it the step is complete and counted once.

use switchboard_core::delivery::{DeathReason, Next, State};
use switchboard_core::endpoint::Change;
use switchboard_core::identity::Run;
use switchboard_core::ports::{Accepted, Journal, Ledger, Note, Selection, SettingsStore, Spread};

use super::fixture::Fixture;
use super::sample::{
    KEEP, MANY, START, after, delivered, destination, event, just_after, plan, rejected, source,
};
use super::stage::{Stage, stopped, sure};

const WAITS: [u32; 3] = [1, 2, 3];

fn spread() -> Spread {
    Spread {
        start: after(9),
        per_second: 10,
    }
}

pub async fn an_accept_given_up_and_called_again_stores_once<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    for waits in WAITS {
        let event = event("shop", &waits.to_string(), START);
        let plan = plan(&event, Run(0), &["a", "b", "c"], START);
        let first = stopped(stage.backend().accept(&event, &plan, KEEP), waits).await;
        let second = stage.accept(&event, &plan).await;
        if first.is_some() {
            assert_ne!(second, Accepted::New, "the first call was answered");
        }
        assert_eq!(stage.stored(&event.id).await.deliveries.len(), 3);
        for queued in &plan {
            stage.go(&queued.key, START).await;
        }
    }
    let totals = stage.totals().await;
    assert_eq!((totals.stored, totals.waiting), (3, 9));
    assert_eq!(totals.received, totals.stored + totals.repeats);
}

pub async fn a_record_given_up_and_called_again_is_kept_once<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    for waits in WAITS {
        for (to, next, state) in [
            ("a", Next::Waiting(after(2)), State::Waiting),
            ("b", Next::Dead(DeathReason::AttemptsUsedUp), State::Dead),
            ("c", Next::Delivered, State::Delivered),
        ] {
            let id = format!("{to}-{waits}");
            let followed = stage.one("shop", &id, to, START).await;
            let attempt = stage.go(&followed.key, START).await;
            let record = match next {
                Next::Delivered => delivered(&attempt, START),
                Next::Waiting(_) | Next::Dead(_) => rejected(&attempt, START),
            };
            let call = stage.backend().record(&attempt, &record, next, KEEP);
            stopped(call, waits).await;
            stage.record(&attempt, &record, next).await;
            let view = stage.view(&followed).await;
            assert_eq!((view.state, view.attempts), (state, 1));
            assert_eq!(view.log, [record]);
        }
    }
    let totals = stage.totals().await;
    assert_eq!((totals.waiting, totals.dead, totals.delivered), (3, 3, 3));
}

pub async fn a_requeue_given_up_and_called_again_loses_nothing<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    for waits in WAITS {
        let to = format!("dead-{waits}");
        let dead = stage.several_dead(&to, 20, START).await;
        let of = Selection::DeadOf(destination(&to));
        stopped(stage.backend().requeue(&of, spread(), MANY), waits).await;
        let moved = sure(stage.backend().requeue(&of, spread(), MANY).await);
        assert_eq!(moved.left, 0);
        assert_eq!(stage.in_state(&dead, State::Waiting).await, 20);

        let to = format!("held-{waits}");
        let held = stage.several(&to, 20, START).await;
        stage.hold(&to, START).await;
        stage.let_go(&to).await;
        let of = destination(&to);
        stopped(stage.backend().release(&of, after(9), MANY), waits).await;
        assert_eq!(stage.release(&to, after(9), MANY).await.left, 0);
        assert_eq!(stage.in_state(&held, State::Waiting).await, 20);
    }
    let totals = stage.totals().await;
    assert_eq!((totals.waiting, totals.dead, totals.held), (120, 0, 0));
}

pub async fn shelving_and_recovery_given_up_and_called_again_lose_nothing<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    for waits in WAITS {
        let to = destination(&format!("chat-{waits}"));
        let all = stage.several(to.as_str(), 20, START).await;
        stage.change(Change::Hold(to.clone())).await;
        let call = stage.backend().shelve(&to, START, KEEP, MANY);
        stopped(call, waits).await;
        assert_eq!(stage.shelve(to.as_str(), START, MANY).await.left, 0);
        assert_eq!(stage.in_state(&all, State::Held).await, 20);
        assert_eq!(stage.totals().await.held, 20);

        stage.let_go(to.as_str()).await;
        stopped(stage.backend().recover(after(9), MANY), waits).await;
        assert_eq!(stage.recover(after(9), MANY).await.left, 0);
        assert_eq!(stage.in_state(&all, State::Waiting).await, 20);
    }
    let totals = stage.totals().await;
    assert_eq!((totals.waiting, totals.held), (60, 0));
}

pub async fn a_burial_given_up_and_called_again_buries_once<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let reason = DeathReason::NoDestination;
    for waits in WAITS {
        let to = destination(&format!("chat-{waits}"));
        let all = stage.several(to.as_str(), 20, START).await;
        let call = stage.backend().bury(&to, reason, after(9), KEEP, MANY);
        stopped(call, waits).await;
        let moved = stage.bury(to.as_str(), reason, after(9), MANY).await;
        assert_eq!(moved.left, 0);
        assert_eq!(stage.in_state(&all, State::Dead).await, 20);
    }
    assert_eq!(stage.totals().await.dead, 60);
    assert_eq!(stage.dead_letters().await.len(), 60);
}

pub async fn a_replay_given_up_and_called_again_is_stored_once<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let followed = stage.one("shop", "1001", "chat", START).await;
    let id = &followed.event.id;
    for waits in WAITS {
        let run = Run(waits);
        let plan = plan(&followed.event, run, &["a", "b"], after(9));
        stopped(stage.backend().replay(id, run, &plan), waits).await;
        assert!(stage.replay(id, run, &plan).await);
        for queued in &plan {
            stage.go(&queued.key, after(9)).await;
        }
    }
    assert_eq!(stage.stored(id).await.deliveries.len(), 7);
    assert_eq!(stage.totals().await.waiting, 7);
}

pub async fn expiry_given_up_and_called_again_takes_only_what_may_go<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let past = just_after(KEEP.until(START));
    for waits in WAITS {
        let to = format!("chat-{waits}");
        let all = stage.several(&to, 10, START).await;
        for followed in all.iter().skip(3) {
            stage.deliver(followed, START).await;
        }
        stopped(stage.backend().expire(past, MANY), waits).await;
        stage.expire(past, MANY).await;
        for (n, followed) in all.iter().enumerate() {
            let stays = stage.event(&followed.event.id).await.is_some();
            assert_eq!(stays, n < 3, "{n}");
        }
    }
    let totals = stage.totals().await;
    assert_eq!(
        (totals.stored, totals.delivered, totals.waiting),
        (30, 21, 9)
    );
}

pub async fn a_change_given_up_and_called_again_is_made_once<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    for waits in WAITS {
        let change = Change::Hold(destination(&format!("chat-{waits}")));
        stopped(stage.backend().change(change.clone()), waits).await;
        let held = stage.change(change).await.held.len();
        assert_eq!(held, waits as usize);
    }
}

/// A note has no key of its own: one that was given up and made again counts once or twice.
pub async fn a_note_given_up_breaks_nothing<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let note = || Note::Refused {
        source: source("shop"),
        listed: None,
    };
    for waits in WAITS {
        stopped(stage.backend().note(START, note()), waits).await;
        stage.note(START, note()).await;
    }
    let refused = stage.totals().await.refused;
    assert!((3..=6).contains(&refused), "{refused}");
}
