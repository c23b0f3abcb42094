//! The use cases of operators, step by step.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use switchboard_core::address::Networks;
use switchboard_core::endpoint::{Change, KEY_BYTES, OVERLAP, Settings, fresh_secret};
use switchboard_core::names::DestinationName;
use switchboard_core::operate::{BUDGET, OperateError, Operator, PER_SECOND, Redrive, STEP};
use switchboard_core::ports::{Moved, Spread};
use switchboard_core::time::Timestamp;
use switchboard_testkit::clock::HandClock;

use crate::desk::{NOW, configuration, delivery_id, destination};
use crate::fake::{Call, Fake, Shown};

fn operator() -> (Operator<Fake>, Arc<Fake>) {
    let fake = Arc::new(Fake::new(Shown::default()));
    let operator = Operator::new(
        configuration(""),
        Arc::clone(&fake),
        Arc::new(HandClock::at(NOW)),
    );
    (operator, fake)
}

fn add_dead(fake: &Fake, count: u32) {
    let mut dead = fake.dead.lock().expect("dead");
    dead.extend((0..count).map(|n| (delivery_id(n), destination("accounting"))));
}

/// Starts and limits of the requeueing steps.
fn steps(fake: &Fake) -> Vec<(Timestamp, u32, u32)> {
    let calls = fake.calls();
    calls
        .iter()
        .filter_map(|call| match call {
            Call::Requeue(_, Spread { start, per_second }, limit) => {
                Some((*start, *per_second, *limit))
            }
            Call::Release(..)
            | Call::Bury(..)
            | Call::Change(_)
            | Call::Events(..)
            | Call::List(_)
            | Call::DeadLetters(..)
            | Call::Replay(..)
            | Call::Stored
            | Call::Overview
            | Call::Recent(_)
            | Call::Ready => None,
        })
        .collect()
}

fn after(seconds: u64) -> Timestamp {
    NOW.plus(std::time::Duration::from_secs(seconds))
}

#[tokio::test]
async fn the_starts_of_a_redrive_run_on_over_its_steps() {
    let (operator, fake) = operator();
    add_dead(&fake, 2 * STEP + 200);
    let moved = operator
        .redrive(Redrive::All, PER_SECOND)
        .await
        .expect("redriven");
    assert_eq!(
        moved,
        Moved {
            done: 1200,
            left: 0
        }
    );
    assert_eq!(
        steps(&fake),
        [
            (NOW, PER_SECOND, STEP),
            (after(10), PER_SECOND, STEP),
            (after(20), PER_SECOND, 200),
        ],
        "500 at 50 a second take 10 seconds"
    );
}

#[tokio::test]
async fn a_redrive_stops_at_its_budget_and_tells_what_is_left() {
    let (operator, fake) = operator();
    add_dead(&fake, BUDGET + 30);
    let moved = operator
        .redrive(Redrive::All, PER_SECOND)
        .await
        .expect("redriven");
    assert_eq!(
        moved,
        Moved {
            done: BUDGET,
            left: 30
        }
    );
    assert_eq!(steps(&fake).len(), 20, "no step is asked for nothing");
    let moved = operator
        .redrive(Redrive::All, PER_SECOND)
        .await
        .expect("redriven");
    assert_eq!(
        moved,
        Moved { done: 30, left: 0 },
        "the next call moves the rest"
    );
}

