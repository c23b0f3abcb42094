//! A Switchboard that runs out of file handles goes on, and does not burn time over it.

use std::time::Duration;

use switchboard_tests::process::{handles, limit_handles, processor_time};
use switchboard_tests::setting;
use switchboard_tests::sink::Sink;
use switchboard_tests::switchboard::Switchboard;
use switchboard_tests::wait::{self, DEADLINE};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

#[tokio::test]
async fn without_file_handles_it_waits_and_then_goes_on() {
    let sink = Sink::start().await;
    let switchboard = Switchboard::start(setting::start(&setting::configuration(&sink))).await;
    let id = switchboard.id();
    limit_handles(id, &(handles(id) + 20).to_string()).await;
    let address = (
        switchboard.url.host_str().expect("a host"),
        switchboard.url.port().expect("a port"),
    );
    // All at work, so that none of them can be closed to make room; the last ones find no handle.
    let mut clients = Vec::new();
    for _ in 0..60 {
        let mut client = TcpStream::connect(address).await.expect("a connection");
        let head = "POST /in/shop HTTP/1.1\r\nhost: test\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{";
        client.write_all(head.as_bytes()).await.expect("written");
        clients.push(client);
    }
    let before = processor_time(id);
    wait::between(Duration::from_secs(2)).await;
    let burnt = processor_time(id) - before;
    assert!(
        burnt < 50,
        "{burnt} hundredths of a second while nothing could be done"
    );
    // A connection that had not said anything yet may have been closed to make room; those at work are served.
    let mut served = 0;
    for mut client in clients {
        let mut answer = String::new();
        let _ = client.write_all(b"}").await;
        let read = timeout(DEADLINE, client.read_to_string(&mut answer)).await;
        served += u32::from(read.expect("in time").is_ok() && answer.starts_with("HTTP/1.1 401"));
    }
    assert!(served >= 15, "{served} of those at work were answered");
    let (name, scheme, _, secret) = setting::SOURCES[0];
    let answer = switchboard
        .sender(name, scheme, secret)
        .send("id-1", "orders/create", "{}")
        .await;
    assert_eq!(answer.status, 200);
}
