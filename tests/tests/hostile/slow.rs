//! Senders that are slow on purpose: a head or a body of one byte now and then, for ever.

use std::time::Duration;

use switchboard_tests::setting::{running, sender};
use switchboard_tests::switchboard::Switchboard;
use switchboard_tests::wait;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

use crate::raw::{connect, good};

/// Far longer than any of them is listened to.
const CUT_WITHIN: Duration = Duration::from_secs(75);

/// Writes a beginning and then a byte at a time until the connection is closed; what was answered.
async fn drips(switchboard: &Switchboard, beginning: &[u8], drop: &[u8]) -> String {
    let mut stream = connect(switchboard).await;
    stream.write_all(beginning).await.expect("written");
    let (mut reading, mut writing) = stream.split();
    let mut answer = Vec::new();
    let dripping = async {
        loop {
            if writing.write_all(drop).await.is_err() {
                std::future::pending::<()>().await;
            }
            // One drop each time the timer comes round.
            wait::between(Duration::from_millis(200)).await;
        }
    };
    let until_closed = async {
        let _ = reading.read_to_end(&mut answer).await;
    };
    let cut = timeout(CUT_WITHIN, async {
        tokio::select! {
            () = until_closed => {}
            () = dripping => {}
        }
    });
    cut.await.expect("it is cut");
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test]
async fn slow_heads_and_bodies_are_cut_and_hold_nobody_up() {
    let (_sink, switchboard) = running().await;
    let shop = sender(&switchboard, "shop");
    let head = "POST /in/shop HTTP/1.1\r\nhost: test\r\n";
    let length = format!("{head}content-length: 100000\r\n\r\n");
    let chunked = format!("{head}transfer-encoding: chunked\r\n\r\n");
    let endless = format!("{chunked}0\r\n");
    let slow = async {
        tokio::join!(
            drips(&switchboard, head.as_bytes(), b"x"),
            drips(&switchboard, b"", b"\r\n"),
            drips(&switchboard, length.as_bytes(), b"x"),
            drips(&switchboard, chunked.as_bytes(), b"1\r\nx\r\n"),
            drips(&switchboard, endless.as_bytes(), b"x"),
        )
    };
    let sending = async {
        for number in 0..20 {
            good(&shop, &format!("good-{number}")).await;
        }
    };
    let (answers, ()) = tokio::join!(slow, sending);
    for answer in [answers.0, answers.1, answers.2, answers.3, answers.4] {
        let is_told = answer.is_empty() || answer.starts_with("HTTP/1.1 4");
        assert!(
            is_told && answer.matches("HTTP/1.1").count() <= 1,
            "{answer}"
        );
    }
    assert_eq!(switchboard.total("received").await, 20);
}
