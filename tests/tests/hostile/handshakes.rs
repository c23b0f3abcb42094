//! Destinations that take nothing: no handshake of TLS comes to an end, or nobody reads what is sent.

use switchboard_tests::process::{memory, peak};
use switchboard_tests::setting::sender;
use switchboard_tests::sink::Sink;
use tokio::io::AsyncWriteExt;

use crate::destinations::{NO_ANSWER, came_to, ended, switchboard};
use crate::hurting::{Hurting, drip, pour, until_closed};

#[tokio::test]
async fn handshakes_and_request_bodies_that_nobody_takes_use_up_the_time_limit_alone() {
    let sink = Sink::start().await;
    let silent =
        Hurting::start(|mut stream, _| async move { until_closed(&mut stream).await }).await;
    // The head of a TLS record that announces 16 KiB, and then a byte of it now and then.
    let dripping = Hurting::start(|mut stream, _| async move {
        stream.write_all(b"\x16\x03\x03\x40\x00\x02").await.ok()?;
        drip(&mut stream, "x").await
    })
    .await;
    let pouring =
        Hurting::start(|mut stream, _| async move { pour(&mut stream, "\x16\x03\x03").await })
            .await;
    let deaf = Hurting::start(|stream, _| async move {
        let kept = stream;
        std::future::pending::<()>().await;
        drop(kept);
        Some(())
    })
    .await;
    let urls = [
        ("tls-silent", format!("https://{}/", silent.at)),
        ("tls-dripping", format!("https://{}/", dripping.at)),
        ("tls-pouring", format!("https://{}/", pouring.at)),
        ("deaf", format!("http://{}/", deaf.at)),
    ];
    let switchboard = switchboard(&sink, &urls).await;
    let shop = sender(&switchboard, "shop");
    let before = memory(switchboard.id());
    // Too long for what the system keeps of it on the way.
    let body = "x".repeat(6 * 1024 * 1024);
    let mut events = Vec::new();
    for number in 0..4 {
        let id = format!("id-{number}");
        events.push(shop.send(&id, "orders/create", body.clone()).await.event());
    }
    sink.wait_for(8).await;
    for event in &events {
        let deliveries = ended(&switchboard, event).await;
        for name in ["tls-silent", "tls-dripping", "deaf"] {
            came_to(&deliveries[name], NO_ANSWER);
        }
        let tls = "TLS failed: the certificate or the handshake is not right";
        came_to(&deliveries["tls-pouring"], ("unanswered", tls));
    }
    let after = peak(switchboard.id());
    assert!(after < before + 350, "{before} MiB before, up to {after}");
}
