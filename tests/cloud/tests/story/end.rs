//! Whoever breaks a run off finds nothing of it running, and nothing lying about.

use std::net::TcpStream;
use std::process::Stdio;
use std::time::Duration;

use switchboard_tests::switchboard::beside;
use switchboard_tests::wait;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;
use tokio::time::timeout;
use url::Url;

/// Longer than the functions take to be packed and the stack to be created.
const DEPLOYED: Duration = Duration::from_mins(2);

#[tokio::test]
async fn a_run_that_is_broken_off_ends_everything_and_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut run = Command::new(beside("cloud"))
        .args(["--any-port"])
        .env("TMPDIR", folder.path())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("it runs");
    let mut lines = BufReader::new(run.stdout.take().expect("its output")).lines();
    let deployed = async {
        loop {
            let line = lines.next_line().await.expect("text").expect("a line");
            if let Some(url) = line.strip_prefix("it is at ") {
                break url.parse::<Url>().expect("an address");
            }
        }
    };
    let url = timeout(DEPLOYED, deployed).await.expect("it is deployed");
    let port = url.port().expect("a port");
    let left = || std::fs::read_dir(folder.path()).expect("a folder").count();
    assert!(
        TcpStream::connect(("127.0.0.1", port)).is_ok(),
        "it listens"
    );
    assert!(left() > 0, "the emulator has a folder");
    let id = run.id().expect("it runs").to_string();
    let sent = Command::new("kill").args(["-INT", &id]).status().await;
    assert!(sent.expect("kill").success(), "the interrupt was sent");
    // What it tells is read on, so that it never waits for a reader.
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    let ended = timeout(wait::DEADLINE, run.wait()).await.expect("it ends");
    assert_eq!(ended.expect("it ends").code(), Some(1), "it was broken off");
    assert!(
        TcpStream::connect(("127.0.0.1", port)).is_err(),
        "nobody listens"
    );
    assert_eq!(
        left(),
        0,
        "something was left in the folder for temporary files"
    );
}
