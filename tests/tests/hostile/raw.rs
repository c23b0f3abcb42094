//! A client that writes whatever bytes it is given.

use switchboard_tests::sender::Sender;
use switchboard_tests::switchboard::Switchboard;
use switchboard_tests::wait::DEADLINE;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Whether the client closes its sending side once all is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    /// It does.
    Close,
    /// It waits for the other side to close the connection.
    Wait,
}

pub(crate) async fn connect(switchboard: &Switchboard) -> TcpStream {
    let address = (
        switchboard.url.host_str().expect("a host"),
        switchboard.url.port().expect("a port"),
    );
    let stream = timeout(DEADLINE, TcpStream::connect(address)).await;
    let stream = stream.expect("in time").expect("a connection");
    stream.set_nodelay(true).expect("an option");
    stream
}

/// Writes the bytes and reads all that comes until the connection is closed, which must happen in time.
pub(crate) async fn exchange(switchboard: &Switchboard, bytes: &[u8], then: Then) -> String {
    let mut stream = connect(switchboard).await;
    // It may be closed while this is still writing.
    let _ = timeout(DEADLINE, stream.write_all(bytes))
        .await
        .expect("in time");
    if then == Then::Close {
        let _ = stream.shutdown().await;
    }
    let mut answer = Vec::new();
    let read = timeout(DEADLINE, stream.read_to_end(&mut answer)).await;
    let _ = read.unwrap_or_else(|_| {
        let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(300)]).into_owned();
        panic!(
            "it is closed in time: {shown:?}, {:?}",
            String::from_utf8_lossy(&answer)
        )
    });
    String::from_utf8_lossy(&answer).into_owned()
}

/// The status of each answer, in order.
pub(crate) fn statuses(answers: &str) -> Vec<u16> {
    answers
        .split("HTTP/1.1 ")
        .skip(1)
        .filter_map(|answer| answer.get(..3)?.parse().ok())
        .collect()
}

/// A rightly signed request as bytes, with further header lines.
pub(crate) fn signed(sender: &Sender, path: &str, id: &str, lines: &str, body: &str) -> Vec<u8> {
    let length = format!("content-length: {}\r\n", body.len());
    framed(sender, path, id, &format!("{length}{lines}"), body, body)
}

/// One whose body is written in another way than plainly, as its header lines must say.
pub(crate) fn framed(
    sender: &Sender,
    path: &str,
    id: &str,
    lines: &str,
    body: &str,
    written: &str,
) -> Vec<u8> {
    let mut head = format!("POST {path} HTTP/1.1\r\nhost: test\r\n").into_bytes();
    for (name, value) in &sender.headers(id, "orders/create", body.as_bytes()) {
        head.extend([name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"].concat());
    }
    [&head, lines.as_bytes(), b"\r\n", written.as_bytes()].concat()
}

/// A good sender's event, which must be accepted as if nothing were going on.
pub(crate) async fn good(sender: &Sender, id: &str) {
    let answer = sender.send(id, "orders/create", "{}").await;
    assert_eq!(
        (answer.status.as_u16(), answer.body["status"].as_str()),
        (200, Some("accepted")),
        "{id}, from a good sender"
    );
}
