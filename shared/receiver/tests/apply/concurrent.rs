//! Many copies at the same time, from many threads and over several handles.

use std::sync::Barrier;
use std::sync::mpsc::channel;
use std::time::Duration;

use super::shop::{Shop, add, answer, apply, at, key};
use switchboard_receiver::rusqlite::Error;
use switchboard_receiver::{Answer, Applied};

#[test]
fn a_copy_that_arrives_during_the_first_is_told_to_come_again() {
    let shop = Shop::new();
    let once = shop.handle();
    let (begun, has_begun) = channel();
    let (go_on, may_go_on) = channel::<()>();
    std::thread::scope(|scope| {
        let once = &once;
        let first = scope.spawn(move || {
            once.apply(&key("dlv_a"), at(0), |transaction| {
                begun.send(()).expect("begun");
                may_go_on.recv().expect("go on");
                add(transaction, "one")
            })
        });
        has_begun.recv().expect("the first has begun");
        let during: Vec<_> = (0..8).map(|_| apply(once, "dlv_a", "one", at(0))).collect();
        go_on.send(()).expect("go on");
        let first = first.join().expect("thread").expect("applied");
        assert_eq!(first, Applied::First(answer("one")));
        for copy in during {
            let retry_after = Duration::from_secs(1);
            assert_eq!(copy.expect("answered"), Applied::InProgress { retry_after });
        }
    });
    let later = apply(&once, "dlv_a", "one", at(1)).expect("answered");
    assert_eq!(later, Applied::Again(answer("one")));
    assert_eq!(shop.lines(), 1, "exactly one effect");
}

#[test]
fn a_repeat_is_answered_while_another_delivery_is_being_applied() {
    let shop = Shop::new();
    let once = shop.handle();
    apply(&once, "dlv_a", "one", at(0)).expect("applied");
    let nested = once.apply(&key("dlv_b"), at(1), |transaction| {
        let copy = apply(&once, "dlv_a", "one", at(1)).expect("answered");
        assert_eq!(copy, Applied::Again(answer("one")));
        add(transaction, "two")
    });
    assert!(matches!(nested, Ok(Applied::First(_))));
}

#[test]
fn a_copy_at_another_handle_is_told_to_come_again_and_not_applied() {
    let shop = Shop::new();
    let (left, right) = (shop.handle(), shop.handle());
    let first = left.apply(&key("dlv_a"), at(0), |transaction| {
        let copy = apply(&right, "dlv_a", "one", at(0)).expect("answered");
        assert!(matches!(copy, Applied::InProgress { .. }), "{copy:?}");
        add(transaction, "one")
    });
    assert!(matches!(first, Ok(Applied::First(_))));
    let later = apply(&right, "dlv_a", "one", at(1)).expect("answered");
    assert_eq!(later, Applied::Again(answer("one")));
    assert_eq!(shop.lines(), 1);
}

#[test]
fn of_many_copies_at_once_exactly_one_has_an_effect() {
    const THREADS: usize = 16;
    const KEYS: usize = 20;
    let shop = Shop::new();
    let handles = [shop.patient_handle(), shop.patient_handle()];
    let together = Barrier::new(THREADS);
    let counts = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|n| {
                let (once, together) = (&handles[n % handles.len()], &together);
                scope.spawn(move || {
                    let mut first = 0;
                    for k in 0..KEYS {
                        together.wait();
                        let text = format!("by {n}");
                        let became = once.apply(&key(&format!("dlv_{k}")), at(0), |transaction| {
                            transaction
                                .execute("INSERT INTO line VALUES (?1)", [&format!("{k}")])?;
                            Ok::<_, Error>(Answer::new(200, text.as_str()).expect("answer"))
                        });
                        match became.expect("answered") {
                            Applied::First(_) => first += 1,
                            Applied::Again(_) | Applied::InProgress { .. } => {}
                        }
                    }
                    first
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("thread"))
            .sum::<usize>()
    });
    assert_eq!(counts, KEYS, "one first for each key");
    assert_eq!(shop.lines() as usize, KEYS, "one effect for each key");
    assert_eq!(shop.keys() as usize, KEYS);
}
