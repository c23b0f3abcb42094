//! A receiver of alerts that is down or hangs: further attempts come after growing pauses, logged once, and holds up nothing.

use http::StatusCode;
use switchboard_tests::sink::Sink;
use switchboard_tests::switchboard::Switchboard;
use tokio::net::TcpListener;

use crate::setting::{failing_sink, heal, kinds, order, start, wait_metric};

#[tokio::test]
async fn one_that_fails_is_told_later_and_logged_once_for_each_change() {
    let (sink, alerts) = (failing_sink().await, Sink::start().await);
    alerts.answer(|_, before| match before {
        0..3 => StatusCode::INTERNAL_SERVER_ERROR,
        _ => StatusCode::NO_CONTENT,
    });
    let switchboard = Switchboard::start(start(&sink, alerts.address(), "10m")).await;
    order(&switchboard, "1").await;
    let told = alerts.wait_for(4).await;
    assert_eq!(kinds(&told), ["dead-letter warehouse"; 4]);
    let pauses: Vec<i64> = told.windows(2).map(|two| two[1].at - two[0].at).collect();
    for (pause, least) in pauses.iter().zip([1000, 2000, 4000]) {
        // Looked at each second, by another clock than the test's.
        assert!(*pause >= least - 100, "the pauses grow: {pauses:?}");
    }
    wait_metric(&switchboard, "switchboard_alerts_pending 0").await;
    let log = switchboard.log_with("alert told").await;
    for (line, count) in [
        ("alert raised", 1),
        ("alert_url takes no alerts", 1),
        ("alert_url takes alerts again", 1),
        ("alert told", 1),
    ] {
        assert_eq!(log.matches(line).count(), count, "{line}: {log}");
    }
}

#[tokio::test]
async fn one_that_redirects_has_not_taken_it() {
    let (sink, alerts) = (failing_sink().await, Sink::start().await);
    alerts.answer(|_, before| match before {
        0 => StatusCode::TEMPORARY_REDIRECT,
        _ => StatusCode::OK,
    });
    let switchboard = Switchboard::start(start(&sink, alerts.address(), "10m")).await;
    order(&switchboard, "1").await;
    let told = alerts.wait_for(2).await;
    assert_eq!(kinds(&told), ["dead-letter warehouse"; 2]);
}

#[tokio::test]
async fn one_that_hangs_holds_up_neither_events_nor_deliveries_nor_the_end() {
    let sink = failing_sink().await;
    // It takes the connection and never answers.
    let hanging = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = hanging.local_addr().expect("an address");
    let switchboard = Switchboard::start(start(&sink, address, "10m")).await;
    order(&switchboard, "1").await;
    let (_connection, _) = hanging.accept().await.expect("an alert is being told");
    heal(&sink);
    for id in ["2", "3", "4"] {
        order(&switchboard, id).await;
    }
    switchboard.wait_total("delivered", 7).await;
    assert_eq!(switchboard.get("/healthz").await["status"], "ok");
    let (ended, _folder) = switchboard.stop().await;
    assert_eq!(ended.code(), Some(0));
}
