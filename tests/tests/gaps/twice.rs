//! What comes twice: hints, tickets, and runs of the keeper at once.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::json;
use switchboard_core::delivery::State;
use switchboard_tests::board::Board;
use switchboard_tests::lambda::Function;

use crate::kept::{self, Kept};
use crate::mapping::{self, batch};
use crate::promises::{assert_ended, assert_totals, end_of, unfinished};
use crate::recovered::Left;
use crate::scene::{Patience, board, event, send};
use crate::watched::Watched;

#[tokio::test]
async fn a_hint_received_twice_at_once_and_again_later_has_one_successor() {
    let board = board(&["flaky"]).await;
    let mut ingress = Watched::new(&board, "ingress", None);
    let told = send(&mut ingress, "1", Patience::Patient).await;
    let hints = mapping::receive(&board, 10).await;
    let mut workers = [0; 2].map(|_| Watched::new(&board, "worker", None));
    let [one, other] = &mut workers;
    let same = batch(&hints);
    let (first, second) = tokio::join!(one.invoke(&same), other.invoke(&same));
    for invoked in [first, second] {
        let answer = invoked.answer();
        assert_eq!(answer["batchItemFailures"], json!([]), "{answer}");
    }
    let queued = mapping::waiting(&board, &board.place.deliveries).await;
    assert_eq!(queued, 2, "the hint itself, hidden, and one successor");
    // Nobody removed it: it comes again when it is shown again.
    for hint in &hints {
        mapping::show_again(&board, hint, 0).await;
    }
    mapping::run(&board, one, 1).await;
    let stored = event(&board, "1").await.expect("it is stored");
    assert_ended(&board, &stored, end_of);
    let first = |number: &str| number == "1";
    let received = board.sink.received();
    let numbers = received.iter().map(|one| one.header("switchboard-attempt"));
    assert_eq!(numbers.filter(|one| first(one)).count(), 2, "both made it");
    assert_eq!(received.len(), 3, "the second attempt is made once");
    assert_totals(&board, vec!["1"], told).await;
}

/// A worker dies at that point of its first attempt, and another one comes.
async fn killed_at(point: &str) {
    let board = board(&["flaky"]).await;
    let mut ingress = Watched::new(&board, "ingress", None);
    let told = send(&mut ingress, "1", Patience::Patient).await;
    let plan = format!("{point}=stop");
    let dies = |function: Function| function.set("SWITCHBOARD_FAIL", &plan);
    let mut dying = Watched::made(&board, "worker", None, dies);
    let hints = mapping::receive(&board, 10).await;
    mapping::invoke(&board, &mut dying, &hints).await;
    assert!(!dying.is_running(), "it died {point}");
    let mut worker = Watched::new(&board, "worker", None);
    mapping::run(&board, &mut worker, 1).await;
    let stored = event(&board, "1").await;
    assert_eq!(unfinished(stored.as_ref()), 0, "{point}");
    let stored = stored.expect("it is stored");
    assert_ended(&board, &stored, end_of);
    assert_totals(&board, vec!["1"], told).await;
}

#[tokio::test]
async fn a_worker_killed_at_any_point_of_an_attempt_leaves_it_to_the_queue() {
    for point in [
        "before-sending",
        "after-sending",
        "before-record",
        "after-record",
    ] {
        // Behind a record its hint is sent: the queue has all that is needed at each of them.
        killed_at(point).await;
    }
}

#[tokio::test]
async fn a_ticket_moved_by_hand_redrives_its_death_once_however_often_it_comes() {
    let board = board(&["mended"]).await;
    let mut ingress = Watched::new(&board, "ingress", None);
    let told = send(&mut ingress, "1", Patience::Patient).await;
    let mut worker = Watched::new(&board, "worker", None);
    mapping::run(&board, &mut worker, 1).await;
    let died = event(&board, "1").await.expect("it is stored");
    assert_ended(&board, &died, |_| (State::Dead, 3));
    let tickets = texts_in(&board, &board.place.dead_letters).await;
    assert_eq!(tickets.len(), 1, "{tickets:?}");
    for _ in 0..2 {
        for ticket in &tickets {
            let send = board.clients.sqs.send_message();
            let send = send.queue_url(&board.place.deliveries).message_body(ticket);
            send.send().await.expect("moved");
        }
        mapping::run(&board, &mut worker, 10).await;
    }
    let stored = event(&board, "1").await.expect("it is stored");
    assert_ended(&board, &stored, |_| (State::Delivered, 4));
    assert_totals(&board, vec!["1"], told).await;
}

/// The texts in a queue; they are hidden from then on.
async fn texts_in(board: &Board, queue: &str) -> Vec<String> {
    let receive = board.clients.sqs.receive_message().queue_url(queue);
    let receive = receive.max_number_of_messages(10).wait_time_seconds(1);
    let received = receive.send().await.expect("received");
    let messages = received.messages.unwrap_or_default().into_iter();
    messages.filter_map(|message| message.body).collect()
}

/// Adds up what two runs came to.
fn both(one: Kept, other: Kept) -> BTreeMap<&'static str, u64> {
    BTreeMap::from([
        ("without record", one.without_record + other.without_record),
        ("overdue", one.overdue + other.overdue),
        ("failed", one.failed + other.failed),
    ])
}

#[tokio::test]
async fn two_keepers_at_once_queue_what_is_left_and_count_everything_once() {
    let mut left = Left::without_hints().await;
    let ahead = Duration::from_mins(4);
    let mut one = kept::keeper(&left.board, ahead, None).await;
    let mut other = kept::keeper(&left.board, ahead, None).await;
    let (first, second) = tokio::join!(kept::run(&mut one), kept::run(&mut other));
    let sum = both(first.expect("a run"), second.expect("a run"));
    assert_eq!(sum["failed"], 0, "{sum:?}");
    assert_eq!(sum["overdue"], 1, "a look is moved by one of them");
    // A copy of a hint is all that comes of both finding the same.
    assert!((3..=6).contains(&sum["without record"]), "{sum:?}");
    left.assert_all_ended(vec!["1", "2"]).await;
    let third = kept::run(&mut one).await;
    assert_eq!(third, Some(Kept::NOTHING));
}
