//! Connections: made, kept, lost, and made again.

use std::net::SocketAddr;

use switchboard_core::delivery::{Unanswered, Verdict};
use switchboard_core::ports::{Outgoing, Transport};
use tokio::net::{TcpListener, TcpSocket, TcpStream};

use crate::destination::Destination;
use crate::{Answers, LONG, SHORT, Setting, answered, post, soon, to, unanswered};

const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

#[tokio::test]
async fn a_small_answer_leaves_its_connection_to_the_next_attempt() {
    let destination = Destination::answering(OK).await;
    let transport = Setting::default().transport();
    for _ in 0..5 {
        let outcome = post(&transport, &destination.url("http", "127.0.0.1")).await;
        assert_eq!(answered(&outcome), (200, "ok"));
    }
    assert_eq!(destination.connections(), 1);
}

#[tokio::test]
async fn after_a_connection_was_closed_between_two_events_the_next_is_delivered_on_a_new_one() {
    let destination = Destination::answering_once(OK).await;
    let transport = Setting::default().transport();
    for event in 1..=3 {
        let url = destination.url("http", "127.0.0.1");
        let first = post(&transport, &url).await;
        if first.verdict() == Verdict::Delivered {
            continue;
        }
        // The close and the request crossed: a failed attempt at worst.
        assert_eq!(first, unanswered(Unanswered::Closed), "event {event}");
        assert_eq!(answered(&post(&transport, &url).await), (200, "ok"));
    }
}

#[tokio::test]
async fn a_connection_whose_answer_did_not_end_is_closed() {
    for answer in [
        "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n",
    ] {
        let (sender, mut closed) = tokio::sync::mpsc::unbounded_channel();
        let destination = Destination::start(move |mut connection| {
            let sender = sender.clone();
            async move {
                connection.request().await?;
                connection.say(answer).await?;
                connection.closed().await;
                sender.send(()).ok()
            }
        })
        .await;
        let transport = Setting::default().transport();
        let _ = post(&transport, &destination.url("http", "127.0.0.1")).await;
        soon(closed.recv()).await.expect("closed");
    }
}

#[tokio::test]
async fn a_port_that_nobody_listens_on_is_no_connection_until_somebody_does() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let at = listener.local_addr().expect("an address");
    drop(listener);
    let transport = Setting::default().transport();
    let url = format!("http://{at}/");
    let outcome = post(&transport, &url).await;
    assert_eq!(outcome, unanswered(Unanswered::NoConnection));

    let listener = TcpListener::bind(at).await.expect("the port again");
    let _destination = Destination::on(
        listener,
        |stream| async { Some(Box::new(stream) as _) },
        |mut connection| async move {
            connection.request().await?;
            connection.say(OK).await
        },
    );
    assert_eq!(answered(&post(&transport, &url).await), (200, "ok"));
}

#[tokio::test]
async fn a_name_that_does_not_resolve_is_resolved_anew_at_the_next_attempt() {
    let destination = Destination::answering(OK).await;
    let transport = Setting {
        resolver: Answers::new(&[&[], &["127.0.0.1"]]),
        ..Setting::default()
    }
    .transport();
    let url = destination.url("http", "hooks.test");
    let outcome = post(&transport, &url).await;
    assert_eq!(outcome, unanswered(Unanswered::Unresolved));
    assert_eq!(answered(&post(&transport, &url).await), (200, "ok"));
}

#[tokio::test]
async fn of_several_addresses_one_that_refuses_gives_way_to_the_next() {
    let destination = Destination::answering(OK).await;
    let transport = Setting {
        resolver: Answers::new(&[&["::1", "127.0.0.3", "127.0.0.1"]]),
        ..Setting::default()
    }
    .transport();
    let outcome = post(&transport, &destination.url("http", "hooks.test")).await;
    assert_eq!(answered(&outcome), (200, "ok"));
}

/// An address that takes no further connection: its queue is full and nobody accepts.
async fn swallowing(at: SocketAddr) -> (tokio::net::TcpListener, Vec<TcpStream>) {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.bind(at).expect("the port on another address");
    let listener = socket.listen(1).expect("a listener");
    let mut waiting = Vec::new();
    while let Ok(Ok(stream)) = tokio::time::timeout(SHORT, TcpStream::connect(at)).await {
        waiting.push(stream);
        assert!(waiting.len() < 100, "the queue fills up");
    }
    (listener, waiting)
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn an_address_that_swallows_everything_uses_up_the_time_limit_only_when_it_is_alone() {
    let destination = Destination::answering(OK).await;
    let silent = SocketAddr::new("127.0.0.2".parse().expect("an IP"), destination.at.port());
    let _kept = swallowing(silent).await;
    let transport = Setting {
        resolver: Answers::new(&[&["127.0.0.2"], &["127.0.0.2", "127.0.0.1"]]),
        ..Setting::default()
    }
    .transport();
    let url = destination.url("http", "hooks.test");
    let alone = Outgoing {
        time_limit: SHORT,
        ..to(&url)
    };
    let outcome = soon(transport.post(alone)).await;
    assert_eq!(outcome, unanswered(Unanswered::TimeLimit));
    let both = Outgoing {
        time_limit: LONG / 2,
        ..to(&url)
    };
    assert_eq!(answered(&soon(transport.post(both)).await), (200, "ok"));
}

#[tokio::test]
async fn a_name_whose_resolution_hangs_uses_up_the_time_limit() {
    struct Silent;
    impl switchboard_web::transport::Resolver for Silent {
        fn resolve(
            &self,
            _host: &str,
        ) -> futures_util::future::BoxFuture<'static, std::io::Result<Vec<std::net::IpAddr>>>
        {
            Box::pin(std::future::pending())
        }
    }
    let transport = Setting {
        resolver: std::sync::Arc::new(Silent),
        ..Setting::default()
    }
    .transport();
    let request = Outgoing {
        time_limit: SHORT,
        ..to("http://hooks.test/")
    };
    let outcome = soon(transport.post(request)).await;
    assert_eq!(outcome, unanswered(Unanswered::TimeLimit));
}
