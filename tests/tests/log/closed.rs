//! A log that nobody reads any more.

use std::process::Stdio;

use switchboard_tests::sender::Sender;
use switchboard_tests::setting::{SOURCES, configuration};
use switchboard_tests::sink::Sink;
use switchboard_tests::switchboard::command;
use switchboard_tests::wait::DEADLINE;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::time::timeout;

#[tokio::test]
async fn when_nobody_reads_the_log_any_more_events_are_accepted_and_delivered_all_the_same() {
    for form in ["text", "json"] {
        let sink = Sink::start().await;
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("switchboard.toml"), configuration(&sink))
            .expect("a file");
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let mut child = command(folder.path())
            .args([
                "serve",
                "--config",
                "switchboard.toml",
                "--data",
                "data",
                "--listen",
                "127.0.0.1:0",
            ])
            .args(["--log", form])
            .envs(SOURCES.map(|(_, _, variable, secret)| (variable, secret)))
            .env("RUST_LOG", "trace")
            .stdout(Stdio::piped())
            .stderr(writer)
            .spawn()
            .expect("the binary starts");
        let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
        let address = async {
            while let Some(line) = lines.next_line().await.expect("text") {
                if let Some(word) = line
                    .split_whitespace()
                    .find(|word| word.ends_with("/in/shop"))
                {
                    return word.parse().expect("an address");
                }
            }
            panic!("it ended");
        };
        let address = timeout(DEADLINE, address)
            .await
            .expect("it says where it is");
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
        let sent = tokio::process::Command::new("kill")
            .args(["-TERM", &child.id().expect("it runs").to_string()])
            .status()
            .await
            .expect("kill");
        assert!(sent.success());
        let ended = timeout(DEADLINE, child.wait())
            .await
            .expect("it ends")
            .expect("it ends");
        assert_eq!(ended.code(), Some(0), "{form}");
    }
}
