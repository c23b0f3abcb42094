//! What counts as which outcome.

use switchboard_core::delivery::{Outcome, Unanswered, Verdict};
use switchboard_core::ports::{Outgoing, Transport};

use crate::destination::Destination;
use crate::{SHORT, Setting, answered, post, soon, to, unanswered};

async fn outcome_of(answer: impl Into<Vec<u8>>) -> Outcome {
    let destination = Destination::answering_once(answer).await;
    let transport = Setting::default().transport();
    post(&transport, &destination.url("http", "127.0.0.1")).await
}

#[tokio::test]
async fn every_status_in_the_200s_delivers_with_or_without_a_body() {
    for status in [200, 201, 202, 204, 205, 206, 226, 299] {
        let bare = format!("HTTP/1.1 {status} X\r\ncontent-length: 0\r\n\r\n");
        assert_eq!(answered(&outcome_of(bare).await), (status, ""));
        let full = format!("HTTP/1.1 {status} X\r\ncontent-length: 4\r\n\r\nbook");
        let outcome = outcome_of(full).await;
        assert_eq!(outcome.verdict(), Verdict::Delivered, "{status}");
    }
}

#[tokio::test]
async fn every_other_final_status_is_rejected_with_its_status() {
    for status in [101, 300, 304, 400, 401, 403, 404, 429, 500, 503, 600, 999] {
        let answer = format!("HTTP/1.1 {status} X\r\ncontent-length: 0\r\n\r\n");
        let outcome = outcome_of(answer).await;
        assert_eq!(answered(&outcome), (status, ""));
        assert_eq!(outcome.verdict(), Verdict::Rejected, "{status}");
    }
}

#[tokio::test]
async fn interim_answers_are_passed_over() {
    let ok = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
    for interim in [100, 102, 103, 199] {
        let interim = format!("HTTP/1.1 {interim} X\r\nlink: </a>\r\n\r\n");
        let (status, _) = answered_of(&format!("{interim}{interim}{ok}")).await;
        assert_eq!(status, 200, "{interim}");
        let alone = outcome_of(interim.clone()).await;
        assert_eq!(alone, unanswered(Unanswered::Closed), "{interim}");
    }
}

async fn answered_of(answer: &str) -> (u16, String) {
    let outcome = outcome_of(answer).await;
    let (status, piece) = answered(&outcome);
    (status, piece.to_owned())
}

#[tokio::test]
async fn a_status_line_without_a_reason_and_an_answer_without_a_length_are_read() {
    let bare = "HTTP/1.1 200\r\ncontent-length: 0\r\n\r\n";
    assert_eq!(answered_of(bare).await, (200, String::new()));
    let old = "HTTP/1.0 200 OK\r\n\r\nuntil the end";
    assert_eq!(answered_of(old).await, (200, "until the end".to_owned()));
}

#[tokio::test]
async fn what_is_not_http_is_unreadable() {
    let many = "x: 1\r\n".repeat(200);
    let long = "x".repeat(300 * 1024);
    for garbage in [
        "garbage\r\n\r\n".to_owned(),
        "\0\u{1}\u{2}\u{3}\r\n\r\n".to_owned(),
        "HTTP/1.1 20\r\n\r\n".to_owned(),
        "HTTP/1.1 2000 OK\r\n\r\n".to_owned(),
        "HTTP/1.1 099 OK\r\n\r\n".to_owned(),
        "HTTP/9.1 200 OK\r\n\r\n".to_owned(),
        format!("HTTP/1.1 200 OK\r\n{many}\r\n"),
        format!("HTTP/1.1 200 OK\r\nx: {long}\r\n\r\n"),
        "HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n".to_owned(),
        "HTTP/1.1 200 OK\r\na b: c\r\n\r\n".to_owned(),
    ] {
        let shown: String = garbage.chars().take(40).collect();
        let outcome = outcome_of(garbage).await;
        assert_eq!(outcome, unanswered(Unanswered::Unreadable), "{shown:?}");
    }
}

#[tokio::test]
async fn a_connection_closed_before_the_head_is_whole_is_no_answer() {
    for part in ["", "HTTP/1.1 200 OK\r\ncontent-le"] {
        let outcome = outcome_of(part).await;
        assert_eq!(outcome, unanswered(Unanswered::Closed), "{part:?}");
    }
}

#[tokio::test]
async fn a_destination_that_never_answers_uses_up_the_time_limit_and_is_hung_up_on() {
    let (closed, mut hung_up) = tokio::sync::mpsc::unbounded_channel();
    let destination = Destination::start(move |mut connection| {
        let closed = closed.clone();
        async move {
            connection.request().await?;
            connection.say("HTTP/1.1 102 Processing\r\n\r\n").await?;
            connection.closed().await;
            closed.send(()).ok()
        }
    })
    .await;
    let request = Outgoing {
        time_limit: SHORT,
        ..to(&destination.url("http", "127.0.0.1"))
    };
    let outcome = soon(Setting::default().transport().post(request)).await;
    assert_eq!(outcome, unanswered(Unanswered::TimeLimit));
    soon(hung_up.recv()).await.expect("hung up on");
}

#[tokio::test]
async fn a_redirect_is_an_answer_and_is_followed_nowhere() {
    let elsewhere = Destination::answering("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
    for status in [301, 302, 303, 307, 308] {
        let location = elsewhere.url("http", "127.0.0.1");
        let (got, _) = answered_of(&format!(
            "HTTP/1.1 {status} X\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n"
        ))
        .await;
        assert_eq!(got, status);
    }
    assert_eq!(elsewhere.connections(), 0, "nobody went there");
}
