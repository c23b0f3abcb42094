//! A flood of forged signatures.

use switchboard_tests::process::{memory, peak};
use switchboard_tests::setting::{running, sender};
use switchboard_tests::switchboard::Switchboard;
use switchboard_tests::wait::DEADLINE;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

use crate::raw::{connect, good, statuses};

/// Connections that flood, and what each sends.
const FLOODING: usize = 20;
const EACH: usize = 2_000;
/// How many are sent in one go.
const AT_ONCE: usize = 50;

/// A request to each source in turn with a signature of the right form and the wrong value.
fn forged(number: usize) -> String {
    let forms = [
        (
            "shop",
            "x-shopify-hmac-sha256: q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJA=",
        ),
        (
            "payments",
            "stripe-signature: t=1,v1=abcdef1234567890abcdef1234567890abcdef1234567890abcdef1234567890",
        ),
        (
            "code",
            "x-hub-signature-256: sha256=abcdef1234567890abcdef1234567890abcdef1234567890abcdef1234567890",
        ),
        (
            "forms",
            "webhook-id: a\r\nwebhook-timestamp: 1\r\nwebhook-signature: v1,q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJA=",
        ),
    ];
    let (source, signature) = forms[number % forms.len()];
    let body = "{\"forged\": true}\n";
    format!(
        "POST /in/{source} HTTP/1.1\r\nhost: test\r\n{signature}\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

async fn flood(switchboard: &Switchboard) {
    let mut stream = connect(switchboard).await;
    let together: String = (0..AT_ONCE).map(forged).collect();
    for _ in 0..EACH / AT_ONCE {
        stream
            .write_all(together.as_bytes())
            .await
            .expect("written");
        let mut answers = String::new();
        let mut buffer = vec![0; 64 * 1024];
        // Each answer ends in its body, which is one word.
        while answers.matches("\"refused\"").count() < AT_ONCE {
            let read = timeout(DEADLINE, stream.read(&mut buffer)).await;
            let read = read.expect("answered in time").expect("answered");
            assert_ne!(read, 0, "closed");
            answers.push_str(&String::from_utf8_lossy(&buffer[..read]));
        }
        assert!(
            statuses(&answers).iter().all(|status| *status == 401),
            "{answers}"
        );
    }
}

#[tokio::test]
async fn a_flood_of_forged_signatures_is_counted_exactly_and_takes_no_place_from_good_senders() {
    let (_sink, switchboard) = running().await;
    let shop = sender(&switchboard, "shop");
    flood(&switchboard).await;
    let before = memory(switchboard.id());
    let flooding = async {
        let all = (1..FLOODING).map(|_| Box::pin(flood(&switchboard)));
        futures_util::future::join_all(all).await
    };
    let sending = async {
        for number in 0..40 {
            good(&shop, &format!("good-{number}")).await;
        }
    };
    tokio::join!(flooding, sending);
    let sent = (FLOODING * EACH) as u64;
    assert_eq!(switchboard.total("refused").await, sent, "counted exactly");
    assert_eq!(switchboard.total("stored").await, 40);
    let after = peak(switchboard.id());
    assert!(after < before + 50, "{before} MiB before, up to {after}");
    let listed = switchboard.list("/api/refusals").await.len();
    assert!((20..=1000).contains(&listed), "{listed} are listed");
    let lines = switchboard.log().matches("refused").count();
    assert!(lines <= 1000, "{lines} lines in the log");
}
