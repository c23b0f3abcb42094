//! The page in a browser, of the functions on AWS: a destination that fails is seen, mended, redriven and seen to be delivered
//! to, and another is held and released.

use std::sync::Arc;

use aws_sdk_sqs::types::MessageSystemAttributeName;
use bytes::Bytes;
use http::StatusCode;
use serde_json::Value;
use switchboard_tests::board::{Board, TOKEN};
use switchboard_tests::browser::Browser;
use switchboard_tests::front::Front;
use switchboard_tests::gateway::{self, Record, given, given_back, taken};
use switchboard_tests::lambda::Lambda;
use switchboard_tests::page::{answered_to, click, cookie, reads, rows, sign_in, sign_out, view};
use switchboard_tests::wait;

/// A story with more invocations than this turns in a circle.
const MOST: usize = 40;

/// A configuration in which every event goes to two destinations, of three attempts each.
fn configuration(board: &Board) -> String {
    let destination = |name: &str| {
        let url = board.sink.url(&format!("/{name}"));
        format!(
            "[[destination]]\nname = \"{name}\"\nurl = \"{url}\"\npauses = [\"20ms\", \"40ms\"]\n"
        )
    };
    format!(
        "allow_private_networks = true\n\
         [[source]]\nname = \"code\"\nscheme = \"github\"\nsecrets = [\"secret:code\"]\n{}{}\
         [[route]]\nsource = \"code\"\nkind = \"*\"\ndeliver = [{{ to = \"books\" }}, {{ to = \"chat\" }}]\n",
        destination("books"),
        destination("chat")
    )
}

/// A front door to a function: what comes is invoked with, one at a time.
async fn door(board: &Board, function: Arc<Lambda>) -> Front {
    Front::heard(board.emulator(), move |_, request: http::Request<Bytes>| {
        let function = Arc::clone(&function);
        async move { given(&function.invoke(&taken(&request)).await.answer()) }
    })
    .await
}

/// Invokes a worker that knows nothing yet with all that is queued, until nothing is.
async fn deliver(board: &Board) {
    let worker = board.function("worker").start().await;
    let queue = &board.place.deliveries;
    let count = MessageSystemAttributeName::ApproximateReceiveCount;
    let mut empty = 0;
    for _ in 0..MOST {
        let receive = board.clients.sqs.receive_message().queue_url(queue);
        let receive = receive
            .max_number_of_messages(10)
            .message_system_attribute_names(count.clone())
            .wait_time_seconds(1);
        let received = receive.send().await.expect("received");
        let messages = received.messages.unwrap_or_default();
        if messages.is_empty() {
            // A pause that was rounded down to nothing is over by then.
            empty += 1;
            if empty == 2 {
                return;
            }
            continue;
        }
        let batch = gateway::batch(messages.iter().map(|message| Record {
            id: message.message_id.as_deref().expect("an id"),
            receipt: message.receipt_handle.as_deref().expect("a receipt"),
            text: message.body.as_deref().expect("a text"),
            receives: &message.attributes.as_ref().expect("attributes")[&count],
        }));
        let answer = worker.invoke(&batch).await.answer();
        assert_eq!(given_back(&answer), Vec::<&str>::new(), "{}", worker.text());
        for message in messages {
            let delete = board.clients.sqs.delete_message().queue_url(queue);
            let delete = delete.set_receipt_handle(message.receipt_handle);
            delete.send().await.expect("removed");
        }
    }
    panic!("it never comes to an end; the worker:\n{}", worker.text());
}

/// Waits until a total is shown as that.
async fn total(browser: &mut Browser, name: &str, value: u32) {
    let script =
        format!("document.querySelector('[data-total=\"{name}\"]')?.textContent === '{value}'");
    let what = format!("{name} is shown as {value}");
    browser.wait(&what, &script).await;
}

