//! Clients that take what is not theirs: time, memory, places.

use std::fmt::Write;

use switchboard_web::server::ServerLimits;
use tokio::io::AsyncWriteExt;

use crate::sender::{Sender, soon};
use crate::{QUICK, SHORT, SLOW, Server};

#[tokio::test]
async fn a_head_of_too_many_lines_or_bytes_is_answered_431() {
    let server = Server::start(ServerLimits::default()).await;
    let lines = |n: usize, length: usize| {
        let mut head = "GET /quick HTTP/1.1\r\n".to_owned();
        for line in 0..n {
            write!(head, "x-{line}: {}\r\n", "v".repeat(length)).expect("written");
        }
        head + "\r\n"
    };
    for (head, status) in [
        (lines(100, 1), 200),
        (lines(101, 1), 431),
        (lines(90, 600), 200),
        (lines(90, 3000), 431),
        (lines(1, 1_000_000), 431),
    ] {
        let mut client = server.client().await;
        let _ = client.0.write_all(head.as_bytes()).await;
        let answer = client.answer().await.expect("an answer");
        assert_eq!(answer.status, status, "{} bytes", head.len());
    }
}

#[tokio::test]
async fn a_head_that_does_not_come_and_a_rest_that_does_not_end_are_cut() {
    let server = Server::start(ServerLimits {
        head_time: SHORT,
        ..ServerLimits::default()
    })
    .await;
    let mut mute = server.client().await;
    let mut half = server.client().await;
    half.say("GET /quick HTTP/1.1\r\nhos").await;
    let mut resting = server.client().await;
    resting.say(QUICK).await;
    assert_eq!(resting.answer().await.expect("an answer").body, "quick");
    for client in [&mut mute, &mut half, &mut resting] {
        assert!(client.is_closed().await);
    }
}

#[tokio::test]
async fn for_one_connection_too_many_the_one_that_rested_longest_makes_room() {
    let server = Server::start(ServerLimits {
        connections: 3,
        ..ServerLimits::default()
    })
    .await;
    let mut works = server.at_work().await;
    let mut rested: Vec<Sender> = Vec::new();
    for _ in 0..2 {
        let mut client = server.client().await;
        client.say(QUICK).await;
        client.answer().await.expect("an answer");
        rested.push(client);
    }
    // The first has rested shorter than the second from here on.
    rested[0].say(QUICK).await;
    rested[0].answer().await.expect("an answer");

    assert_eq!(server.body(QUICK).await, "quick", "the new one is served");
    assert!(rested[1].is_closed().await);
    rested[0].say(QUICK).await;
    assert!(rested[0].answer().await.is_some(), "this one stays");
    server.gate.add_permits(1);
    assert_eq!(works.answer().await.expect("an answer").body, "slow");
}

#[tokio::test]
async fn while_all_are_at_work_a_further_connection_is_closed_and_none_of_them() {
    let server = Server::start(ServerLimits {
        connections: 2,
        ..ServerLimits::default()
    })
    .await;
    let mut all = [server.at_work().await, server.at_work().await];
    let mut further = server.client().await;
    let _ = further.0.write_all(QUICK.as_bytes()).await;
    assert!(further.is_closed().await);
    server.gate.add_permits(2);
    for client in &mut all {
        assert_eq!(client.answer().await.expect("an answer").body, "slow");
    }
    assert_eq!(server.body(QUICK).await, "quick");
}

#[tokio::test]
async fn an_answer_that_nobody_reads_is_dropped_with_its_connection() {
    let server = Server::start(ServerLimits {
        unread_time: SHORT,
        ..ServerLimits::default()
    })
    .await;
    let mut client = server.client().await;
    client.say("GET /long HTTP/1.1\r\nhost: a\r\n\r\n").await;
    // The client reads nothing; when the server gives up, writing to it fails.
    let given_up = async { while client.0.write_all(b"\r\n").await.is_ok() {} };
    soon(given_up).await;
}

#[tokio::test]
async fn a_request_that_takes_long_is_not_cut_for_it() {
    let server = Server::start(ServerLimits {
        unread_time: SHORT / 10,
        head_time: SHORT / 10,
        ..ServerLimits::default()
    })
    .await;
    let mut works = server.at_work().await;
    let _ = tokio::time::timeout(SHORT, std::future::pending::<()>()).await;
    server.gate.add_permits(1);
    assert_eq!(works.answer().await.expect("an answer").body, "slow");
}

#[tokio::test]
async fn a_request_that_panics_takes_nothing_else_down() {
    let server = Server::start(ServerLimits::default()).await;
    let mut works = server.at_work().await;
    let mut panics = server.client().await;
    panics.say("GET /panic HTTP/1.1\r\nhost: a\r\n\r\n").await;
    assert!(panics.is_closed().await);
    assert_eq!(server.body(QUICK).await, "quick");
    server.gate.add_permits(1);
    assert_eq!(works.answer().await.expect("an answer").body, "slow");
}

#[tokio::test]
async fn a_client_that_has_closed_its_sending_side_still_gets_its_answer() {
    let server = Server::start(ServerLimits::default()).await;
    let mut client = server.client().await;
    client.say(SLOW).await;
    client.0.shutdown().await.expect("half closed");
    soon(server.arrived.acquire())
        .await
        .expect("arrived")
        .forget();
    server.gate.add_permits(1);
    assert_eq!(client.answer().await.expect("an answer").body, "slow");
}
