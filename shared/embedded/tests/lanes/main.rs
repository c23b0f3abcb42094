//! Lanes over a real store and a transport that answers as it is told.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod failing;
mod places;
mod setting;

use std::sync::atomic::Ordering;
use std::time::Duration;

use switchboard_core::delivery::State;
use switchboard_core::endpoint::Change;
use switchboard_core::ports::{Ledger, Selection, SettingsStore, Spread};
use switchboard_core::time::Clock;
use tokio::time::timeout;

use setting::{
    CONFIGURATION, Does, Told, break_off_before_records, configured, name, release, run,
    run_recovering,
};

#[tokio::test]
async fn a_failing_delivery_gets_six_attempts_and_then_waits_for_a_redrive() {
    let folder = tempfile::tempdir().expect("a folder");
    let running = run(
        folder.path(),
        &configured(CONFIGURATION),
        &Told::new(&[("bad", Does::Answer(500))]),
    );
    let event = running.accept("1", &["bad"]).await;
    running.until("it is dead", |totals| totals.dead == 1).await;
    assert_eq!(
        running.told.requests_to("bad"),
        ["1", "2", "3", "4", "5", "6"]
    );
    let spread = Spread {
        start: running.clock.now(),
        per_second: 10,
    };
    running
        .store
        .requeue(&Selection::AllDead, spread, 10)
        .await
        .expect("requeued");
    running
        .until("it is dead again", |totals| totals.dead == 1)
        .await;
    running.told.tell("bad", Does::Answer(204));
    running
        .store
        .requeue(&Selection::AllDead, spread, 10)
        .await
        .expect("requeued");
    running
        .until("it is delivered", |totals| totals.delivered == 1)
        .await;
    assert_eq!(running.told.requests_to("bad").len(), 13);
    let delivery = running.delivery(&event).await;
    assert_eq!(
        (delivery.state, delivery.attempts, delivery.log.len()),
        (State::Delivered, 13, 12)
    );
    running.end().await;
}

#[tokio::test]
async fn a_slow_destination_fills_only_its_own_lane() {
    let folder = tempfile::tempdir().expect("a folder");
    let running = run(
        folder.path(),
        &configured(CONFIGURATION),
        &Told::new(&[("bad", Does::Wait)]),
    );
    for n in 0..20 {
        running.accept(&n.to_string(), &["bad", "good"]).await;
    }
    running
        .until("the good one has all", |totals| totals.delivered == 20)
        .await;
    assert_eq!(
        running.told.requests_to("bad").len(),
        2,
        "no more under way than its limit"
    );
    running.told.0.gate.add_permits(100);
    running
        .until("the slow one has all", |totals| totals.delivered == 40)
        .await;
    running.end().await;
}

#[tokio::test]
async fn a_release_that_was_cut_is_finished_without_a_restart() {
    let folder = tempfile::tempdir().expect("a folder");
    let running = run(folder.path(), &configured(CONFIGURATION), &Told::new(&[]));
    let hold = Change::Hold(name("good"));
    running.store.change(hold).await.expect("held");
    running.accept("1", &["good"]).await;
    running.until("it is held", |totals| totals.held == 1).await;
    let release = release("good");
    running.store.change(release).await.expect("released");
    running
        .until("it is delivered", |totals| totals.delivered == 1)
        .await;
    running.end().await;
}

#[tokio::test]
async fn a_lane_holds_no_more_bodies_than_there_is_room_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let told = Told::new(&[("good", Does::Wait)]);
    let running = run(folder.path(), &configured(CONFIGURATION), &told);
    let large = bytes::Bytes::from(vec![b'x'; 20 * 1024 * 1024]);
    for n in 0..3 {
        running
            .accept_body(&n.to_string(), &["good"], large.clone())
            .await;
    }
    running.accept("other", &["bad"]).await;
    running
        .until("the first is under way", |totals| {
            totals.delivered == 1 && told.requests_to("good").len() == 1
        })
        .await;
    // Another turn of the lane finds the same: no room.
    running.accept("another", &["good"]).await;
    assert_eq!(told.requests_to("good").len(), 1, "one at a time");
    told.0.gate.add_permits(100);
    running
        .until("all are delivered", |totals| totals.delivered == 5)
        .await;
    running.end().await;
}

