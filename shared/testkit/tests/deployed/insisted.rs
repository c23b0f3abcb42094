//! Looks that somebody insists on: what they find, how often they are made, and what is no answer.

use std::sync::Arc;
use std::time::Duration;

use switchboard_core::deployed::{Current, Unseen};
use switchboard_core::time::Clock;

use crate::setting::{Setting, text};

const MILLISECOND: Duration = Duration::from_millis(1);

impl Setting {
    /// What a look finds that begins now or later; its number.
    async fn seen_from_now(&self) -> Result<u64, Unseen> {
        self.seen_since(self.clock.ticks()).await
    }

    async fn seen_since(&self, since: Duration) -> Result<u64, Unseen> {
        let seen = self.deployed.seen_since(since).await;
        seen.map(|current| number(&current))
    }
}

fn number(current: &Current) -> u64 {
    current
        .applied
        .map_or(0, |applied| applied.version.number())
}

fn assert_unusable(seen: Result<u64, Unseen>, because: &str) {
    match seen {
        Err(Unseen::Unusable(why)) => assert!(why.contains(because), "{why}"),
        other @ (Ok(_) | Err(Unseen::Wait(_))) => panic!("no answer, not {other:?}"),
    }
}

#[tokio::test]
async fn what_was_applied_a_moment_ago_is_found_and_counts_for_everybody() {
    let setting = Setting::new();
    setting.put(1, &text("a"));
    assert_eq!(setting.number().await, 1);
    setting.put(2, &text("b"));
    setting.after(1);
    assert_eq!(setting.number().await, 1, "it was looked at a second ago");
    assert_eq!(setting.seen_from_now().await, Ok(2));
    assert_eq!(setting.number().await, 2, "for whoever insists on nothing");
}

#[tokio::test]
async fn a_look_that_began_since_then_is_answer_enough() {
    let setting = Setting::new();
    setting.put(1, &text("a"));
    let since = setting.clock.ticks();
    setting.current().await;
    setting.put(2, &text("b"));
    setting.clock.advance(MILLISECOND);
    assert_eq!(setting.seen_since(since).await, Ok(1));
    assert_eq!(setting.store.asked(), 1);
}

#[tokio::test]
async fn however_many_insist_there_is_one_look_a_second() {
    let setting = Setting::new();
    setting.put(1, &text("a"));
    setting.current().await;
    for _ in 0..999 {
        setting.clock.advance(MILLISECOND);
        let left = match setting.seen_from_now().await {
            Err(Unseen::Wait(left)) => left,
            other @ (Ok(_) | Err(Unseen::Unusable(_))) => panic!("to wait, not {other:?}"),
        };
        let now = setting.clock.ticks();
        let next = Duration::from_secs(1_000_001);
        assert_eq!(now + left, next, "a second behind the last look");
    }
    assert_eq!(setting.store.asked(), 1);
    setting.clock.advance(MILLISECOND);
    let since = setting.clock.ticks();
    let ask = || {
        let deployed = Arc::clone(&setting.deployed);
        tokio::spawn(async move { deployed.seen_since(since).await })
    };
    let all: Vec<_> = (0..20).map(|_| ask()).collect();
    for one in all {
        let seen = one.await.expect("it ends");
        assert_eq!(seen.map(|current| number(&current)), Ok(1));
    }
    assert_eq!(setting.store.asked(), 2, "one looks for all of them");
}

#[tokio::test]
async fn a_look_that_fails_is_no_answer_and_is_not_made_again_for_each() {
    let setting = Setting::new();
    setting.put(1, &text("a"));
    setting.current().await;
    setting.store.fails(Some("the table is away"));
    setting.after(1);
    let since = setting.clock.ticks();
    for _ in 0..10 {
        assert_unusable(setting.seen_since(since).await, "the table is away");
    }
    assert_eq!(setting.store.asked(), 2);
    assert_eq!(setting.number().await, 1, "for everybody else it stays");
    setting.store.fails(None);
    setting.after(1);
    assert_eq!(setting.seen_from_now().await, Ok(1));
}

#[tokio::test]
async fn what_was_good_last_is_no_answer_where_the_newest_cannot_be_used() {
    let setting = Setting::new();
    assert_unusable(setting.seen_from_now().await, "none was applied yet");
    setting.put(1, &text("a"));
    setting.after(1);
    assert_eq!(setting.seen_from_now().await, Ok(1));
    for unusable in ["no TOML", &text("a").replace("secret:shop", "secret:none")] {
        setting.put(2, unusable);
        setting.after(1);
        assert_unusable(setting.seen_from_now().await, "version 2");
        setting.after(1);
        assert_unusable(setting.seen_from_now().await, "version 2");
        assert_eq!(setting.number().await, 1, "{unusable}");
        setting.after(60);
    }
    setting.store.put(None);
    setting.after(1);
    assert_unusable(setting.seen_from_now().await, "not stored any more");
    setting.put(3, &text("c"));
    setting.after(1);
    assert_eq!(setting.seen_from_now().await, Ok(3));
}

/// Lets a task go as far as it can.
async fn settle() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_look_that_was_cut_off_is_no_answer() {
    let setting = Setting::new();
    setting.put(1, &text("a"));
    setting.current().await;
    setting.put(2, &text("b"));
    let cut_off = async || {
        setting.after(1);
        let since = setting.clock.ticks();
        let deployed = Arc::clone(&setting.deployed);
        let looking = tokio::spawn(async move { deployed.seen_since(since).await });
        settle().await;
        assert!(!looking.is_finished(), "it waits");
        looking.abort();
        assert!(looking.await.expect_err("cut off").is_cancelled());
        since
    };
    setting.store.holds(true);
    let since = cut_off().await;
    setting.store.holds(false);
    let second = Duration::from_secs(1);
    assert_eq!(setting.seen_since(since).await, Err(Unseen::Wait(second)));
    setting.secrets.holds(true);
    let since = cut_off().await;
    setting.secrets.holds(false);
    assert_eq!(setting.seen_since(since).await, Err(Unseen::Wait(second)));
    setting.after(1);
    assert_eq!(setting.seen_since(since).await, Ok(2));
}
