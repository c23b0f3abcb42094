//! Batches over a desk, a queue and destinations in memory.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::time::timeout;

use crate::hint::BESIDE;
use fakes::{Begin, NOW, setting};

mod configuration;
mod ends;
mod fakes;
mod means;

/// Far longer than anything here takes.
const DEADLINE: Duration = Duration::from_secs(20);
/// What an attempt with the usual time limit may take.
const ATTEMPT: Duration = Duration::from_secs(3).saturating_add(BESIDE);

/// Whether all pauses are at most a fifth longer or shorter than so many seconds.
fn is_within(pauses: &[f64], seconds: f64) -> bool {
    let range = seconds * 0.8..=seconds * 1.2;
    !pauses.is_empty() && pauses.iter().all(|pause| range.contains(pause))
}

#[tokio::test]
async fn a_batch_is_attempted_at_once() {
    let setting = setting();
    setting.destinations.gate.forget_permits(1_000);
    let texts: Vec<String> = (0..10).map(|n| format!("hint chat {n}")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let release = async {
        let all = setting.destinations.arrived.acquire_many(10);
        timeout(DEADLINE, all)
            .await
            .expect("all under way at once")
            .expect("open")
            .forget();
        setting.destinations.gate.add_permits(10);
    };
    let (given_back, ()) = tokio::join!(setting.batch(&texts), release);
    assert!(given_back.is_empty(), "{given_back:?}");
    assert_eq!(setting.count("record"), 10);
}

#[tokio::test]
async fn a_destination_gets_no_more_at_once_than_it_may_and_holds_up_no_other() {
    let setting = setting();
    setting.destinations.gate.forget_permits(1_000);
    let texts = [
        "hint slow 1",
        "hint slow 2",
        "hint slow 3",
        "hint slow 4",
        "hint chat 5",
    ];
    let release = async {
        let some = setting.destinations.arrived.acquire_many(3);
        timeout(DEADLINE, some)
            .await
            .expect("two, and the other's")
            .expect("open")
            .forget();
        tokio::task::yield_now().await;
        assert_eq!(setting.destinations.arrived.available_permits(), 0);
        setting.destinations.gate.add_permits(10);
    };
    let (given_back, ()) = tokio::join!(setting.batch(&texts), release);
    assert!(given_back.is_empty(), "{given_back:?}");
    assert_eq!(setting.count("record"), 5);
    assert_eq!(setting.destinations.most.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn what_cannot_be_read_blocks_nobody_and_is_set_aside_the_fifth_time() {
    let setting = setting();
    let time = Duration::from_secs(30);
    for receives in 1..=4 {
        let messages = [("no JSON", receives), ("hint chat 1", 1)];
        assert_eq!(setting.received(&messages, time).await, ["m-0"]);
        let steps = std::mem::take(&mut *setting.worker.desk.steps.lock().expect("a lock"));
        assert!(steps.contains(&"hide r-0 60000".to_owned()), "{steps:?}");
        assert!(
            steps.contains(&"record 1 delivered".to_owned()),
            "{steps:?}"
        );
    }
    assert!(setting.received(&[("no JSON", 5)], time).await.is_empty());
    assert_eq!(setting.steps(), ["set aside \"no JSON\": not ours"]);
    setting.fail("set aside", 1);
    assert_eq!(
        setting.received(&[("no JSON", 5)], time).await,
        ["m-0"],
        "not lost"
    );
}

#[tokio::test]
async fn what_is_due_within_a_second_is_waited_out_and_what_is_due_later_given_back_until_then() {
    let setting = setting();
    let soon = NOW.plus(Duration::from_millis(40));
    setting.begin("1", &[Begin::Later(soon), Begin::Go]);
    setting.begin("2", &[Begin::Later(NOW.plus(Duration::from_millis(9_900)))]);
    let given_back = setting
        .batch(&["hint chat 1", "hint chat 2", "hint chat 3"])
        .await;
    assert_eq!(given_back, ["m-1"]);
    assert_eq!(
        setting.steps(),
        ["hide r-1 9900", "record 3 delivered", "record 1 delivered"],
        "beside the other work"
    );
}

#[tokio::test]
async fn what_is_due_soon_is_read_once_and_takes_no_place_before() {
    let setting = setting();
    let soon = ["hint slow 1 soon", "hint slow 2 soon", "hint slow 3"];
    assert!(setting.batch(&soon).await.is_empty());
    let steps = setting.worker.desk.steps.lock().expect("a lock").clone();
    let begins: Vec<_> = steps
        .iter()
        .filter(|step| step.starts_with("begin"))
        .collect();
    assert_eq!(begins.len(), 3, "{begins:?}");
    assert_eq!(begins[0], "begin 3 received 1", "beside the others' pause");
}

#[tokio::test]
async fn a_hint_that_is_out_of_date_is_dropped() {
    let setting = setting();
    setting.begin("1", &[Begin::Drop]);
    assert!(setting.batch(&["hint chat 1"]).await.is_empty());
    assert!(setting.steps().is_empty(), "{:?}", setting.steps());
}

#[tokio::test]
async fn what_could_not_be_decided_is_given_back_for_longer_each_time() {
    let setting = setting();
    setting.begin("1", &[Begin::Fail]);
    let messages = [("hint chat 1", 3), ("hint chat 2", 1)];
    assert_eq!(
        setting.received(&messages, Duration::from_secs(30)).await,
        ["m-0"]
    );
    assert!(is_within(&setting.pauses("r-0"), 30.0));
    assert_eq!(setting.count("record 2"), 1);
    let setting = fakes::setting();
    setting.fail("settings", 1);
    assert_eq!(setting.batch(&["hint chat 1"]).await, ["m-0"]);
    assert_eq!(setting.count("begin"), 0, "whether it is held is not known");
    let setting = fakes::setting();
    setting.fail("redrive", 1);
    assert_eq!(setting.batch(&["ticket a-death"]).await, ["m-0"]);
}

#[tokio::test]
async fn an_attempt_is_recorded_again_rather_than_made_again() {
    let setting = setting();
    setting.fail("record", 2);
    assert!(setting.batch(&["hint chat 1"]).await.is_empty());
    assert_eq!(setting.count("record 1 delivered"), 3);
    assert_eq!(
        setting.destinations.arrived.available_permits(),
        1,
        "made once"
    );
    setting.fail("record", 3);
    assert_eq!(
        setting.batch(&["hint chat 2"]).await,
        ["m-0"],
        "the store is gone"
    );
}

#[tokio::test]
async fn nothing_is_begun_that_may_not_end_in_time() {
    let setting = setting();
    let messages = [("hint chat 1", 1), ("hint chat 2", 1)];
    let short = ATTEMPT.saturating_sub(Duration::from_millis(1));
    let given_back = setting.received(&messages, short).await;
    assert_eq!(given_back, ["m-0", "m-1"]);
    assert_eq!(setting.pauses("r-0"), [0.0], "at once, to another");
    let second = [("hint chat 3", 2)];
    assert_eq!(setting.received(&second, short).await, ["m-0"]);
    assert!(
        is_within(&setting.pauses("r-0")[1..], 20.0),
        "not again and again"
    );
    assert_eq!(
        setting.destinations.arrived.available_permits(),
        0,
        "nothing left"
    );
    let given_back = setting.received(&messages, ATTEMPT).await;
    assert!(given_back.is_empty(), "{given_back:?}");
}

#[tokio::test]
async fn what_finds_no_place_in_time_is_left_alone_for_longer_each_time() {
    let setting = setting();
    setting.destinations.gate.forget_permits(1_000);
    for (receives, seconds) in [(1, 10.0), (2, 20.0), (49, 490.0), (61, 600.0)] {
        let others = (2..10).map(|_| ("hint slow 3", receives));
        let first = [("hint slow 1", 1), ("hint slow 2", 1)];
        let messages: Vec<_> = first.into_iter().chain(others).collect();
        let release = async {
            let given_back = async {
                while setting.count("hide") < 8 {
                    tokio::task::yield_now().await;
                }
            };
            timeout(DEADLINE, given_back).await.expect("given back");
            setting.destinations.gate.add_permits(2);
        };
        let batch = setting.received(&messages, ATTEMPT + Duration::from_millis(200));
        let (given_back, ()) = tokio::join!(batch, release);
        assert_eq!(given_back.len(), 8, "{given_back:?}");
        let pauses: Vec<f64> = (2..10)
            .flat_map(|n| setting.pauses(&format!("r-{n}")))
            .collect();
        assert!(is_within(&pauses, seconds), "about {seconds} s: {pauses:?}");
        let mut apart = pauses.clone();
        apart.dedup();
        assert_eq!(apart.len(), 8, "they do not come back together: {pauses:?}");
        let both = [
            pauses.iter().any(|p| *p < seconds),
            pauses.iter().any(|p| *p > seconds),
        ];
        assert_eq!(both, [true, true], "shorter and longer: {pauses:?}");
        assert_eq!(setting.count("begin"), 2, "without a place nothing is read");
        setting.worker.desk.steps.lock().expect("a lock").clear();
    }
}

#[tokio::test]
async fn deliveries_to_a_held_destination_are_recorded_held_and_never_sent() {
    let setting = setting();
    setting.hold(&["chat"]);
    assert!(
        setting
            .batch(&["hint chat 1", "hint slow 2"])
            .await
            .is_empty()
    );
    assert_eq!(setting.steps(), ["hold 1", "record 2 delivered"]);
    assert_eq!(setting.destinations.arrived.available_permits(), 1);
    setting.fail("hold", 1);
    assert_eq!(setting.batch(&["hint chat 1"]).await, ["m-0"], "not lost");
}

#[tokio::test]
async fn nothing_is_held_by_settings_that_may_be_out_of_date() {
    let setting = setting();
    setting.hold(&["chat"]);
    let released = Some(Arc::default());
    *setting.worker.desk.newest_settings.lock().expect("a lock") = released;
    let messages = ["hint chat 1", "hint slow 2"];
    assert!(setting.batch(&messages).await.is_empty());
    let mut steps = setting.steps();
    steps.sort();
    assert_eq!(steps, ["record 1 delivered", "record 2 delivered"]);
    let anew = setting.count("settings anew");
    assert_eq!(anew, 1, "for what seems to be held, and nothing else");
    setting.fail("newest settings", 1);
    assert_eq!(setting.batch(&["hint chat 3"]).await, ["m-0"], "not known");
    assert_eq!((setting.count("hold"), setting.count("begin 3")), (0, 0));
}

#[tokio::test]
async fn a_ticket_redrives_its_death() {
    let setting = setting();
    assert!(setting.batch(&["ticket a-death"]).await.is_empty());
    assert_eq!(setting.steps(), ["redrive a-death"]);
}

#[tokio::test]
async fn an_attempt_that_breaks_off_is_recorded_as_failed_and_the_others_go_on() {
    let setting = setting();
    *setting.destinations.broken.lock().expect("a lock") = Some("slow");
    let messages = ["hint slow 1", "panic", "hint chat 2"];
    assert_eq!(setting.batch(&messages).await, ["m-1"]);
    assert!(is_within(&setting.pauses("r-1"), 10.0));
    let mut steps = setting.steps();
    steps.retain(|step| !step.starts_with("hide"));
    steps.sort();
    assert_eq!(steps, ["record 1 unanswered", "record 2 delivered"]);
}
