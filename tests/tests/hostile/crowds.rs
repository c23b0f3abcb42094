//! Ten thousand connections that never become requests.

use switchboard_tests::process::{allow_handles, handles, limit_handles, memory};
use switchboard_tests::setting::{running, sender};
use switchboard_tests::switchboard::Switchboard;
use switchboard_tests::wait;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::raw::{connect, good};

const CROWD: usize = 10_000;
/// What all of them may take, in MiB: 30 KiB each.
const MOST_MEMORY: u64 = 300;

/// Makes the crowd, each of which says `says`, with a good sender among them.
async fn gather(switchboard: &Switchboard, says: &[u8], what: &str) -> Vec<TcpStream> {
    let shop = sender(switchboard, "shop");
    let mut crowd = Vec::with_capacity(CROWD);
    for number in 0..CROWD {
        let mut stream = connect(switchboard).await;
        stream.write_all(says).await.expect("written");
        crowd.push(stream);
        if number % 500 == 499 {
            good(&shop, &format!("{what}-{number}")).await;
        }
    }
    crowd
}

#[tokio::test]
async fn ten_thousand_that_say_nothing_or_half_a_head_take_no_place_from_a_good_sender() {
    allow_handles(CROWD as u64 + 500).await;
    let (_sink, switchboard) = running().await;
    let shop = sender(&switchboard, "shop");
    good(&shop, "before").await;
    let (memory_before, handles_before) = (memory(switchboard.id()), handles(switchboard.id()));
    for (what, says) in [
        ("idle", &b""[..]),
        (
            "half",
            b"POST /in/shop HTTP/1.1\r\nhost: test\r\ncontent-le",
        ),
    ] {
        let crowd = gather(&switchboard, says, what).await;
        wait::until("most of them are connected", async || {
            (handles(switchboard.id()) > CROWD / 2).then_some(())
        })
        .await;
        for number in 0..20 {
            good(&shop, &format!("{what}-after-{number}")).await;
        }
        let (memory, handles_now) = (memory(switchboard.id()), handles(switchboard.id()));
        assert!(
            memory < memory_before + MOST_MEMORY,
            "{what}: {memory} MiB, {memory_before} before"
        );
        assert!(
            handles_now < handles_before + CROWD + 300,
            "{what}: {handles_now} handles"
        );
        drop(crowd);
        wait::until("what they held is given back", async || {
            (handles(switchboard.id()) < handles_before + 100).then_some(())
        })
        .await;
    }
}

#[tokio::test]
async fn where_there_are_few_file_handles_a_crowd_takes_no_place_from_a_good_sender_either() {
    allow_handles(3_000).await;
    let (_sink, switchboard) = running().await;
    limit_handles(switchboard.id(), "400").await;
    let shop = sender(&switchboard, "shop");
    let mut crowd = Vec::new();
    for number in 0..2_000 {
        crowd.push(connect(&switchboard).await);
        if number % 200 == 199 {
            good(&shop, &format!("few-{number}")).await;
        }
    }
}
