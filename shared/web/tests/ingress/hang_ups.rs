//! A store that takes long, and senders that do not wait for it.

use switchboard_core::refusal::Cause;
use switchboard_web::ingress::IngressLimits;

use crate::sender::{LONG, soon};
use crate::store::Mood;
use crate::{MAX_BODY, SHORT, Switchboard, head, signed};

/// Waits until `n` events are stored.
async fn stored(board: &Switchboard, n: usize) {
    let all = async {
        while board.store.bodies().len() < n {
            tokio::task::yield_now().await;
        }
    };
    soon(all).await;
}

#[tokio::test]
async fn a_sender_that_hangs_up_does_not_cut_the_storing_of_its_event() {
    let board = Switchboard::start().await;
    board.store.set(Mood::Slow);
    for n in 1..=2 {
        let mut sender = board.sender().await;
        sender.say(signed("/in/shop", &n.to_string(), b"{}")).await;
        soon(board.store.gate.arrived.acquire())
            .await
            .expect("arrived")
            .forget();
        if n == 1 {
            drop(sender);
        } else {
            sender.0.set_zero_linger().expect("an option");
            drop(sender); // with a reset
        }
        // The server has seen the end of that connection when it answers on the next.
        assert_eq!(
            board
                .answer("GET /in/shop HTTP/1.1\r\nhost: a\r\n\r\n")
                .await
                .status,
            405
        );
        board.store.gate.open.add_permits(1);
        stored(&board, n).await;
    }
}

#[tokio::test]
async fn a_store_that_takes_too_long_is_a_503_and_the_next_copy_a_repeat() {
    let limits = IngressLimits {
        accept_time: SHORT,
        ..IngressLimits::default()
    };
    let board = Switchboard::within(limits).await;
    board.store.set(Mood::Slow);
    let answer = board.answer(signed("/in/shop", "1", b"{}")).await;
    assert_eq!(answer.status, 503);
    assert_eq!(answer.value("retry-after"), Some("5"));
    let counted = async {
        while board.store.declined() != [Cause::StoreUnavailable] {
            tokio::task::yield_now().await;
        }
    };
    soon(counted).await;

    board.store.set(Mood::Fine);
    board.store.gate.open.add_permits(1);
    stored(&board, 1).await;
    let again = board.answer(signed("/in/shop", "1", b"{}")).await;
    assert!(again.body.contains("repeat"), "{again:?}");
}

#[tokio::test]
async fn where_the_process_stands_still_behind_an_answer_the_count_comes_before_it() {
    let limits = IngressLimits {
        accept_time: SHORT,
        count_time: 2 * LONG,
        ..IngressLimits::default()
    };
    let board = Switchboard::within(limits).await;
    board.store.set(Mood::Slow);
    let mut sender = board.sender().await;
    sender.say(signed("/in/shop", "1", b"{}")).await;
    let arrived = async || {
        let permit = soon(board.store.gate.arrived.acquire()).await;
        permit.expect("arrived").forget();
    };
    arrived().await;
    board.store.set(Mood::Uncounted);
    arrived().await;
    let early = tokio::time::timeout(SHORT, sender.answer()).await;
    assert!(early.is_err(), "not before it is counted");
    board.store.gate.open.add_permits(2);
    assert_eq!(sender.answer().await.expect("an answer").status, 503);
    assert_eq!(board.store.declined(), [Cause::StoreUnavailable]);
}

#[tokio::test]
async fn while_the_store_hangs_few_counts_wait_for_it_and_none_is_lost() {
    let limits = IngressLimits {
        counts: 2,
        accept_time: 2 * LONG,
        ..IngressLimits::default()
    };
    let board = Switchboard::within(limits).await;
    board.store.set(Mood::Uncounted);
    let mut waiting = Vec::new();
    for path in ["/in/first", "/in/second"] {
        let mut sender = board.sender().await;
        sender.say(signed(path, "1", b"{}")).await;
        soon(board.store.gate.arrived.acquire())
            .await
            .expect("arrived")
            .forget();
        waiting.push(sender);
    }
    for _ in 0..3 {
        let answer = board.answer(signed("/in/third", "1", b"{}")).await;
        assert_eq!(answer.status, 404, "without waiting for the store");
    }
    let long = format!("content-length: {}\r\n", MAX_BODY + 1);
    let answer = board.answer(head("/in/shop", "1", b"{}", &long)).await;
    assert_eq!(answer.status, 413, "without waiting for the store");
    let more = board.store.gate.arrived.available_permits();
    assert_eq!(more, 0, "no more than two counts wait for the store");

    board.store.gate.open.add_permits(6);
    for mut sender in waiting {
        assert_eq!(sender.answer().await.expect("an answer").status, 404);
    }
    let counted = async {
        while board.store.declined().len() < 6 {
            tokio::task::yield_now().await;
        }
    };
    soon(counted).await;
    let of = |cause| {
        let declined = board.store.declined();
        declined.iter().filter(|other| **other == cause).count()
    };
    assert_eq!((of(Cause::UnknownSource), of(Cause::TooLarge)), (5, 1));
    board.store.set(Mood::Fine);
    let answer = board.answer(signed("/in/third", "1", b"{}")).await;
    assert_eq!(answer.status, 404);
    assert_eq!(
        of(Cause::UnknownSource),
        6,
        "counted before the answer again"
    );
}
