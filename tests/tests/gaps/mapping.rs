//! What the platform does between the queue of deliveries and the worker: it receives batches, invokes the worker with them
//! and removes what that does not give back.

use aws_sdk_sqs::types::{Message, MessageSystemAttributeName, QueueAttributeName};
use serde_json::Value;
use switchboard_tests::board::Board;
use switchboard_tests::gateway::{self, Record, given_back};
use switchboard_tests::lambda::Invoked;

use crate::watched::Watched;

/// A story with more invocations than this turns in a circle.
const MOST: usize = 80;
/// How long what was received is hidden, in seconds: longer than any story takes.
const HIDDEN: i32 = 600;

/// What waits in a queue, in all of its states.
pub(crate) async fn waiting(board: &Board, queue: &str) -> usize {
    let attributes = [
        QueueAttributeName::ApproximateNumberOfMessages,
        QueueAttributeName::ApproximateNumberOfMessagesNotVisible,
        QueueAttributeName::ApproximateNumberOfMessagesDelayed,
    ];
    let asked = board.clients.sqs.get_queue_attributes().queue_url(queue);
    let asked = asked.set_attribute_names(Some(attributes.to_vec()));
    let answer = asked.send().await.expect("attributes");
    let numbers = answer.attributes.unwrap_or_default();
    let number = |text: &String| text.parse::<usize>().expect("a number");
    numbers.values().map(number).sum()
}

/// Goes on until the queue is empty and nothing of the worker is on its way.
pub(crate) async fn run(board: &Board, worker: &mut Watched, most: i32) {
    let queue = &board.place.deliveries;
    for _ in 0..MOST {
        let messages = receive(board, most).await;
        if !messages.is_empty() {
            invoke(board, worker, &messages).await;
            continue;
        }
        worker.quiet().await;
        if waiting(board, queue).await == 0 {
            return;
        }
    }
    panic!("it never comes to an end; the worker:\n{}", worker.log());
}

/// Receives some messages, once there are any within a second.
pub(crate) async fn receive(board: &Board, most: i32) -> Vec<Message> {
    let queue = &board.place.deliveries;
    let wait = i32::from(waiting(board, queue).await > 0);
    let receive = board.clients.sqs.receive_message().queue_url(queue);
    let receive = receive
        .max_number_of_messages(most)
        .message_system_attribute_names(MessageSystemAttributeName::ApproximateReceiveCount)
        .visibility_timeout(HIDDEN)
        .wait_time_seconds(wait);
    let received = receive.send().await.expect("received");
    received.messages.unwrap_or_default()
}

/// Invokes the worker with messages, and removes those that it does not give back.
pub(crate) async fn invoke(board: &Board, worker: &mut Watched, messages: &[Message]) {
    match worker.invoke(&batch(messages)).await {
        Invoked::Answered(answer) => {
            let back = given_back(&answer);
            for message in messages {
                let id = message.message_id.as_deref().expect("an id");
                if back.contains(&id) {
                    // It is to be left alone for a while, so that a worker without means is not asked again at once.
                    show_again(board, message, 1).await;
                } else {
                    remove(board, message).await;
                }
            }
        }
        Invoked::Failed(_) | Invoked::Died => {
            for message in messages {
                show_again(board, message, 0).await;
            }
        }
    }
}

/// The time is over for which a message is hidden.
pub(crate) async fn show_again(board: &Board, message: &Message, seconds: i32) {
    let change = board.clients.sqs.change_message_visibility();
    let change = change
        .queue_url(&board.place.deliveries)
        .set_receipt_handle(message.receipt_handle.clone())
        .visibility_timeout(seconds);
    change.send().await.expect("shown again");
}

/// All that is in the queue is lost.
pub(crate) async fn lose(board: &Board) {
    let purge = board.clients.sqs.purge_queue();
    let purge = purge.queue_url(&board.place.deliveries).send().await;
    purge.expect("it is empty");
}

async fn remove(board: &Board, message: &Message) {
    let delete = board.clients.sqs.delete_message();
    let delete = delete
        .queue_url(&board.place.deliveries)
        .set_receipt_handle(message.receipt_handle.clone());
    delete.send().await.expect("removed");
}

/// What the platform invokes the worker with.
pub(crate) fn batch(messages: &[Message]) -> Value {
    let count = MessageSystemAttributeName::ApproximateReceiveCount;
    gateway::batch(messages.iter().map(|message| {
        let attributes = message.attributes.as_ref();
        let receives = attributes.and_then(|all| all.get(&count));
        Record {
            id: message.message_id.as_deref().expect("an id"),
            receipt: message.receipt_handle.as_deref().expect("a receipt"),
            text: message.body.as_deref().expect("a text"),
            receives: receives.expect("a count"),
        }
    }))
}
