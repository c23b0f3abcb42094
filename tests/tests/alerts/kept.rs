//! What is raised and not told yet: it is kept, over crashes too, and told when the receiver is there.

use http::StatusCode;
use switchboard_tests::sink::Sink;
use switchboard_tests::switchboard::Switchboard;
use tokio::net::TcpListener;

use crate::setting::{alert, failing_sink, heal, kinds, order, start, wait_metric};

/// An address at which nobody listens.
async fn nobody() -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    listener.local_addr().expect("an address")
}

#[tokio::test]
async fn what_was_raised_before_a_crash_is_told_after_it_and_not_again_after_the_next_start() {
    let sink = failing_sink().await;
    let address = nobody().await;
    let switchboard = Switchboard::start(start(&sink, address, "10m")).await;
    order(&switchboard, "1").await;
    wait_metric(&switchboard, "switchboard_alerts_pending 1").await;
    wait_metric(
        &switchboard,
        "switchboard_alert_raised{destination=\"warehouse\",alert=\"dead-letter\"} 1",
    )
    .await;
    let (folder, again) = switchboard.kill().await;
    let alerts = Sink::start_at(address).await;
    let switchboard = Switchboard::start_in(folder, again.clone()).await;
    assert_eq!(kinds(&alerts.wait_for(1).await), ["dead-letter warehouse"]);
    wait_metric(&switchboard, "switchboard_alerts_pending 0").await;
    let (folder, _) = switchboard.kill().await;
    let switchboard = Switchboard::start_in(folder, again).await;
    sink.answer(|_, _| StatusCode::SERVICE_UNAVAILABLE);
    order(&switchboard, "2").await;
    let two = alerts.wait_for(2).await;
    assert_eq!(kinds(&two)[1], "dead-letter accounting", "the new one only");
}

#[tokio::test]
async fn an_alert_whose_answer_a_crash_lost_is_told_again_under_the_same_id() {
    let (sink, alerts) = (failing_sink().await, Sink::start().await);
    alerts.answer(|_, _| StatusCode::BAD_GATEWAY);
    let switchboard = Switchboard::start(start(&sink, alerts.address(), "10m")).await;
    order(&switchboard, "1").await;
    alerts.wait_for(1).await;
    let (folder, again) = switchboard.kill().await;
    alerts.answer(|_, _| StatusCode::OK);
    let before = alerts.received().len();
    let switchboard = Switchboard::start_in(folder, again).await;
    wait_metric(&switchboard, "switchboard_alerts_pending 0").await;
    let told = alerts.wait_for(before + 1).await;
    let ids: Vec<_> = told.iter().map(|told| alert(told)["id"].clone()).collect();
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
}

#[tokio::test]
async fn of_what_was_over_before_it_could_be_told_only_the_recovery_is_told() {
    let sink = failing_sink().await;
    let address = nobody().await;
    let switchboard = Switchboard::start(start(&sink, address, "10m")).await;
    order(&switchboard, "1").await;
    wait_metric(&switchboard, "switchboard_alerts_pending 1").await;
    heal(&sink);
    switchboard.run(&["redrive", "--all"]).await;
    switchboard.wait_total("delivered", 2).await;
    wait_metric(
        &switchboard,
        "switchboard_alert_raised{destination=\"warehouse\",alert=\"dead-letter\"} 0",
    )
    .await;
    let alerts = Sink::start_at(address).await;
    wait_metric(&switchboard, "switchboard_alerts_pending 0").await;
    assert_eq!(kinds(&alerts.received()), ["recovered warehouse"]);
}

#[tokio::test]
async fn several_destinations_at_once_are_several_alerts() {
    let (sink, alerts) = (failing_sink().await, Sink::start().await);
    sink.answer(|_, _| StatusCode::SERVICE_UNAVAILABLE);
    let switchboard = Switchboard::start(start(&sink, alerts.address(), "10m")).await;
    for id in ["1", "2", "3"] {
        order(&switchboard, id).await;
    }
    alerts.wait_for(2).await;
    wait_metric(&switchboard, "switchboard_alerts_pending 0").await;
    let mut told = kinds(&alerts.received());
    told.sort();
    assert_eq!(told, ["dead-letter accounting", "dead-letter warehouse"]);
}
