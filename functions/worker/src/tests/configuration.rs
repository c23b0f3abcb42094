//! Deliveries to what the worker's configuration lacks.

use std::sync::atomic::Ordering;
use std::time::Duration;

use super::fakes::{Begin, CONFIGURATION, setting};
use super::is_within;

const ADDED: &str = r#"
[[destination]]
name = "added"
url = "https://added.example/"
max_in_flight = 1
"#;

#[tokio::test]
async fn what_has_nowhere_to_go_dies_with_that_reason() {
    let setting = setting();
    setting.begin("3", &[Begin::Drop]);
    let messages = ["hint gone 1", "hint your-endpoint 2", "hint gone 3"];
    assert!(setting.batch(&messages).await.is_empty());
    let mut steps = setting.steps();
    steps.sort();
    let buried = [
        "bury 1: no such destination",
        "bury 2: your endpoint is not set",
    ];
    assert_eq!(steps, buried);
    assert_eq!(setting.looks().len(), 1, "for what the configuration lacks");
}

#[tokio::test]
async fn a_destination_that_was_added_a_moment_ago_gets_its_deliveries() {
    let setting = setting();
    let with_added = [CONFIGURATION, ADDED].concat();
    setting.newest_is(Some(setting.means(&with_added)));
    let messages = ["hint added 1", "hint added 2", "hint chat 3", "hint gone 4"];
    let given_back = setting.batch(&messages).await;
    assert!(given_back.is_empty(), "{given_back:?}");
    let mut steps = setting.steps();
    steps.sort();
    let expected = [
        "bury 4: no such destination",
        "record 1 delivered",
        "record 2 delivered",
        "record 3 delivered",
    ];
    assert_eq!(steps, expected);
}

#[tokio::test]
async fn a_destination_that_the_newest_configuration_lacks_is_not_looked_for_in_it() {
    let setting = setting();
    setting.goes_by(Some(setting.means(&[CONFIGURATION, ADDED].concat())));
    assert!(setting.batch(&["hint added 1"]).await.is_empty());
    assert_eq!(setting.steps(), ["record 1 delivered"]);
    assert!(setting.looks().is_empty(), "nothing is lacking");
}

#[tokio::test]
async fn nothing_is_buried_by_a_configuration_that_may_be_out_of_date() {
    let setting = setting();
    setting.newest_is(None);
    let messages = [("hint gone 1", 2), ("hint chat 2", 1)];
    let time = Duration::from_secs(30);
    assert_eq!(setting.received(&messages, time).await, ["m-0"]);
    assert!(is_within(&setting.pauses("r-0"), 20.0));
    assert_eq!(setting.count("bury"), 0);
    assert_eq!(setting.count("record 2 delivered"), 1, "the others go on");
    setting.goes_by(None);
    assert_eq!(setting.received(&messages, time).await, ["m-0", "m-1"]);
    assert_eq!(setting.count("begin 2"), 1, "there is nothing to go by");
}

#[tokio::test]
async fn a_look_has_to_begin_behind_the_hint_and_for_an_old_hint_a_second_before_the_batch() {
    let setting = setting();
    assert!(setting.batch(&["hint gone 1"]).await.is_empty());
    assert!(setting.batch(&["hint gone 2 old"]).await.is_empty());
    setting.clock.advance(Duration::from_millis(4_999));
    assert!(setting.batch(&["hint gone 3"]).await.is_empty());
    setting.clock.advance(Duration::from_millis(1));
    assert!(setting.batch(&["hint gone 4"]).await.is_empty());
    let expected: [f64; 4] = [0.0, -1.0, 4.999, 4.0];
    let looks = setting.looks();
    let apart = looks
        .iter()
        .zip(expected)
        .map(|(look, due)| (look - due).abs());
    assert_eq!(looks.len(), expected.len());
    assert!(apart.fold(0.0, f64::max) < 0.000_1, "{looks:?}");
}

#[tokio::test]
async fn the_places_of_the_newest_configuration_count() {
    let setting = setting();
    let means = setting.means(&[CONFIGURATION, ADDED].concat());
    setting.newest_is(Some(means));
    assert!(
        setting
            .batch(&["hint added 1", "hint added 2"])
            .await
            .is_empty()
    );
    let most = setting.destinations.most.load(Ordering::SeqCst);
    assert_eq!(most, 1, "as many at once as it may have");
}
