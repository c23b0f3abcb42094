//! A replay over several calls, cut between them and within them.

use super::*;

/// When each delivery is due, in milliseconds after [`NOW`], the first first.
fn dues(planned: &[Queued]) -> Vec<i64> {
    let mut dues: Vec<_> = planned.iter().map(|q| q.due.millis() - NOW).collect();
    dues.sort_unstable();
    dues
}

#[test]
fn the_same_progress_twice_plans_the_same_once() {
    let setting = setting();
    setting.several(2 * EVENTS + 5);
    let first = setting.begin(&all()).expect("replayed");
    let text = first.next.clone().expect("there is more").to_string();
    let again = || Progress::parse(&text).expect("as it was told");
    assert_eq!(first.next, Some(again()));
    let second = setting.call(&all(), again()).expect("replayed");
    let planned = setting.kept.runs();
    // Later, as after a lost answer.
    setting.clock.0.fetch_add(90_000, Ordering::SeqCst);
    let twice = setting.call(&all(), again()).expect("replayed");
    assert_eq!(setting.kept.runs(), planned);
    assert_eq!((twice.events, twice.run), (second.events, second.run));
    let rest = second.next.expect("there is more");
    let third = setting.call(&all(), rest).expect("replayed");
    assert_eq!((third.events, third.next), (5, None));
    assert_eq!(setting.kept.runs().len() as u64, u64::from(2 * EVENTS + 5));
}

#[test]
fn a_call_that_is_cut_is_finished_by_the_same_call() {
    let setting = setting();
    setting.several(5);
    let begun = setting.begun(&all()).expect("begun");
    let text = begun.to_string();
    setting.kept.fails_after(Some(2));
    let error = setting.call(&all(), begun).expect_err("it fails");
    assert!(matches!(error, OperateError::Interrupted { done: 4, .. }));
    assert_eq!(setting.kept.runs().len(), 2);
    setting.kept.fails_after(None);
    // Whatever began in between.
    setting.clock.0.fetch_add(5_000, Ordering::SeqCst);
    let other = Replay {
        to: Some(destination("chat")),
        ..all()
    };
    setting.begin(&other).expect("replayed");
    let progress = Progress::parse(&text).expect("as it began");
    let replayed = setting.call(&all(), progress).expect("replayed");
    assert_eq!((replayed.events, replayed.deliveries), (5, 10));
    assert_eq!(replayed.run, Run(1_800_000_000));
    let runs = setting.kept.runs();
    let of_first = runs.keys().filter(|(_, run)| *run == replayed.run);
    assert_eq!(of_first.count(), 5, "each once");
}

#[test]
fn a_replay_whose_first_call_fails_keeps_the_run_that_it_took() {
    let setting = setting();
    setting.several(5);
    let other = Replay {
        to: Some(destination("chat")),
        ..all()
    };
    setting.begin(&other).expect("replayed");
    let begun = setting.begun(&all()).expect("begun");
    let text = begun.to_string();
    // Whatever begins before the first call.
    setting.begin(&other).expect("replayed");
    setting.kept.fails_after(Some(3));
    setting.call(&all(), begun).expect_err("it fails");
    setting.kept.fails_after(None);
    let begun = Progress::parse(&text).expect("as it began");
    let replayed = setting.call(&all(), begun).expect("replayed");
    assert_eq!((replayed.events, replayed.run.0), (5, 1_800_000_001));
    assert_eq!(setting.kept.runs().len(), 15, "three runs of five events");
}

#[test]
fn starts_are_spread_and_keep_their_pace_over_calls() {
    let setting = setting();
    setting.several(EVENTS + 5);
    let first = setting.begin(&all()).expect("replayed");
    let count = i64::from(first.deliveries);
    let due: Vec<_> = (0..count).map(|n| n * 100).collect();
    assert_eq!(dues(&setting.kept.planned()), due, "ten a second");
    let rest = first.next.expect("there is more");
    setting.call(&all(), rest).expect("replayed");
    let due: Vec<_> = (0..count + 10).map(|n| n * 100).collect();
    assert_eq!(dues(&setting.kept.planned()), due, "on from there");
}

#[test]
fn what_goes_on_late_does_not_come_at_once() {
    let setting = setting();
    setting.several(EVENTS + 5);
    let first = setting.begin(&all()).expect("replayed");
    let before = setting.kept.planned().len();
    setting.clock.0.fetch_add(3_600_000, Ordering::SeqCst);
    let rest = first.next.expect("there is more");
    setting.call(&all(), rest).expect("replayed");
    let dues = dues(&setting.kept.planned());
    let late: Vec<_> = (0..10).map(|n| 3_600_000 + n * 100).collect();
    assert_eq!(dues.get(before..), Some(&late[..]));
}

#[test]
fn a_progress_is_read_as_it_was_told_and_nothing_else_is() {
    let told = "1800000000.1800000000250.1800000000450.";
    assert_eq!(
        Progress::parse(told).expect("one").to_string(),
        told,
        "as it began"
    );
    let longest = format!("{told}{}", "x".repeat(100));
    assert_eq!(Progress::parse(&longest).expect("one").to_string(), longest);
    for text in [
        "",
        "1800000000",
        "0.1800000000250.1800000000450.x",
        "-1.1800000000250.1800000000450.x",
        "4294967296.1800000000250.1800000000450.x",
        "1800000000.x.1800000000450.x",
        "1800000000.1800000000250.x",
        "1800000000.1800000000250.9223372036854775808.x",
        "1800000000.1800000000250.9223372036854775807.x",
        "1800000000.-1.1800000000450.x",
        &format!("{longest}x"),
    ] {
        assert_eq!(Progress::parse(text), None, "{text:?}");
    }
}
