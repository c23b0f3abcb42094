//! Batches for the real worker, with messages as the real ingress sent them.

use std::time::Duration;

use http::StatusCode;
use switchboard_core::endpoint::Change;
use switchboard_core::names::DestinationName;
use switchboard_core::ports::{SettingsStore, Spread};
use switchboard_tests::board::{Board, batch, configuration};
use switchboard_tests::gateway::given_back;
use switchboard_tests::sender::now;

#[tokio::test]
async fn a_batch_of_good_unreadable_and_newer_messages() {
    let board = Board::start().await;
    let ingress = board.function("ingress").start().await;
    let event = board.post(&ingress, "1", b"{\"a\":1}").await;
    let good = board.hints(1).await.remove(0);
    let unreadable = board.by_hand("no JSON").await;
    let newer = board.by_hand(r#"{"v":2,"anything":true}"#).await;
    let worker = board.function("worker").start().await;
    let first = batch([(&unreadable, 1), (&good, 1), (&newer, 4)]);
    let answer = worker.invoke(&first).await.answer();
    assert_eq!(given_back(&answer), ["m-0", "m-2"], "{answer}");
    let received = board.sink.received();
    assert_eq!(received.len(), 1);
    assert_eq!(received[0].body, "{\"a\":1}");
    let seen = board.event(&event).await;
    assert_eq!(seen.deliveries[0].state.as_str(), "delivered");

    let last = batch([(&unreadable, 5), (&newer, 5)]);
    let answer = worker.invoke(&last).await.answer();
    assert!(given_back(&answer).is_empty(), "{answer}");
    let mut aside: Vec<_> = board.set_aside(2).await;
    aside.sort_by_key(|message| message.body.clone());
    let told: Vec<_> = aside
        .iter()
        .map(|message| (message.body.as_str(), message.attributes["reason"].as_str()))
        .collect();
    assert_eq!(told[0], ("no JSON", "the message is no hint"));
    assert_eq!(told[1].0, newer.body);
    assert!(told[1].1.contains("version 2"), "{told:?}");
    assert_eq!(board.sink.received().len(), 1, "never sent anywhere");
}

#[tokio::test]
async fn nothing_is_begun_that_may_not_end_before_the_invocation() {
    let board = Board::start().await;
    let ingress = board.function("ingress").start().await;
    board.post(&ingress, "1", b"{}").await;
    let hint = board.hints(1).await.remove(0);
    let worker = board.function("worker").start().await;
    let short = Duration::from_secs(6);
    let answer = worker
        .invoke_for(&batch([(&hint, 1)]), short)
        .await
        .answer();
    assert_eq!(given_back(&answer), ["m-0"], "{answer}");
    assert!(board.sink.received().is_empty());
    let again = board.hints(1).await;
    assert_eq!(again.len(), 1, "there again at once");
    let answer = worker.invoke(&batch([(&again[0], 2)])).await.answer();
    assert!(given_back(&answer).is_empty(), "{answer}");
    assert_eq!(board.sink.received().len(), 1);
}

#[tokio::test]
async fn a_panic_in_an_attempt_is_its_failure_and_the_next_batch_is_dealt_with() {
    let board = Board::start().await;
    let ingress = board.function("ingress").start().await;
    let broken = board
        .function("worker")
        .set("SWITCHBOARD_FAIL", "before-sending=panic");
    let worker = broken.start().await;
    for number in ["1", "2"] {
        let event = board.post(&ingress, number, b"{}").await;
        let hint = board.hints(1).await.remove(0);
        let answer = worker.invoke(&batch([(&hint, 1)])).await.answer();
        assert!(given_back(&answer).is_empty(), "{answer}");
        let seen = board.event(&event).await;
        let delivery = &seen.deliveries[0];
        assert_eq!(delivery.state.as_str(), "waiting");
        assert_eq!(delivery.log.len(), 1, "{delivery:?}");
        assert_eq!(delivery.log[0].outcome.as_str(), "unanswered");
    }
    assert!(board.sink.received().is_empty());
}

#[tokio::test]
async fn a_failed_attempt_queues_the_next_under_the_same_key() {
    let board = Board::start().await;
    board.sink.answer(|_, before| match before {
        0 => StatusCode::INTERNAL_SERVER_ERROR,
        _ => StatusCode::OK,
    });
    let ingress = board.function("ingress").start().await;
    board.post(&ingress, "1", b"{}").await;
    let worker = board.function("worker").start().await;
    for attempt in 1..=2 {
        let hint = board.hints(1).await.remove(0);
        let answer = worker.invoke(&batch([(&hint, 1)])).await.answer();
        assert!(
            given_back(&answer).is_empty(),
            "attempt {attempt}: {answer}"
        );
        // The first hint again, as a queue may give it twice: it is out of date.
        let answer = worker.invoke(&batch([(&hint, 2)])).await.answer();
        assert!(
            given_back(&answer).is_empty(),
            "attempt {attempt}: {answer}"
        );
        assert_eq!(board.sink.received().len(), attempt);
    }
    let received = board.sink.received();
    assert_eq!(received[0].key(), received[1].key());
    assert_eq!(received[1].header("switchboard-attempt"), "2");
}

#[tokio::test]
async fn a_held_destination_gets_nothing_and_its_delivery_is_held() {
    let board = Board::start().await;
    let ingress = board.function("ingress").start().await;
    let before = board.post(&ingress, "1", b"{}").await;
    let old = board.hints(1).await.remove(0);
    let worker = board.function("worker").start().await;
    let answer = worker.invoke(&batch([(&old, 1)])).await.answer();
    assert!(given_back(&answer).is_empty(), "{answer}");

    let chat = DestinationName::parse("chat").expect("a name");
    let change = Change::Hold(chat.clone());
    board.aws.change(change).await.expect("held");
    let event = board.post(&ingress, "2", b"{}").await;
    let hint = board.hints(1).await.remove(0);
    // It has not seen the settings yet.
    let worker = board.function("worker").start().await;
    let answer = worker
        .invoke(&batch([(&hint, 1), (&old, 2)]))
        .await
        .answer();
    assert!(given_back(&answer).is_empty(), "{answer}");
    assert_eq!(board.sink.received().len(), 1, "only that before the hold");
    let state = async |event: &str| board.event(event).await.deliveries[0].state.as_str();
    assert_eq!(state(&event).await, "held");
    assert_eq!(state(&before).await, "delivered", "its hint is out of date");

    // The same worker knows of the hold for some seconds yet.
    let change = Change::Release(chat, spread());
    board.aws.change(change).await.expect("released");
    let event = board.post(&ingress, "3", b"{}").await;
    let hint = board.hints(1).await.remove(0);
    let answer = worker.invoke(&batch([(&hint, 1)])).await.answer();
    assert!(given_back(&answer).is_empty(), "{answer}");
    assert_eq!(state(&event).await, "delivered", "it is held no more");
}

fn spread() -> Spread {
    Spread {
        start: now(),
        per_second: 50,
    }
}

#[tokio::test]
async fn a_delivery_without_a_destination_dies_and_its_ticket_redrives_that_death_once() {
    let board = Board::start().await;
    let ingress = board.function("ingress").start().await;
    let event = board.post(&ingress, "1", b"{}").await;
    let hint = board.hints(1).await.remove(0);
    let gone = configuration(&board.sink.url("/")).replace("\"chat\"", "\"other\"");
    board.apply(Some(1), &gone).await;
    let worker = board.function("worker").start().await;
    let answer = worker.invoke(&batch([(&hint, 1)])).await.answer();
    assert!(given_back(&answer).is_empty(), "{answer}");
    let state = async || board.event(&event).await.deliveries[0].state.as_str();
    assert_eq!(state().await, "dead");
    let ticket = board.tickets(1).await.remove(0);

    board
        .apply(Some(2), &configuration(&board.sink.url("/")))
        .await;
    let worker = board.function("worker").start().await;
    let other = ticket.body.replace("\"n\":0", "\"n\":6");
    assert_ne!(other, ticket.body);
    let moved = board.by_hand(&other).await;
    let answer = worker.invoke(&batch([(&moved, 1)])).await.answer();
    assert!(given_back(&answer).is_empty(), "{answer}");
    assert_eq!(state().await, "dead", "another death");
    let moved = board.by_hand(&ticket.body).await;
    let answer = worker.invoke(&batch([(&moved, 1)])).await.answer();
    assert!(given_back(&answer).is_empty(), "{answer}");
    assert_eq!(state().await, "waiting");
    let hint = board.hints(1).await.remove(0);
    let answer = worker.invoke(&batch([(&hint, 1)])).await.answer();
    assert!(given_back(&answer).is_empty(), "{answer}");
    assert_eq!(state().await, "delivered");
    let moved = board.by_hand(&ticket.body).await;
    let answer = worker.invoke(&batch([(&moved, 1)])).await.answer();
    assert!(given_back(&answer).is_empty(), "dropped: {answer}");
    assert_eq!(state().await, "delivered");
    assert!(board.hints(0).await.is_empty(), "no further hint");
    assert_eq!(board.sink.received().len(), 1);
}

#[tokio::test]
async fn a_destination_that_was_added_again_a_moment_ago_gets_what_was_planned_for_it() {
    let board = Board::start().await;
    let other = configuration(&board.sink.url("/other")).replace("\"chat\"", "\"other\"");
    board.apply(Some(1), &other).await;
    // It has read the one without the destination, which it goes by for five seconds.
    let worker = board.function("worker").start().await;
    let nothing = worker.invoke(&batch([])).await.answer();
    assert!(given_back(&nothing).is_empty(), "{nothing}");
    let with_chat = configuration(&board.sink.url("/chat"));
    board.apply(Some(2), &with_chat).await;
    let ingress = board.function("ingress").start().await;
    let event = board.post(&ingress, "1", b"{}").await;
    let hint = board.hints(1).await.remove(0);
    let answer = worker.invoke(&batch([(&hint, 1)])).await.answer();
    assert!(given_back(&answer).is_empty(), "{answer}");
    let seen = board.event(&event).await;
    assert_eq!(seen.deliveries[0].state.as_str(), "delivered", "{seen:?}");
    assert_eq!(board.sink.received().len(), 1);
    assert!(board.tickets(0).await.is_empty(), "no dead letter");
}

#[tokio::test]
async fn a_worker_that_cannot_use_the_newest_configuration_buries_nothing() {
    let board = Board::start().await;
    let with_chat = configuration(&board.sink.url("/chat"));
    let other = with_chat.replace("\"chat\"", "\"other\"");
    let ingress = board.function("ingress").start().await;
    let event = board.post(&ingress, "1", b"{}").await;
    let hint = board.hints(1).await.remove(0);
    board.apply(Some(1), &other).await;
    let worker = board.function("worker").start().await;
    worker.invoke(&batch([])).await.answer();
    // It names a secret that nobody made yet.
    let header = "headers = { authorization = \"secret:none\" }\nurl = ";
    let unusable = with_chat.replace("url = ", header);
    board.apply(Some(2), &unusable).await;
    let answer = worker.invoke(&batch([(&hint, 1)])).await.answer();
    assert_eq!(given_back(&answer), ["m-0"], "{answer}");
    let seen = board.event(&event).await;
    assert_eq!(seen.deliveries[0].state.as_str(), "waiting", "{seen:?}");
    assert!(board.sink.received().is_empty());
}

#[tokio::test]
async fn the_platforms_own_address_is_never_delivered_to() {
    let board = Board::start().await;
    let ingress = board.function("ingress").start().await;
    let event = board.post(&ingress, "1", b"{}").await;
    let hint = board.hints(1).await.remove(0);
    let worker = board.function("worker").start().await;
    let platform = format!("http://{}/2018-06-01/runtime/init/error", worker.platform());
    board.apply(Some(1), &configuration(&platform)).await;
    let answer = worker.invoke(&batch([(&hint, 1)])).await.answer();
    assert!(given_back(&answer).is_empty(), "{answer}");
    let seen = board.event(&event).await;
    let detail = &seen.deliveries[0].log[0].detail;
    assert!(detail.contains("the address is not allowed"), "{detail}");
}

#[tokio::test]
async fn without_the_table_everything_is_given_back() {
    let board = Board::start().await;
    let message = board.by_hand("anything").await;
    let worker = board
        .function_over("worker", "http://127.0.0.1:9")
        .start()
        .await;
    let answer = worker
        .invoke(&batch([(&message, 9), (&message, 9)]))
        .await
        .answer();
    assert_eq!(given_back(&answer), ["m-0", "m-1"]);
}
