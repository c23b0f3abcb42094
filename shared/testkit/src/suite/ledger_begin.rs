//! `Ledger::begin`: a hint becomes an attempt only when it is right and its time has come.
//!
//! Taken to mean: a delivery is due at its due time itself. A hint made for another due time is dropped also when
//! that time has not come. Whether a destination is held by the settings is the caller's to ask.

use switchboard_core::attempt::Attempt;
use switchboard_core::delivery::{DeathReason, Next, State};
use switchboard_core::identity::Run;
use switchboard_core::ports::{Begun, Selection};
use switchboard_core::time::Timestamp;

use super::fixture::Fixture;
use super::sample::{START, after, event, hint, queued};
use super::stage::Stage;

fn milli_before(moment: Timestamp) -> Timestamp {
    Timestamp::from_millis(moment.millis() - 1)
}

pub async fn a_due_delivery_may_be_attempted<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let followed = stage.one("shop", "1001", "chat", after(5)).await;
    let expected = Attempt {
        key: followed.key.clone(),
        event: std::sync::Arc::new(followed.event.clone()),
        number: 1,
        in_round: 1,
    };
    for now in [after(5), after(6), after(86_400)] {
        let begun = stage.begin(&hint(&followed.key, after(5)), now).await;
        assert_eq!(begun, Begun::Go(Box::new(expected.clone())), "{now}");
    }
}

pub async fn before_its_due_time_it_is_later<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let due = Timestamp::from_millis(START.millis() + 1_777);
    let followed = stage.one("shop", "1001", "chat", due).await;
    for now in [START, milli_before(due)] {
        let begun = stage.begin(&hint(&followed.key, due), now).await;
        assert_eq!(begun, Begun::Later(due), "not before {due}, at {now}");
    }
}

pub async fn a_hint_for_another_due_time_is_dropped<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let due = after(5);
    let followed = stage.one("shop", "1001", "chat", due).await;
    for other in [
        after(4),
        milli_before(due),
        due.plus(std::time::Duration::from_millis(1)),
        after(9),
    ] {
        for now in [START, due, after(60)] {
            let begun = stage.begin(&hint(&followed.key, other), now).await;
            assert_eq!(begun, Begun::Drop, "for {other}, at {now}");
        }
    }
}

pub async fn a_hint_for_an_unknown_delivery_is_dropped<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let followed = stage.one("shop", "1001", "chat", START).await;
    let of_no_event = queued(
        &event("shop", "1002", START),
        "chat",
        "deliver",
        Run(0),
        START,
    );
    let of_no_plan = queued(&followed.event, "crm", "deliver", Run(0), START);
    let of_no_run = queued(&followed.event, "chat", "deliver", Run(1), START);
    for unknown in [of_no_event, of_no_plan, of_no_run] {
        let begun = stage.begin(&hint(&unknown.key, START), after(1)).await;
        assert_eq!(begun, Begun::Drop);
    }
}

pub async fn a_hint_for_a_delivery_that_does_not_wait_is_dropped<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let delivered = stage.one("shop", "1", "a", START).await;
    stage.deliver(&delivered, START).await;
    let dead = stage.one("shop", "2", "b", START).await;
    stage.die(&dead, START).await;
    let buried = stage.one("shop", "3", "c", START).await;
    stage.bury("c", DeathReason::NoDestination, START, 9).await;
    let held = stage.one("shop", "4", "d", START).await;
    stage.hold("d", START).await;
    for (followed, state) in [
        (delivered, State::Delivered),
        (dead, State::Dead),
        (buried, State::Dead),
        (held, State::Held),
    ] {
        assert_eq!(stage.state(&followed).await, state);
        let begun = stage.begin(&hint(&followed.key, START), after(60)).await;
        assert_eq!(begun, Begun::Drop, "{state:?}");
    }
}

pub async fn numbers_run_on_over_failures_and_old_hints_are_dropped<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let followed = stage.one("shop", "1001", "chat", START).await;
    let dues = [0, 2, 6, 14, 30, 62].map(after);
    for (number, window) in (1..).zip(dues.windows(2)) {
        let [due, next] = window else {
            panic!("two moments");
        };
        let attempt = stage.fail(&followed.key, *due, Next::Waiting(*next)).await;
        assert_eq!((attempt.number, attempt.in_round), (number, number));
        let begun = stage.begin(&hint(&followed.key, *due), *next).await;
        assert_eq!(begun, Begun::Drop, "the hint of attempt {number}");
        let begun = stage.begin(&hint(&followed.key, *next), *due).await;
        assert_eq!(begun, Begun::Later(*next), "after attempt {number}");
    }
    let sixth = stage.go(&followed.key, after(62)).await;
    assert_eq!((sixth.number, sixth.in_round), (6, 6));
}

pub async fn after_a_redrive_numbers_run_on_and_the_round_begins_anew<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let followed = stage.one("shop", "1001", "chat", START).await;
    stage.use_up(&followed, START).await;
    let moved = stage.requeue(&Selection::AllDead, after(100), 9).await;
    assert_eq!((moved.done, moved.left), (1, 0));
    let seventh = stage.go(&followed.key, after(100)).await;
    assert_eq!((seventh.number, seventh.in_round), (7, 1));
    assert_eq!(seventh.key, followed.key, "the same idempotency key");
    let old = stage.begin(&hint(&followed.key, START), after(100)).await;
    assert_eq!(old, Begun::Drop, "the first hint");
    stage
        .fail(&followed.key, after(100), Next::Waiting(after(102)))
        .await;
    let eighth = stage.go(&followed.key, after(102)).await;
    assert_eq!((eighth.number, eighth.in_round), (8, 2));
}

pub async fn after_a_release_numbers_and_round_run_on<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let followed = stage.one("shop", "1001", "chat", START).await;
    stage
        .fail(&followed.key, START, Next::Waiting(after(2)))
        .await;
    stage
        .fail(&followed.key, after(2), Next::Waiting(after(6)))
        .await;
    assert_eq!(stage.hold("chat", after(6)).await.done, 1);
    stage.let_go("chat").await;
    assert_eq!(stage.release("chat", after(50), 9).await.done, 1);
    let begun = stage.begin(&hint(&followed.key, after(6)), after(50)).await;
    assert_eq!(begun, Begun::Drop, "the hint from before the hold");
    let third = stage.go(&followed.key, after(50)).await;
    assert_eq!((third.number, third.in_round), (3, 3));
}

pub async fn beginning_changes_nothing<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let followed = stage.one("shop", "1001", "chat", START).await;
    stage
        .fail(&followed.key, START, Next::Waiting(after(2)))
        .await;
    let before = (
        stage.stored(&followed.event.id).await,
        stage.overview().await,
    );
    let first = stage.go(&followed.key, after(2)).await;
    for _ in 0..10 {
        assert_eq!(stage.go(&followed.key, after(2)).await, first);
        stage.begin(&hint(&followed.key, START), after(2)).await;
        stage.begin(&hint(&followed.key, after(2)), START).await;
    }
    let now = (
        stage.stored(&followed.event.id).await,
        stage.overview().await,
    );
    assert_eq!(now, before);
}
