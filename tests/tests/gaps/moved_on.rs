//! What the platform itself moves from the queue of deliveries to that of what came back, by the queue's own policy.

use std::time::Duration;

use aws_sdk_sqs::types::QueueAttributeName;
use serde_json::json;
use switchboard_tests::board::Board;
use switchboard_tests::wait;

use crate::kept::{self, Kept};
use crate::mapping;
use crate::promises::{assert_ended, assert_totals, end_of};
use crate::scene::{Patience, board, event, send};
use crate::watched::Watched;

/// How often a hint is received before the platform moves it on; of the stack it is fifty times.
const RECEIVES: usize = 3;

/// Gives the queue of deliveries the policy that the stack's has, with fewer receives.
async fn set_policy(board: &Board) {
    let (sqs, place) = (&board.clients.sqs, &board.place);
    let asked = sqs.get_queue_attributes().queue_url(&place.returned);
    let asked = asked.attribute_names(QueueAttributeName::QueueArn);
    let found = asked.send().await.expect("attributes").attributes;
    let to = found.and_then(|mut all| all.remove(&QueueAttributeName::QueueArn));
    let policy = json!({ "deadLetterTargetArn": to.expect("a name"), "maxReceiveCount": RECEIVES });
    let set = sqs.set_queue_attributes().queue_url(&place.deliveries);
    let set = set.attributes(QueueAttributeName::RedrivePolicy, policy.to_string());
    set.send().await.expect("it is set");
}

#[tokio::test]
async fn a_hint_that_the_platform_moves_on_after_too_many_receives_is_sent_back_and_delivered() {
    let board = board(&["good"]).await;
    set_policy(&board).await;
    let mut ingress = Watched::new(&board, "ingress", None);
    let told = send(&mut ingress, "1", Patience::Patient).await;
    // Whoever receives it dies, again and again.
    for nth in 1..=RECEIVES {
        let hints = mapping::receive(&board, 10).await;
        assert_eq!(hints.len(), 1, "the {nth}th time");
        mapping::show_again(&board, &hints[0], 0).await;
    }
    wait::until("the platform moves it on", async || {
        assert_eq!(mapping::receive(&board, 10).await, [], "no more than that");
        let moved = mapping::waiting(&board, &board.place.returned).await;
        (moved == 1).then_some(())
    })
    .await;
    assert_eq!(mapping::waiting(&board, &board.place.deliveries).await, 0);

    let mut keeper = kept::keeper(&board, Duration::ZERO, None).await;
    let sent_back = Kept {
        returned: 1,
        ..Kept::NOTHING
    };
    assert_eq!(kept::run(&mut keeper).await, Some(sent_back));
    let mut worker = Watched::new(&board, "worker", None);
    mapping::run(&board, &mut worker, 1).await;
    let stored = event(&board, "1").await.expect("it is stored");
    assert_ended(&board, &stored, end_of);
    assert_totals(&board, vec!["1"], told).await;
    assert_eq!(kept::run(&mut keeper).await, Some(Kept::NOTHING));
}
