//! When it is read: never for a request that finds it fresh, and then by one only.

use std::sync::Arc;
use std::time::Duration;

use switchboard_core::deployed::{Current, Every, NotRead};
use tokio::task::JoinHandle;

use crate::setting::{Setting, secret, text};

/// What does not come within this does not come.
const DEADLINE: Duration = Duration::from_secs(30);

/// Lets every task go as far as it can.
async fn settle() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

/// Twenty who ask at once.
fn twenty(setting: &Setting) -> Vec<JoinHandle<Result<Current, NotRead>>> {
    (0..20)
        .map(|_| {
            let deployed = Arc::clone(&setting.deployed);
            tokio::spawn(async move { deployed.current().await })
        })
        .collect()
}

#[tokio::test]
async fn before_the_first_nobody_may_post_and_nothing_was_applied() {
    let setting = Setting::new();
    let current = setting.current().await;
    assert_eq!(current.applied, None);
    assert!(current.configuration.sources.is_empty());
    assert_eq!(setting.deployed.applied(), None);
    assert_eq!(setting.secrets.asked(), 0, "there is none to read");
}

#[tokio::test]
async fn another_version_counts_after_five_seconds_at_most() {
    let setting = Setting::new();
    assert_eq!(setting.number().await, 0);
    setting.put(1, &text("a"));
    setting.after(5);
    assert_eq!(setting.number().await, 1);
    assert_eq!(
        setting
            .deployed
            .applied()
            .map(|applied| applied.version.number()),
        Some(1)
    );
    setting.put(2, &text("b"));
    setting.after(4);
    assert_eq!(setting.number().await, 1, "it was looked at 4 seconds ago");
    setting.after(1);
    assert_eq!(setting.number().await, 2);
    let configuration = setting.configuration().await;
    assert_eq!(configuration.destinations[0].name.as_str(), "b");
}

#[tokio::test]
async fn a_rotated_secret_counts_within_a_minute() {
    let setting = Setting::new();
    setting.put(1, &text("a"));
    assert_eq!(setting.secret().await, "the-first-secret");
    setting.secrets.set("shop", "the-second-secret");
    for _ in 0..59 {
        setting.after(1);
        setting.current().await;
    }
    assert_eq!(setting.secret().await, "the-first-secret");
    setting.after(1);
    assert_eq!(setting.secret().await, "the-second-secret");
    assert_eq!(setting.number().await, 1, "it is the same version");
}

#[tokio::test]
async fn no_request_reads_what_is_fresh() {
    let setting = Setting::new();
    setting.put(1, &text("a"));
    assert_eq!(Every::default().look, Duration::from_secs(5));
    for _ in 0..600 {
        for _ in 0..10 {
            setting.current().await;
        }
        setting.clock.advance(Duration::from_millis(100));
    }
    assert_eq!(setting.store.asked(), 12, "in a minute, every 5 seconds");
    assert_eq!(setting.secrets.asked(), 1, "in a minute");
    setting.current().await;
    assert_eq!((setting.store.asked(), setting.secrets.asked()), (13, 2));
}

#[tokio::test]
async fn secrets_that_are_due_between_two_looks_are_read_without_one() {
    let setting = Setting::new();
    setting.put(1, &text("a"));
    setting.current().await;
    setting.after(57);
    setting.current().await;
    setting.secrets.set("shop", "the-second-secret");
    setting.after(3);
    assert_eq!(setting.secret().await, "the-second-secret");
    assert_eq!((setting.store.asked(), setting.secrets.asked()), (2, 2));
    setting.after(2);
    setting.current().await;
    assert_eq!((setting.store.asked(), setting.secrets.asked()), (3, 2));
}

#[tokio::test]
async fn while_nothing_changes_it_is_the_very_same() {
    let setting = Setting::new();
    setting.put(1, &text("a"));
    let first = setting.configuration().await;
    setting.after(61);
    let second = setting.configuration().await;
    assert_eq!(setting.secrets.asked(), 2, "it was read again");
    assert!(Arc::ptr_eq(&first, &second));
    setting.secrets.set("shop", "the-second-secret");
    setting.after(61);
    let third = setting.configuration().await;
    assert!(!Arc::ptr_eq(&first, &third), "another secret makes another");
    setting.put(2, &text("a"));
    setting.after(5);
    let fourth = setting.configuration().await;
    assert!(!Arc::ptr_eq(&third, &fourth), "another version too");
}

#[tokio::test]
async fn one_reads_and_the_others_go_on_with_what_there_is() {
    let setting = Setting::new();
    setting.put(1, &text("a"));
    setting.current().await;
    setting.secrets.set("shop", "the-second-secret");
    setting.secrets.holds(true);
    setting.after(60);
    let deployed = Arc::clone(&setting.deployed);
    let reading = tokio::spawn(async move { deployed.current().await });
    settle().await;
    for _ in 0..100 {
        assert_eq!(setting.secret().await, "the-first-secret", "nobody waits");
    }
    setting.after(30);
    let goes_on = tokio::time::timeout(DEADLINE, setting.secret()).await;
    assert_eq!(
        goes_on.as_deref(),
        Ok("the-first-secret"),
        "nobody waits, however long it takes"
    );
    assert!(!reading.is_finished(), "but the one who reads");
    setting.secrets.holds(false);
    let read = reading.await.expect("it ends").expect("a configuration");
    assert_eq!(secret(&read.configuration), "the-second-secret");
    assert_eq!((setting.store.asked(), setting.secrets.asked()), (2, 2));
}

#[tokio::test]
async fn while_there_is_nothing_all_wait_for_the_one_who_reads() {
    let setting = Setting::new();
    setting.put(1, &text("a"));
    setting.secrets.holds(true);
    let reading = twenty(&setting);
    settle().await;
    setting.secrets.holds(false);
    for one in reading {
        let read = one.await.expect("it ends").expect("a configuration");
        assert_eq!(secret(&read.configuration), "the-first-secret");
    }
    assert_eq!((setting.store.asked(), setting.secrets.asked()), (1, 1));
}

#[tokio::test]
async fn when_the_one_who_reads_finds_nothing_the_others_do_not_read_as_well() {
    let setting = Setting::new();
    setting.put(1, &text("a"));
    setting.secrets.remove("shop");
    setting.secrets.holds(true);
    let reading = twenty(&setting);
    settle().await;
    setting.secrets.holds(false);
    for one in reading {
        one.await.expect("it ends").expect_err("nothing");
    }
    assert_eq!((setting.store.asked(), setting.secrets.asked()), (1, 1));
}

#[tokio::test]
async fn one_who_is_cut_off_while_reading_leaves_the_turn_to_the_next() {
    let setting = Setting::new();
    setting.put(1, &text("a"));
    setting.current().await;
    setting.secrets.set("shop", "the-second-secret");
    setting.secrets.holds(true);
    setting.after(60);
    let deployed = Arc::clone(&setting.deployed);
    let reading = tokio::spawn(async move { deployed.current().await });
    settle().await;
    reading.abort();
    assert!(reading.await.expect_err("it was cut off").is_cancelled());
    setting.secrets.holds(false);
    assert_eq!(setting.secret().await, "the-first-secret");
    setting.after(5);
    assert_eq!(setting.secret().await, "the-second-secret");
}
