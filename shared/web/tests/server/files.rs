//! A server that runs out of file handles goes on, and does not burn time over it.

use std::process::Stdio;
use std::time::Duration;

use switchboard_web::server::ServerLimits;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;
use tokio::process::{Child, Command};

use crate::sender::{Sender, soon};
use crate::{QUICK, SLOW, Server};

/// Run by the test below in a process of its own, with few file handles.
#[tokio::test]
#[ignore = "serves until its standard input ends"]
async fn serve_for_the_test_below() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let server = Server::on(listener, ServerLimits::default());
    println!("\nserving {}", server.at);
    let mut line = String::new();
    BufReader::new(tokio::io::stdin())
        .read_line(&mut line)
        .await
        .expect("a line");
    server.gate.add_permits(1000);
    tokio::io::copy(&mut tokio::io::stdin(), &mut tokio::io::sink())
        .await
        .expect("the end");
}

fn with_handles(handles: u32) -> Child {
    let own = std::env::current_exe().expect("this test's own file");
    Command::new("sh")
        .arg("-c")
        .arg(format!(
            "ulimit -n {handles} && exec \"$0\" --exact --ignored --nocapture files::serve_for_the_test_below"
        ))
        .arg(own)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("a process")
}

/// CPU time that a process has used, in hundredths of a second.
fn used(child: &Child) -> u64 {
    let id = child.id().expect("running");
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).expect("its numbers");
    let after_name = stat.rsplit(')').next().expect("numbers");
    let numbers: Vec<&str> = after_name.split_whitespace().collect();
    numbers[11].parse::<u64>().expect("user") + numbers[12].parse::<u64>().expect("system")
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn without_file_handles_the_server_waits_and_then_goes_on() {
    let mut child = with_handles(40);
    let mut lines = BufReader::new(child.stdout.take().expect("output")).lines();
    let at = loop {
        let line = soon(lines.next_line())
            .await
            .expect("read")
            .expect("a line");
        if let Some(at) = line.strip_prefix("serving ") {
            break at.parse().expect("an address");
        }
    };
    // All at work, so that none of them can be closed to make room; the last ones find no handle.
    let mut clients = Vec::new();
    for _ in 0..60 {
        let mut client = Sender::to(at).await;
        client.say(SLOW).await;
        clients.push(client);
    }
    let before = used(&child);
    let _ = tokio::time::timeout(Duration::from_secs(2), std::future::pending::<()>()).await;
    let burnt = used(&child) - before;
    assert!(
        burnt < 50,
        "{burnt} hundredths of a second while nothing could be done"
    );

    let mut input = child.stdin.take().expect("input");
    input.write_all(b"open\n").await.expect("written");
    for client in &mut clients {
        assert_eq!(client.answer().await.expect("an answer").body, "slow");
    }
    clients.clear();
    let mut next = Sender::to(at).await;
    next.say(QUICK).await;
    assert_eq!(next.answer().await.expect("an answer").body, "quick");
}
