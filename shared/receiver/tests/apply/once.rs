//! One copy after the other: once, again, failures, the end of a key's time.

use std::time::Duration;

use super::shop::{Shop, add, answer, apply, at, key};
use switchboard_receiver::{Answer, Applied, ApplyError, StoreError};

const KEEP_S: u64 = 120 * 24 * 3600;

#[test]
fn the_first_copy_is_applied_and_every_later_one_gets_its_answer() {
    let shop = Shop::new();
    let once = shop.handle();
    let first = apply(&once, "dlv_a", "one", at(0)).expect("applied");
    assert_eq!(first, Applied::First(answer("one")));
    for later in 1..5 {
        let copy = apply(&once, "dlv_a", "another body", at(later)).expect("answered");
        assert_eq!(copy, Applied::Again(answer("one")), "the first's answer");
    }
    assert_eq!(shop.lines(), 1, "applied once");
    let other = apply(&once, "dlv_b", "two", at(9)).expect("applied");
    assert_eq!(other, Applied::First(answer("two")), "another key");
    assert_eq!(shop.lines(), 2);
}

#[test]
fn what_was_applied_is_known_after_reopening() {
    let shop = Shop::new();
    apply(&shop.handle(), "dlv_a", "one", at(0)).expect("applied");
    let copy = apply(&shop.handle(), "dlv_a", "one", at(1)).expect("answered");
    assert_eq!(copy, Applied::Again(answer("one")));
    assert_eq!(shop.lines(), 1);
}

#[test]
fn two_handles_on_one_file_know_of_each_other() {
    let shop = Shop::new();
    let (left, right) = (shop.handle(), shop.handle());
    apply(&left, "dlv_a", "one", at(0)).expect("applied");
    let copy = apply(&right, "dlv_a", "one", at(0)).expect("answered");
    assert_eq!(copy, Applied::Again(answer("one")));
    assert_eq!(shop.lines(), 1);
}

#[test]
fn an_effect_that_fails_leaves_neither_line_nor_key() {
    let shop = Shop::new();
    let once = shop.handle();
    let failed = once.apply(&key("dlv_a"), at(0), |transaction| {
        add(transaction, "half").expect("line");
        Err::<Answer, _>(std::io::Error::other("the printer is out of paper"))
    });
    assert!(matches!(failed, Err(ApplyError::Effect(_))), "{failed:?}");
    assert_eq!((shop.lines(), shop.keys()), (0, 0), "nothing stands");
    let next = apply(&once, "dlv_a", "one", at(1)).expect("applied");
    assert_eq!(
        next,
        Applied::First(answer("one")),
        "as if it were the first"
    );
}

#[test]
fn an_effect_that_panics_leaves_neither_line_nor_key() {
    let shop = Shop::new();
    let once = shop.handle();
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        once.apply(&key("dlv_a"), at(0), |transaction| {
            add(transaction, "half").expect("line");
            std::panic::resume_unwind(Box::new("the effect's own fault"));
            #[expect(unreachable_code, reason = "names the type of the answer")]
            Ok::<Answer, std::io::Error>(Answer::ok())
        })
    }));
    assert!(panicked.is_err());
    assert_eq!((shop.lines(), shop.keys()), (0, 0), "nothing stands");
    let next = apply(&once, "dlv_a", "one", at(1)).expect("applied");
    assert_eq!(
        next,
        Applied::First(answer("one")),
        "as if it were the first"
    );
}

#[test]
fn a_key_that_cannot_be_kept_undoes_the_effect() {
    let shop = Shop::new();
    let once = shop.handle();
    let full = "CREATE TRIGGER full BEFORE INSERT ON switchboard_applied
        BEGIN SELECT RAISE(ABORT, 'full'); END";
    shop.execute(full);
    let failed = apply(&once, "dlv_a", "one", at(0));
    assert!(matches!(failed, Err(ApplyError::Store(_))), "{failed:?}");
    assert_eq!((shop.lines(), shop.keys()), (0, 0), "nothing stands");
    shop.execute("DROP TRIGGER full");
    let next = apply(&once, "dlv_a", "one", at(1)).expect("applied");
    assert_eq!(next, Applied::First(answer("one")));
}

