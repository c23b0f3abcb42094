//! What a call comes to when the service is not there, or never answers.
#![expect(clippy::expect_used, reason = "a test fails by panicking")]

use std::net::{Ipv4Addr, TcpListener};
use std::time::Duration;

use switchboard_aws::client::{Clients, clients};
use switchboard_aws::failure::{conditional, failed};
use switchboard_aws::testing::environment;
use tokio::time::timeout;

/// Calls end after 3.5 seconds; far more than a busy machine adds.
const DEADLINE: Duration = Duration::from_secs(6);

/// Why a put failed.
async fn put(clients: &Clients) -> String {
    let request = clients.dynamodb.put_item().table_name("switchboard");
    let written = conditional("putting an item", request.send().await);
    written.expect_err("nobody answers").line()
}

/// A service to which one can connect, and which never says a word.
struct Silent(TcpListener);

impl Silent {
    fn new() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        Self(listener)
    }

    fn clients(&self) -> Clients {
        let address = self.0.local_addr().expect("its address");
        let url = format!("http://{address}");
        clients(&environment(&url, "123456789012").expect("an environment"))
    }

    /// How many connections were made to it.
    fn connections(&self) -> usize {
        self.0.set_nonblocking(true).expect("set");
        std::iter::from_fn(|| self.0.accept().ok()).count()
    }
}

#[tokio::test]
async fn a_table_that_never_answers_is_an_error_in_time_and_was_asked_again() {
    let silent = Silent::new();
    let clients = silent.clients();
    let line = timeout(DEADLINE, put(&clients)).await.expect("in time");
    let begin = "putting an item: there was no answer in time";
    assert!(line.starts_with(begin), "found: {line}");
    let connections = silent.connections();
    assert!(connections >= 2, "{connections} attempts");
}

#[tokio::test]
async fn a_queue_that_never_answers_is_an_error_in_time_and_was_asked_again() {
    let silent = Silent::new();
    let sqs = silent.clients().sqs;
    let request = sqs.send_message().queue_url("q").message_body("hint");
    let sent = timeout(DEADLINE, request.send()).await.expect("in time");
    let error = sent.expect_err("nobody answers");
    let line = failed("sending a hint", error).line();
    let begin = "sending a hint: there was no answer in time";
    assert!(line.starts_with(begin), "found: {line}");
    let connections = silent.connections();
    assert!(connections >= 2, "{connections} attempts");
}

#[tokio::test]
async fn a_service_that_is_not_there_is_an_error_with_its_cause() {
    let silent = Silent::new();
    let clients = silent.clients();
    drop(silent);
    let line = put(&clients).await;
    let begin = "putting an item: the connection failed: ";
    assert!(line.starts_with(begin), "found: {line}");
    assert!(line.contains("Connection refused"), "found: {line}");
}
