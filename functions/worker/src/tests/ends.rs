//! The end of an invocation: the platform never comes to it, whatever hangs.

use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::time::timeout;

use super::fakes::{Setting, setting};
use super::{ATTEMPT, DEADLINE};
use crate::back::ENDING;

/// What is left for steps in these invocations.
const LEFT: Duration = Duration::from_millis(100);

/// Deals with messages in an invocation that has only so much time for them.
async fn in_no_time(setting: &Setting, messages: &[(&str, u32)]) -> Vec<String> {
    let dealing = setting.received(messages, ENDING + LEFT);
    timeout(DEADLINE, dealing).await.expect("it ends")
}

#[tokio::test]
async fn whichever_step_hangs_its_message_is_given_back_before_the_end() {
    for (step, hint, receives) in [
        ("settings", "hint chat 1", 1),
        ("begin", "hint chat 1", 1),
        ("hold", "hint slow 1", 1),
        ("set aside", "no JSON", 5),
        ("redrive", "ticket a-death", 1),
    ] {
        let setting = setting();
        setting.hold(&["slow"]);
        setting.hang(step);
        let given_back = in_no_time(&setting, &[(hint, receives)]).await;
        assert_eq!(given_back, ["m-0"], "{step}");
        assert_eq!(setting.count("hide"), 1, "{step}");
    }
}

#[tokio::test]
async fn a_configuration_that_is_not_answered_gives_all_of_it_back() {
    let setting = setting();
    setting.goes_by(None);
    setting.given.hangs.store(true, Ordering::SeqCst);
    let given_back = in_no_time(&setting, &[("hint chat 1", 1), ("no JSON", 5)]).await;
    assert_eq!(given_back, ["m-0", "m-1"]);
}

/// The attempt takes all that it may, so that only that much is left for what follows.
fn nearly_over(setting: &Setting) -> Duration {
    let takes = 40;
    setting.destinations.takes.store(takes, Ordering::SeqCst);
    Duration::from_secs(takes) + ENDING + LEFT
}

#[tokio::test]
async fn an_attempt_that_cannot_be_recorded_in_time_is_given_back_before_the_end() {
    let setting = setting();
    setting.hang("record");
    let time = nearly_over(&setting);
    assert!(time > ATTEMPT, "it is begun");
    let dealing = setting.received(&[("hint chat 1", 1)], time);
    let given_back = timeout(DEADLINE, dealing).await.expect("it ends");
    assert_eq!(given_back, ["m-0"]);
    assert_eq!(setting.count("record"), 1);
}

#[tokio::test]
async fn a_message_that_cannot_be_hidden_in_time_is_named_all_the_same() {
    let setting = setting();
    setting.hang("hide");
    setting.fail("settings", 1);
    let given_back = in_no_time(&setting, &[("hint chat 1", 1)]).await;
    assert_eq!(given_back, ["m-0"], "the queue shows it after its own time");
}
