//! The end of a server: requests under way finish, within bounds, and nothing else is begun.

use switchboard_web::server::ServerLimits;
use tokio::net::TcpStream;

use crate::sender::{LONG, soon};
use crate::{QUICK, SHORT, Server};

#[tokio::test]
async fn a_request_under_way_is_finished_and_its_connection_closed() {
    let mut server = Server::start(ServerLimits {
        last_request: LONG * 10,
        shutdown_time: LONG * 10,
        ..ServerLimits::default()
    })
    .await;
    let mut works = server.at_work().await;
    server.shut_down();
    // Refused once the listener is closed: then the end has begun.
    let refused = async { while TcpStream::connect(server.at).await.is_ok() {} };
    soon(refused).await;
    assert!(!server.task.is_finished());
    server.gate.add_permits(1);
    assert_eq!(works.answer().await.expect("an answer").body, "slow");
    assert!(works.is_closed().await);
    soon(server.task).await.expect("ended");
}

#[tokio::test]
async fn resting_connections_do_not_hold_up_the_end() {
    let mut server = Server::start(ServerLimits {
        last_request: SHORT,
        ..ServerLimits::default()
    })
    .await;
    let mut rested = server.client().await;
    rested.say(QUICK).await;
    rested.answer().await.expect("an answer");
    let mut fresh = server.client().await;
    let mut half = server.client().await;
    half.say("GET /qui").await;
    assert_eq!(server.body(QUICK).await, "quick", "all were accepted");
    server.shut_down();
    soon(server.task).await.expect("ended");
    for client in [&mut rested, &mut fresh, &mut half] {
        assert!(client.is_closed().await);
    }
}

#[tokio::test]
async fn a_connection_made_just_before_the_end_may_still_send_its_request() {
    let mut server = Server::start(ServerLimits {
        last_request: LONG,
        shutdown_time: LONG,
        ..ServerLimits::default()
    })
    .await;
    let mut fresh = server.client().await;
    server.shut_down();
    let refused = async { while TcpStream::connect(server.at).await.is_ok() {} };
    soon(refused).await;
    fresh.say(QUICK).await;
    assert_eq!(fresh.answer().await.expect("an answer").body, "quick");
    assert!(fresh.is_closed().await);
    soon(server.task).await.expect("ended");
}

#[tokio::test]
async fn a_request_that_outlasts_the_time_for_the_end_is_cut() {
    let mut server = Server::start(ServerLimits {
        shutdown_time: SHORT,
        ..ServerLimits::default()
    })
    .await;
    let mut works = server.at_work().await;
    server.shut_down();
    soon(server.task).await.expect("ended");
    assert!(works.is_closed().await);
}