#[tokio::test]
async fn what_is_under_way_at_the_end_is_finished_and_the_rest_is_due_at_the_next_start() {
    let folder = tempfile::tempdir().expect("a folder");
    let told = Told::new(&[("bad", Does::Wait)]);
    let running = run(folder.path(), &configured(CONFIGURATION), &told);
    for n in 0..5 {
        running.accept(&n.to_string(), &["bad"]).await;
    }
    running.told.until_requests("bad", 2).await;
    running.stop.send_replace(true);
    told.0.gate.add_permits(100);
    running.end().await;
    let running = run(folder.path(), &configured(CONFIGURATION), &told);
    let totals = running
        .until("all are delivered", |totals| totals.delivered == 5)
        .await;
    assert_eq!(totals.waiting, 0);
    assert_eq!(told.requests_to("bad").len(), 5, "none was made twice");
    running.end().await;
}

#[tokio::test]
async fn a_held_destination_gets_nothing_until_it_is_released() {
    let folder = tempfile::tempdir().expect("a folder");
    let told = Told::new(&[]);
    let running = run(folder.path(), &configured(CONFIGURATION), &told);
    running
        .store
        .change(Change::Hold(name("good")))
        .await
        .expect("held");
    running.accept("1", &["good"]).await;
    running.accept("2", &["good", "bad"]).await;
    running
        .until("two are held", |totals| {
            totals.held == 2 && totals.delivered == 1
        })
        .await;
    assert_eq!(told.requests_to("good").len(), 0);
    // The process dies between the two halves of a release: the next start finishes it.
    running
        .store
        .change(release("good"))
        .await
        .expect("released");
    running.end().await;
    let running = run(folder.path(), &configured(CONFIGURATION), &told);
    running
        .until("both are delivered", |totals| {
            totals.delivered == 3 && totals.held == 0
        })
        .await;
    running.end().await;
}

#[tokio::test]
async fn without_a_destination_a_delivery_is_buried_and_goes_when_there_is_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let told = Told::new(&[("bad", Does::Close)]);
    let without = CONFIGURATION.replace("name = \"bad\"", "name = \"other\"");
    let running = run(folder.path(), &configured(&without), &told);
    let event = running.accept("1", &["bad"]).await;
    running.until("it is dead", |totals| totals.dead == 1).await;
    assert_eq!(
        running.delivery(&event).await.reason.as_deref(),
        Some("no such destination")
    );
    let copy = running.accept("2", &["your-endpoint"]).await;
    running
        .until("the copy is dead", |totals| totals.dead == 2)
        .await;
    assert_eq!(
        running.delivery(&copy).await.reason.as_deref(),
        Some("your endpoint is not set")
    );
    assert!(told.requests_to("bad").is_empty());
    running.end().await;
    told.tell("bad", Does::Answer(200));
    let running = run(folder.path(), &configured(CONFIGURATION), &told);
    let spread = Spread {
        start: running.clock.now(),
        per_second: 10,
    };
    running
        .store
        .requeue(&Selection::DeadOf(name("bad")), spread, 10)
        .await
        .expect("requeued");
    running
        .until("it is delivered", |totals| totals.delivered == 1)
        .await;
    running.end().await;
}

#[tokio::test]
async fn an_attempt_that_breaks_our_own_code_ends_as_a_dead_letter() {
    let folder = tempfile::tempdir().expect("a folder");
    let running = run(
        folder.path(),
        &configured(CONFIGURATION),
        &Told::new(&[("bad", Does::Panic)]),
    );
    running.accept("1", &["bad"]).await;
    running.accept("2", &["good"]).await;
    running
        .until("one is dead, one delivered", |totals| {
            totals.dead == 1 && totals.delivered == 1
        })
        .await;
    assert_eq!(running.told.requests_to("bad").len(), 6);
    running.end().await;
}

