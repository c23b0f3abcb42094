//! Success by status line and headers, whatever the body does.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use switchboard_core::delivery::Unanswered;
use switchboard_core::piece::LONGEST_PIECE;
use switchboard_core::ports::{Outgoing, Transport};
use tokio::sync::{Semaphore, mpsc};

use crate::destination::{Connection, Destination};
use crate::{LONG, SHORT, Setting, answered, post, soon, to, unanswered};

const GIGABYTE: u64 = 1024 * 1024 * 1024;

/// Answers with `head` and then a gigabyte; sends how much of it went out once nobody takes more.
async fn pour(mut connection: Connection, head: String, poured: mpsc::UnboundedSender<u64>) {
    let chunk = vec![b'x'; 16 * 1024];
    let mut sent = 0;
    if connection.request().await.is_some() && connection.say(head).await.is_some() {
        while sent < GIGABYTE && connection.say(&chunk).await.is_some() {
            sent += 16 * 1024;
        }
    }
    let _ = poured.send(sent);
}

#[tokio::test]
async fn of_a_gigabyte_behind_a_200_only_a_little_is_read_and_the_connection_is_dropped() {
    for length in [format!("content-length: {GIGABYTE}\r\n"), String::new()] {
        let head = format!("HTTP/1.1 200 OK\r\n{length}\r\n");
        let (sender, mut poured) = mpsc::unbounded_channel();
        let destination = Destination::start(move |connection| {
            let (head, sender) = (head.clone(), sender.clone());
            async move {
                pour(connection, head, sender).await;
                Some(())
            }
        })
        .await;
        // With all the time there is for the piece, only its length can end the reading.
        let mut setting = Setting::default();
        setting.limits.piece_time = LONG;
        let transport = setting.transport();
        let outcome = post(&transport, &destination.url("http", "127.0.0.1")).await;
        let (status, piece) = answered(&outcome);
        assert_eq!((status, piece.len()), (200, LONGEST_PIECE));
        let sent = soon(poured.recv()).await.expect("a count");
        // What the sockets' own buffers swallow is not read by anyone.
        assert!(sent < 32 * 1024 * 1024, "{sent} bytes went out");
    }
}

#[tokio::test]
async fn a_200_whose_body_never_comes_is_delivered_without_waiting_for_it() {
    let destination = Destination::start(|mut connection| async move {
        connection.request().await?;
        connection
            .say("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n")
            .await?;
        connection.closed().await;
        Some(())
    })
    .await;
    let outcome = post(
        &Setting::default().transport(),
        &destination.url("http", "127.0.0.1"),
    )
    .await;
    assert_eq!(answered(&outcome), (200, ""));
}

#[tokio::test]
async fn a_200_within_the_limit_is_delivered_although_its_body_comes_after_it() {
    let go_on = Arc::new(Semaphore::new(0));
    let gate = Arc::clone(&go_on);
    let destination = Destination::start(move |mut connection| {
        let gate = Arc::clone(&gate);
        async move {
            connection.request().await?;
            connection
                .say("HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nbo")
                .await?;
            gate.acquire().await.ok()?.forget();
            connection.say("ok").await
        }
    })
    .await;
    let transport = Setting::default().transport();
    let outcome = post(&transport, &destination.url("http", "127.0.0.1")).await;
    go_on.add_permits(1);
    assert_eq!(answered(&outcome), (200, "bo"), "once, by its status");
}

#[tokio::test]
async fn a_200_with_fewer_bytes_than_announced_is_delivered() {
    let short = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\ncut";
    let destination = Destination::answering_once(short).await;
    let outcome = post(
        &Setting::default().transport(),
        &destination.url("http", "127.0.0.1"),
    )
    .await;
    assert_eq!(answered(&outcome), (200, "cut"));
}

#[tokio::test]
async fn headers_that_are_not_whole_in_time_are_no_success() {
    let destination = Destination::start(|mut connection| async move {
        connection.request().await?;
        connection.say("HTTP/1.1 200 OK\r\nx: 1\r\n").await?;
        connection.closed().await;
        Some(())
    })
    .await;
    let request = Outgoing {
        time_limit: SHORT,
        ..to(&destination.url("http", "127.0.0.1"))
    };
    let outcome = soon(Setting::default().transport().post(request)).await;
    assert_eq!(outcome, unanswered(Unanswered::TimeLimit));
}

#[tokio::test]
async fn the_piece_is_cleaned_and_an_encoded_body_gives_none() {
    let angry = "HTTP/1.1 500 X\r\ncontent-length: 19\r\n\r\n<h1>\r\n\x1b[31mno\0</h1>".to_owned();
    let zipped = "HTTP/1.1 500 X\r\ncontent-encoding: gzip\r\ncontent-length: 5\r\n\r\n\x1f\x08abc";
    for (answer, piece) in [(angry.as_str(), "<h1> [31mno </h1>"), (zipped, "")] {
        let destination = Destination::answering(answer).await;
        let outcome = post(
            &Setting::default().transport(),
            &destination.url("http", "127.0.0.1"),
        )
        .await;
        assert_eq!(answered(&outcome), (500, piece));
    }
}

#[tokio::test]
async fn a_body_that_drips_for_ever_holds_nobody_up() {
    let dripped = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&dripped);
    let destination = Destination::start(move |mut connection| {
        let count = Arc::clone(&count);
        async move {
            connection.request().await?;
            connection
                .say("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
                .await?;
            loop {
                connection.say("1\r\nx\r\n").await?;
                count.fetch_add(1, Ordering::SeqCst);
                // One byte each time the other side's timer comes round.
                let _ = tokio::time::timeout(SHORT / 10, std::future::pending::<()>()).await;
            }
        }
    })
    .await;
    let request = Outgoing {
        time_limit: LONG,
        ..to(&destination.url("http", "127.0.0.1"))
    };
    let outcome = soon(Setting::default().transport().post(request)).await;
    let (status, piece) = answered(&outcome);
    assert_eq!(status, 200);
    assert!(piece.starts_with('x'), "{piece:?}");
}