#[tokio::test]
async fn a_failing_destination_is_seen_mended_redriven_and_seen_delivered_to() {
    let board = Board::bare().await;
    board.apply(None, &configuration(&board)).await;
    board.sink.answer(|received, _| {
        if received.path == "/chat" {
            StatusCode::SERVICE_UNAVAILABLE
        } else {
            StatusCode::OK
        }
    });
    let ingress = board.function("ingress").start().await;
    let status = board.function("status");
    let status = status.set("SWITCHBOARD_STREAM", &board.stream().await);
    let front = door(&board, Arc::new(status.start().await)).await;
    for id in ["1", "2", "3"] {
        board.post(&ingress, id, b"{}").await;
    }
    deliver(&board).await;

    let mut browser = Browser::start().await;
    browser.open(&front.url).await;
    sign_in(&mut browser, TOKEN).await;
    total(&mut browser, "dead", 3).await;
    total(&mut browser, "delivered", 3).await;
    reads(&mut browser, ".needs", "chat is failing").await;
    reads(&mut browser, ".needs", "3 dead letters wait to be redriven").await;

    view(&mut browser, "#/failed").await;
    let why = "attempts used up: last answer 503";
    let groups = rows(&mut browser, "groups").await;
    assert_eq!(groups.len(), 1, "{groups:?}");
    assert_eq!(groups[0][..3], ["chat", why, "3"]);
    let letters = rows(&mut browser, "dead-letters").await;
    assert_eq!(letters.len(), 3, "{letters:?}");
    for letter in &letters {
        assert_eq!(letter[2..8], ["code", "push", "chat", "deliver", "3", why]);
    }

    board.sink.answer(|_, _| StatusCode::OK);
    click(&mut browser, "#dead-letters tbody button").await;
    reads(&mut browser, "#running", "1 dead letter redriven, 0 left.").await;
    click(&mut browser, "#running a").await;
    deliver(&board).await;
    reads(&mut browser, "#deliveries", "4. delivered, 200").await;

    view(&mut browser, "#/failed").await;
    click(&mut browser, "#groups + .buttons button.strong").await;
    reads(&mut browser, "dialog", "2 deliveries: chat 2.").await;
    click(&mut browser, "dialog button.strong").await;
    reads(&mut browser, "#running", "2 dead letters redriven, 0 left.").await;
    deliver(&board).await;
    reads(&mut browser, "#running", "chat: 2 delivered since").await;
    reads(&mut browser, "#view", "No dead letter can be redriven.").await;
    view(&mut browser, "#/").await;
    total(&mut browser, "dead", 0).await;
    total(&mut browser, "delivered", 6).await;
    assert_eq!(browser.misbehaviour().await, Vec::<&Value>::new());
    browser.close().await;

    let attempts = board.sink.received();
    let to_chat = attempts.iter().filter(|one| one.path == "/chat").count();
    assert_eq!(
        (attempts.len(), to_chat),
        (15, 12),
        "3 x 3 that failed, 3 that did not"
    );
}

#[tokio::test]
async fn whoever_signed_out_is_signed_out_of_every_process() {
    let board = Board::start().await;
    let status = async || {
        let status = board.function("status");
        let status = status.set("SWITCHBOARD_STREAM", &board.stream().await);
        door(&board, Arc::new(status.start().await)).await
    };
    let (front, other) = (status().await, status().await);
    let mut browser = Browser::start().await;
    browser.open(&front.url).await;
    sign_in(&mut browser, TOKEN).await;
    let cookie = cookie(&mut browser).await;
    assert_eq!(answered_to(&other.url, &cookie).await, StatusCode::OK);
    sign_out(&mut browser).await;
    let refused = answered_to(&front.url, &cookie).await;
    assert_eq!(refused, StatusCode::UNAUTHORIZED, "at once where it was");
    // Another process goes by settings that are seconds old.
    wait::until("the other process knows", async || {
        let answered = answered_to(&other.url, &cookie).await;
        (answered == StatusCode::UNAUTHORIZED).then_some(())
    })
    .await;
    browser.close().await;
}

#[tokio::test]
async fn a_destination_is_held_and_released() {
    let board = Board::bare().await;
    board.apply(None, &configuration(&board)).await;
    let ingress = board.function("ingress").start().await;
    let status = board.function("status");
    let status = status.set("SWITCHBOARD_STREAM", &board.stream().await);
    let front = door(&board, Arc::new(status.start().await)).await;
    let mut browser = Browser::start().await;
    browser.open(&front.url).await;
    sign_in(&mut browser, TOKEN).await;

    view(&mut browser, "#/destinations").await;
    click(&mut browser, "[aria-label=\"Hold books\"]").await;
    reads(&mut browser, "[data-destination=books] h2", "held").await;
    let event = board.post(&ingress, "1", b"{}").await;
    deliver(&board).await;
    view(&mut browser, &format!("#/events/{event}")).await;
    reads(&mut browser, "[aria-label=\"Delivery to books\"]", "held").await;
    reads(
        &mut browser,
        "[aria-label=\"Delivery to chat\"]",
        "1. delivered, 200",
    )
    .await;

    view(&mut browser, "#/destinations").await;
    click(&mut browser, "[aria-label=\"Release books\"]").await;
    reads(&mut browser, "#running", "1 delivery released.").await;
    deliver(&board).await;
    view(&mut browser, &format!("#/events/{event}")).await;
    reads(
        &mut browser,
        "[aria-label=\"Delivery to books\"]",
        "1. delivered, 200",
    )
    .await;
    assert_eq!(browser.misbehaviour().await, Vec::<&Value>::new());
    browser.close().await;
}
