//! Many messages at once for the real worker: one that breaks, or that nobody can read, holds up no other.

use std::collections::BTreeSet;

use switchboard_tests::board::{Board, Message, batch};
use switchboard_tests::gateway::given_back;
use switchboard_tests::lambda::Lambda;
use switchboard_tests::sink::Received;
use switchboard_tests::wait;

/// Posts that many events; their ids.
async fn post(board: &Board, ingress: &Lambda, count: usize) -> Vec<String> {
    let mut events = Vec::new();
    for n in 0..count {
        events.push(board.post(ingress, &n.to_string(), b"{}").await);
    }
    events
}

/// Gives a worker messages that were never received before, ten at a time; what it gave back.
async fn deal_with(worker: &Lambda, messages: &[Message]) -> Vec<String> {
    let mut back = Vec::new();
    for ten in messages.chunks(10) {
        let fresh: Vec<_> = ten.iter().map(|message| (message, 1)).collect();
        let answer = worker.invoke(&batch(fresh)).await.answer();
        for id in given_back(&answer) {
            let place: usize = id.trim_start_matches("m-").parse().expect("a place");
            back.push(ten[place].body.clone());
        }
    }
    back
}

#[tokio::test]
async fn of_ten_deliveries_one_that_breaks_our_own_code_fails_and_the_others_are_made_once() {
    let board = Board::start().await;
    let ingress = board.function("ingress").start().await;
    let events = post(&board, &ingress, 10).await;
    let hints = board.hints(10).await;
    let broken = board
        .function("worker")
        .set("SWITCHBOARD_FAIL", "before-sending=panic:5");
    let worker = broken.start().await;
    assert!(deal_with(&worker, &hints).await.is_empty());
    assert_eq!(board.sink.received().len(), 9);
    let mut waiting = 0;
    for event in &events {
        let delivery = board.event(event).await.deliveries.remove(0);
        assert_eq!(delivery.attempts, 1, "{delivery:?}");
        if delivery.state.as_str() == "waiting" {
            waiting += 1;
        } else {
            assert_eq!(delivery.state.as_str(), "delivered");
        }
    }
    assert_eq!(waiting, 1);
    // The queue shows it when it is due.
    let again = wait::until("the next hint", async || {
        let mut hints = board.hints(1).await;
        hints.pop()
    })
    .await;
    assert!(deal_with(&worker, &[again]).await.is_empty());
    let received = board.sink.received();
    let keys: BTreeSet<_> = received.iter().map(Received::key).collect();
    assert_eq!((received.len(), keys.len()), (10, 10), "each once");
}

#[tokio::test]
async fn a_hundred_good_ones_behind_some_that_nobody_can_read_are_delivered() {
    let board = Board::start().await;
    let ingress = board.function("ingress").start().await;
    let mut bad = Vec::new();
    for text in [" ", "{}", "[]", r#"{"v":99}"#, "no JSON"] {
        bad.push(board.by_hand(text).await);
    }
    let events = post(&board, &ingress, 100).await;
    let good = board.hints(100).await;
    assert_eq!(good.len(), 100);
    let worker = board.function("worker").start().await;
    let all = [bad.clone(), good].concat();
    let back = deal_with(&worker, &all).await;
    let unread: Vec<_> = bad.iter().map(|message| message.body.clone()).collect();
    assert_eq!(back, unread, "they come again, and nothing else does");
    assert_eq!(board.sink.received().len(), 100);
    for event in &events {
        let seen = board.event(event).await;
        assert_eq!(seen.deliveries[0].state.as_str(), "delivered");
    }
}