#[tokio::test]
async fn of_ten_attempts_one_that_breaks_our_own_code_is_made_again_and_the_others_are_not() {
    let folder = tempfile::tempdir().expect("a folder");
    let told = Told::new(&[("bad", Does::PanicAt(5))]);
    let running = run(folder.path(), &configured(CONFIGURATION), &told);
    for n in 0..10 {
        running.accept(&n.to_string(), &["bad"]).await;
    }
    let totals = running
        .until("all are delivered", |totals| totals.delivered == 10)
        .await;
    assert_eq!((totals.dead, totals.waiting), (0, 0));
    let mut attempts = told.requests_to("bad");
    attempts.sort();
    let due = [&["1"; 10][..], &["2"]].concat();
    assert_eq!(attempts, due, "nine had one attempt each, and one had two");
    running.end().await;
}

#[tokio::test]
async fn an_attempt_that_breaks_off_before_it_is_recorded_is_made_again_while_others_are_under_way()
{
    let folder = tempfile::tempdir().expect("a folder");
    let told = Told::new(&[("bad", Does::Wait)]);
    let running = run(folder.path(), &configured(CONFIGURATION), &told);
    break_off_before_records(1);
    // Two such bodies are more than a lane holds: the first must not count any more.
    let large = bytes::Bytes::from(vec![b'x'; 20 * 1024 * 1024]);
    running.accept_body("1", &["bad"], large).await;
    running.accept("2", &["bad"]).await;
    running.until_requests("bad", 2).await;
    let before = running.clock.now();
    running.told.0.gate.add_permits(1);
    running.until_requests("bad", 3).await;
    let rest = running.clock.now().since(before);
    assert!(rest >= Duration::from_secs(1), "not at once: {rest:?}");
    let totals = running.until("it is read", |_| true).await;
    assert_eq!(totals.waiting, 2, "the other one is under way all the time");
    running.told.0.gate.add_permits(2);
    running
        .until("both are delivered", |totals| totals.delivered == 2)
        .await;
    assert_eq!(running.told.requests_to("bad"), ["1"; 3]);
    running.end().await;
}

#[tokio::test]
async fn of_a_busy_lane_every_attempt_that_breaks_off_is_made_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let told = Told::new(&[]);
    let running = run(folder.path(), &configured(CONFIGURATION), &told);
    break_off_before_records(20);
    for n in 0..200 {
        running.accept(&n.to_string(), &["good"]).await;
    }
    running
        .until("all are delivered", |totals| totals.delivered == 200)
        .await;
    assert_eq!(told.requests_to("good"), ["1"; 220]);
    running.end().await;
}

#[tokio::test]
async fn a_lane_that_breaks_off_is_started_again() {
    let folder = tempfile::tempdir().expect("a folder");
    // Nothing but lanes looks at the clock: what recovers does not break off, and the lanes with it.
    let never = Duration::from_hours(1);
    let told = Told::new(&[]);
    let running = run_recovering(folder.path(), &configured(CONFIGURATION), &told, never);
    running.accept("1", &["good", "bad"]).await;
    running
        .until("both lanes run", |totals| totals.delivered == 2)
        .await;
    // A change rings for all three lanes, and each looks at the clock as it begins its turn.
    running.clock.breaks.store(3, Ordering::SeqCst);
    running
        .store
        .change(release("good"))
        .await
        .expect("a change");
    let broken = async {
        while running.clock.breaks.load(Ordering::SeqCst) > 0 {
            let _ = timeout(Duration::from_millis(5), std::future::pending::<()>()).await;
        }
    };
    timeout(Duration::from_secs(20), broken)
        .await
        .expect("they break off");
    running.accept("2", &["good", "bad"]).await;
    running
        .until("both lanes run again", |totals| totals.delivered == 4)
        .await;
    running.end().await;
}