#[test]
fn an_effect_may_not_end_its_transaction() {
    let shop = Shop::new();
    let once = shop.handle();
    let ended = once.apply(&key("dlv_a"), at(0), |transaction| {
        transaction.execute_batch("COMMIT")?;
        Ok::<_, switchboard_receiver::rusqlite::Error>(Answer::ok())
    });
    let expected = ApplyError::<()>::Store(StoreError::TransactionEnded).to_string();
    assert_eq!(ended.expect_err("refused").to_string(), expected);
    assert_eq!(shop.keys(), 0);
    assert!(matches!(
        apply(&once, "dlv_b", "one", at(1)),
        Ok(Applied::First(_))
    ));
}

#[test]
fn a_key_ends_by_its_time_whether_it_was_removed_or_not() {
    let shop = Shop::new();
    let once = shop.handle();
    apply(&once, "dlv_a", "one", at(0)).expect("applied");
    let last = apply(&once, "dlv_a", "one", at(KEEP_S - 1)).expect("answered");
    assert_eq!(last, Applied::Again(answer("one")), "within its time");
    assert_eq!(shop.keys(), 1, "it still stands in the file");
    let past = apply(&once, "dlv_a", "late", at(KEEP_S)).expect("applied");
    assert_eq!(past, Applied::First(answer("late")), "past its time");
    let copy = apply(&once, "dlv_a", "late", at(KEEP_S + 1)).expect("answered");
    assert_eq!(copy, Applied::Again(answer("late")), "kept anew");
}

#[test]
fn a_copy_does_not_prolong_its_keys_time() {
    let shop = Shop::new();
    let once = shop.handle();
    apply(&once, "dlv_a", "one", at(0)).expect("applied");
    for day in 1..120 {
        let copy = apply(&once, "dlv_a", "one", at(day * 24 * 3600)).expect("answered");
        assert!(matches!(copy, Applied::Again(_)), "day {day}");
    }
    let past = apply(&once, "dlv_a", "late", at(KEEP_S)).expect("applied");
    assert!(matches!(past, Applied::First(_)), "{past:?}");
}

#[test]
fn keys_past_their_time_are_removed_in_small_steps() {
    let shop = Shop::new();
    let once = shop.handle();
    for n in 0..40 {
        apply(&once, &format!("dlv_old{n}"), "one", at(n)).expect("applied");
    }
    let mut before = shop.keys();
    assert_eq!(before, 40);
    for n in 0..6 {
        apply(&once, &format!("dlv_new{n}"), "one", at(KEEP_S + 60 + n)).expect("applied");
        let keys = shop.keys();
        assert!(before + 1 - keys <= 8, "a small step: {before} to {keys}");
        before = keys;
    }
    assert_eq!(before, 6, "only keys within their time are left");
}

#[test]
fn a_key_past_its_time_is_applied_anew_though_many_are_still_to_be_removed() {
    let shop = Shop::new();
    let once = shop.handle();
    for n in 0..20 {
        apply(&once, &format!("dlv_{n}"), "one", at(n)).expect("applied");
    }
    let newest = apply(&once, "dlv_19", "late", at(KEEP_S + 60)).expect("applied");
    assert_eq!(newest, Applied::First(answer("late")));
}

#[test]
fn a_clock_before_1970_or_at_the_end_of_time_harms_nothing() {
    let shop = Shop::new();
    let once = shop.handle();
    let before = std::time::UNIX_EPOCH - Duration::from_secs(1);
    assert!(matches!(
        apply(&once, "dlv_a", "one", before),
        Ok(Applied::First(_))
    ));
    assert!(matches!(
        apply(&once, "dlv_a", "one", before),
        Ok(Applied::Again(_))
    ));
}
