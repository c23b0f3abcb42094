//! A log that nobody reads any more.

use std::process::Stdio;

use switchboard_tests::sender::Sender;
use switchboard_tests::setting::{SOURCES, configuration};
use switchboard_tests::sink::Sink;

use crate::piped::{address, ended, serving, terminate};

#[tokio::test]
async fn when_nobody_reads_the_log_any_more_events_are_accepted_and_delivered_all_the_same() {
    for form in ["text", "json"] {
        let sink = Sink::start().await;
        let folder = tempfile::tempdir().expect("a folder");
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let mut child = serving(folder.path(), &configuration(&sink), form)
            .env("RUST_LOG", "trace")
            .stdout(Stdio::piped())
            .stderr(writer)
            .spawn()
            .expect("the binary starts");
        let (address, lines) = address(child.stdout.take().expect("its output")).await;
        // Its output goes nowhere from here on, too.
        drop(lines);
        let (_, scheme, _, secret) = SOURCES[0];
        let answer = Sender::new(address, scheme, secret)
            .send("1", "orders/create", "{}")
            .await;
        assert_eq!(answer.status, 200, "{form}");
        let received = sink.wait_for(2).await;
        assert!(
            received
                .iter()
                .all(|one| one.header("switchboard-attempt") == "1"),
            "{received:#?}"
        );
        terminate(&child).await;
        assert_eq!(ended(&mut child).await, Some(0), "{form}");
    }
}
