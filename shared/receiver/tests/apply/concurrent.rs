//! Many copies at the same time, from many threads and over several handles.

use std::sync::Barrier;
use std::sync::mpsc::channel;
use std::time::Duration;

use switchboard_receiver::Applied;

use super::shop::{Shop, add, answer, apply, at, key};

/// How long a test waits for what must come at once.
const DEADLINE: Duration = Duration::from_secs(20);

#[test]
fn a_copy_that_arrives_during_the_first_is_told_to_come_again() {
    const COPIES: usize = 8;
    let shop = Shop::new();
    let once = shop.handle();
    let (begun, has_begun) = channel();
    let (go_on, may_go_on) = channel::<()>();
    let (answered, answers) = channel();
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
        for _ in 0..COPIES {
            let answered = answered.clone();
            scope.spawn(move || answered.send(apply(once, "dlv_a", "one", at(0))));
        }
        let during: Vec<_> = (0..COPIES)
            .map(|_| answers.recv_timeout(DEADLINE))
            .collect();
        go_on.send(()).expect("go on");
        for copy in during {
            let copy = copy.expect("answered while the first is applied");
            let retry_after = Duration::from_secs(1);
            assert_eq!(copy.expect("answered"), Applied::InProgress { retry_after });
        }
        let first = first.join().expect("thread").expect("applied");
        assert_eq!(first, Applied::First(answer("one")));
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
    let (answered, answers) = channel();
    std::thread::scope(|scope| {
        let other = once.apply(&key("dlv_b"), at(1), |transaction| {
            let once = &once;
            scope.spawn(move || answered.send(apply(once, "dlv_a", "one", at(1))));
            let copy = answers.recv_timeout(DEADLINE);
            assert!(
                matches!(copy, Ok(Ok(Applied::Again(_)))),
                "it does not wait: {copy:?}"
            );
            add(transaction, "two")
        });
        assert!(matches!(other, Ok(Applied::First(_))), "{other:?}");
    });
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
    assert!(matches!(first, Ok(Applied::First(_))), "{first:?}");
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
    let became: Vec<_> = std::thread::scope(|scope| {
        let copies = |once| {
            let together = &together;
            move || -> Vec<_> {
                let one = |k| {
                    together.wait();
                    apply(once, &format!("dlv_{k}"), &format!("{k}"), at(0))
                };
                (0..KEYS).map(one).collect()
            }
        };
        let handles = handles.iter().cycle().take(THREADS);
        let threads: Vec<_> = handles.map(|once| scope.spawn(copies(once))).collect();
        let joined = threads
            .into_iter()
            .map(|thread| thread.join().expect("thread"));
        joined.flatten().collect()
    });
    let mut first = 0;
    for became in became {
        match became.expect("answered") {
            Applied::First(_) => first += 1,
            Applied::Again(_) | Applied::InProgress { .. } => {}
        }
    }
    assert_eq!(first, KEYS, "one first for each key");
    assert_eq!(shop.lines() as usize, KEYS, "one effect for each key");
    assert_eq!(shop.keys() as usize, KEYS);
}
