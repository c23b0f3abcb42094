//! Whoever has it stay is told what opens it, and whoever starts a second one where the first is, that it is there.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::process::Stdio;
use std::time::Duration;

use http::{Method, StatusCode};
use switchboard_cloud::operator::Operator;
use switchboard_tests::switchboard::beside;
use switchboard_tests::wait::DEADLINE;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;
use tokio::time::timeout;

/// Longer than the functions take to be packed and the stack to be created.
const DEPLOYED: Duration = Duration::from_mins(2);
/// The last of the lines that tell where everything is.
const LAST: &str = "log";

#[tokio::test]
async fn what_stays_is_told_with_all_that_opens_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut run = Command::new(beside("cloud"))
        .args(["--any-port", "--untold", "--stay"])
        .env("TMPDIR", folder.path())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("it runs");
    let mut lines = BufReader::new(run.stdout.take().expect("its output")).lines();
    let told = async {
        let mut told = BTreeMap::new();
        while !told.contains_key(LAST) {
            let line = lines.next_line().await.expect("text").expect("a line");
            for name in ["page", "admin token", "emulator", LAST] {
                if let Some(what) = line.strip_prefix(&format!("{name:<13}")) {
                    told.insert(name, what.trim().to_owned());
                }
            }
        }
        told
    };
    let told = timeout(DEPLOYED, told).await.expect("it is deployed");
    let page = told["page"].parse().expect("an address");
    let operator = Operator::of(page, told["admin token"].clone());
    let (status, said) = operator.ask(Method::GET, "/api/overview", None).await;
    assert_eq!(status, StatusCode::OK, "{said}");
    let emulator = &told["emulator"];
    assert!(emulator.starts_with("http://127.0.0.1:"), "{emulator}");
    assert!(emulator.contains("AWS_ACCESS_KEY_ID="), "{emulator}");
    assert!(std::path::Path::new(&told[LAST]).exists(), "{told:?}");
    let id = run.id().expect("it runs").to_string();
    let sent = Command::new("kill").args(["-INT", &id]).status().await;
    assert!(sent.expect("kill").success(), "the interrupt was sent");
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    timeout(DEADLINE, run.wait())
        .await
        .expect("it ends")
        .expect("it ran");
}

#[tokio::test]
async fn a_second_one_at_the_same_port_begins_nothing_and_says_why() {
    let first = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let address = first.local_addr().expect("an address");
    let run = Command::new(beside("cloud"))
        .args([format!("--listen={address}"), "--untold".to_owned()])
        .kill_on_drop(true)
        .output();
    let ended = timeout(DEADLINE, run)
        .await
        .expect("it ends")
        .expect("it runs");
    assert_eq!(ended.status.code(), Some(1));
    let (out, err) = (
        String::from_utf8_lossy(&ended.stdout),
        String::from_utf8_lossy(&ended.stderr),
    );
    assert_eq!(out, "", "not one step was begun");
    let due = format!("{address} is taken, perhaps by another run of this");
    assert!(err.starts_with(&due), "{err}");
}
