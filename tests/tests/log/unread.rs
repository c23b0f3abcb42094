//! A log whose reader stands still: the pipe is full and stays so, with what is printed in it too.

use std::io::ErrorKind;
use std::os::fd::OwnedFd;

use switchboard_tests::sender::Sender;
use switchboard_tests::setting::{SOURCES, configuration, configuration_to};
use switchboard_tests::sink::Sink;
use switchboard_tests::wait;
use tempfile::TempDir;
use tokio::io::{BufReader, Lines};
use tokio::net::unix::pipe::{Receiver, Sender as PipeSender};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::Child;
use url::Url;

use crate::piped::{address, ended, serving, terminate};

/// One that is up, whose output nobody takes any more.
struct Unread {
    child: Child,
    address: Url,
    _folder: TempDir,
    _reader: Lines<BufReader<Receiver>>,
}

impl Unread {
    async fn start(configuration: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let (reader, writer) = std::io::pipe().expect("a pipe");
        let child = serving(folder.path(), configuration, "text")
            .stdout(writer.try_clone().expect("a handle"))
            .stderr(writer.try_clone().expect("a handle"))
            .spawn()
            .expect("the binary starts");
        let reader = Receiver::from_owned_fd(reader.into()).expect("a pipe");
        let (address, reader) = address(reader).await;
        fill(writer.into()).await;
        Self {
            child,
            address,
            _folder: folder,
            _reader: reader,
        }
    }

    async fn post(&self) {
        let (_, scheme, _, secret) = SOURCES[0];
        let sender = Sender::new(self.address.clone(), scheme, secret);
        let answer = sender.send("1", "orders/create", "{}").await;
        assert_eq!(answer.status, 200);
    }
}

/// Fills the pipe to its last byte. Whoever writes to it waits from then on.
async fn fill(pipe: OwnedFd) {
    let pipe = PipeSender::from_owned_fd(pipe).expect("a pipe");
    // Until it is known that there is room, nothing is tried.
    pipe.writable().await.expect("room");
    let full = std::iter::repeat_with(|| pipe.try_write(b".")).find_map(Result::err);
    assert_eq!(full.expect("an end").kind(), ErrorKind::WouldBlock);
    // The way of writing is the pipe's, not the handle's.
    drop(pipe.into_blocking_fd().expect("a handle"));
}

#[tokio::test]
async fn a_log_that_is_not_read_holds_up_neither_deliveries_nor_the_end() {
    let sink = Sink::start().await;
    let mut unread = Unread::start(&configuration(&sink)).await;
    unread.post().await;
    sink.wait_for(2).await;
    terminate(&unread.child).await;
    assert_eq!(ended(&mut unread.child).await, Some(0));
}

#[tokio::test]
async fn a_log_that_is_not_read_does_not_hold_up_an_end_that_is_asked_for_twice() {
    // It takes connections and never answers.
    let silent = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let to = format!("http://{}/", silent.local_addr().expect("an address"));
    let slow = configuration_to(&to).replace("pauses", "time_limit = \"1m\"\npauses");
    let mut unread = Unread::start(&slow).await;
    unread.post().await;
    let (_attempt, _) = silent.accept().await.expect("an attempt");
    terminate(&unread.child).await;
    let at = unread.address.socket_addrs(|| None).expect("an address");
    wait::until("it takes no connections", async || {
        let connected = TcpStream::connect(&*at).await;
        connected.is_err().then_some(())
    })
    .await;
    terminate(&unread.child).await;
    assert_eq!(ended(&mut unread.child).await, Some(1));
}