#[tokio::test]
async fn a_redrive_cut_by_the_store_tells_what_moved_for_certain() {
    let (operator, fake) = operator();
    add_dead(&fake, 1200);
    fake.works_for.store(2, Ordering::SeqCst);
    let error = operator
        .redrive(Redrive::All, PER_SECOND)
        .await
        .expect_err("cut");
    assert!(
        matches!(error, OperateError::Interrupted { done: 1000, .. }),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_release_changes_the_settings_before_anything_is_put_back() {
    let (operator, fake) = operator();
    fake.held.lock().expect("held").push(destination("crm"));
    operator.hold(destination("crm")).await.expect("held");
    let moved = operator
        .release(destination("crm"), 7)
        .await
        .expect("released");
    assert_eq!(moved, Moved { done: 1, left: 0 });
    let spread = Spread {
        start: NOW,
        per_second: 7,
    };
    assert_eq!(
        fake.calls(),
        [
            Call::Change(Change::Hold(destination("crm"))),
            Call::Change(Change::Release(destination("crm"), spread)),
            Call::Release(destination("crm"), NOW, STEP),
        ]
    );
}

#[tokio::test]
async fn what_is_held_and_configured_no_more_can_be_released_and_what_never_was_cannot() {
    let (operator, fake) = operator();
    let gone = destination("gone");
    let unknown = operator.release(gone.clone(), 7).await;
    let is_unknown = matches!(unknown, Err(OperateError::UnknownDestination(_)));
    assert!(is_unknown, "{unknown:?}");
    assert_eq!(fake.calls(), [], "nothing changed");
    let held = Settings {
        held: [gone.clone()].into(),
        ..Settings::default()
    };
    *fake.settings.lock().expect("settings") = Arc::new(held);
    fake.held.lock().expect("held").push(gone.clone());
    let moved = operator.release(gone.clone(), 7).await;
    assert_eq!(moved.expect("released"), Moved { done: 1, left: 0 });
    assert!(fake.settings.lock().expect("settings").held.is_empty());
    let again = operator.hold(gone).await;
    let is_unknown = matches!(again, Err(OperateError::UnknownDestination(_)));
    assert!(is_unknown, "{again:?}");
}

#[tokio::test]
async fn a_release_stops_at_its_budget_and_what_is_left_goes_as_fast() {
    let (operator, fake) = operator();
    let held = vec![destination("crm"); (BUDGET + 30) as usize];
    *fake.held.lock().expect("held") = held;
    let spread = Spread {
        start: NOW,
        per_second: 1,
    };
    for (done, left) in [(BUDGET, 30), (30, 0)] {
        let moved = operator.release(destination("crm"), 1).await;
        assert_eq!(moved.expect("released"), Moved { done, left });
    }
    let change = Call::Change(Change::Release(destination("crm"), spread));
    let calls = fake.calls();
    let (changes, steps): (Vec<_>, Vec<_>) = calls.into_iter().partition(|call| *call == change);
    assert_eq!(changes.len(), 2, "how fast is stored before anything moves");
    let step = Call::Release(destination("crm"), NOW, STEP);
    assert_eq!(steps, vec![step; 21], "no step is asked to go faster");
}

#[tokio::test]
async fn a_release_cut_after_its_first_step_leaves_the_destination_released() {
    let (operator, fake) = operator();
    fake.held.lock().expect("held").push(destination("crm"));
    operator.hold(destination("crm")).await.expect("held");
    fake.works_for.store(1, Ordering::SeqCst);
    let cut = operator.release(destination("crm"), 7).await;
    assert!(
        matches!(cut, Err(OperateError::Interrupted { done: 0, .. })),
        "{cut:?}"
    );
    assert!(fake.settings.lock().expect("settings").held.is_empty());
    fake.works_for.store(u32::MAX, Ordering::SeqCst);
    let moved = operator
        .release(destination("crm"), 7)
        .await
        .expect("released");
    assert_eq!(moved.done, 1, "the same call completes it");
}

#[tokio::test]
async fn an_address_is_judged_by_the_configured_networks() {
    let (operator, fake) = operator();
    assert_eq!(configuration("").networks, Networks::Public);
    let inside = operator
        .set_endpoint("http://10.0.0.1/", &[1; KEY_BYTES])
        .await;
    assert!(
        matches!(inside, Err(OperateError::Address(_))),
        "{inside:?}"
    );
    assert_eq!(fake.calls(), []);
    let operator = Operator::new(
        configuration("allow_private_networks = true"),
        Arc::clone(&fake),
        Arc::new(HandClock::at(NOW)),
    );
    let inside = operator
        .set_endpoint("http://10.0.0.1/", &[1; KEY_BYTES])
        .await;
    assert_eq!(inside.expect("set").secret, fresh_secret(&[1; KEY_BYTES]));
}

#[tokio::test]
async fn a_rotation_keeps_the_former_secret_signing_for_the_overlap() {
    let (operator, fake) = operator();
    let url = "https://yours.example/";
    operator
        .set_endpoint(url, &[1; KEY_BYTES])
        .await
        .expect("set");
    let fresh = operator
        .rotate_endpoint(&[2; KEY_BYTES])
        .await
        .expect("rotated");
    assert_eq!(Some(fresh), fresh_secret(&[2; KEY_BYTES]));
    let settings = fake.settings.lock().expect("settings").clone();
    let former = settings.endpoint.as_ref().map(|of| of.former.clone());
    let expected = fresh_secret(&[1; KEY_BYTES]).map(|old| vec![(old, NOW.plus(OVERLAP))]);
    assert_eq!(former, expected);
}

#[tokio::test]
async fn clearing_your_endpoint_first_stops_new_copies_then_ends_the_open_ones() {
    let (operator, fake) = operator();
    fake.copies.store(STEP + 1, Ordering::SeqCst);
    let moved = operator.clear_endpoint().await.expect("cleared");
    assert_eq!(
        moved,
        Moved {
            done: STEP + 1,
            left: 0
        }
    );
    let yours = DestinationName::your_endpoint();
    assert_eq!(
        fake.calls(),
        [
            Call::Change(Change::ClearEndpoint),
            Call::Bury(yours.clone(), STEP),
            Call::Bury(yours, 1),
        ]
    );
}
