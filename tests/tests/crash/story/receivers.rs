//! The built-in sample dies while its receivers apply what is delivered to them.

use switchboard_tests::receivers::{books, switch};
use switchboard_tests::switchboard::{Start, Switchboard};

use crate::death::Death;

/// The receivers that an order of the shop goes to, your endpoint's stand-in among them.
const OF_AN_ORDER: [&str; 4] = ["accounting", "warehouse", "chat", "your-endpoint"];

/// Posts an event of the sample as a user does; whether it was answered 200.
async fn send(switchboard: &Switchboard) -> bool {
    switchboard.run(&["send", "shop", "orders/create"]).await.0 == 0
}

/// Each receiver has applied what the store says was delivered to it, once.
async fn agree(switchboard: &Switchboard, events: u64) {
    switchboard.wait_total("waiting", 0).await;
    let overview = switchboard.get("/api/overview").await;
    assert!(
        overview["totals"]["stored"].as_u64() >= Some(events),
        "{overview}"
    );
    let receivers = switchboard.receivers.as_ref().expect("receivers");
    let books = books(receivers).await;
    for name in OF_AN_ORDER {
        let (book, delivered) = (&books[name], &overview["destinations"][name]["delivered"]);
        assert_eq!(&book["applied"], delivered, "{name}: {book}");
        assert_eq!(
            &book["total"], delivered,
            "{name} wrote each down once: {book}"
        );
    }
    assert_eq!(overview["totals"]["dead"], 0, "{overview}");
}

/// Dies while a receiver applies.
pub(super) async fn sample(death: Death) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut sent = 0;
    let folder = match death.begun(folder, Start::sample()).await {
        Ok(mut switchboard) => {
            while switchboard.is_running() && sent < 5 && send(&switchboard).await {
                sent += 1;
            }
            death.came(switchboard).await
        }
        Err(folder) => folder,
    };
    let switchboard = Switchboard::start_in(folder, Start::sample()).await;
    assert!(send(&switchboard).await, "it takes events");
    agree(&switchboard, sent + 1).await;
}

/// Dies when a receiver that answered too late gets the next attempt.
pub(super) async fn copy(death: Death) {
    let folder = tempfile::tempdir().expect("a folder");
    let switchboard = death.begun(folder, Start::sample()).await;
    let switchboard = switchboard.expect("it serves until a copy comes");
    let receivers = switchboard.receivers.clone().expect("receivers");
    switch(&receivers, "accounting", "late").await;
    assert!(send(&switchboard).await, "it takes events");
    let folder = death.came(switchboard).await;
    let switchboard = Switchboard::start_in(folder, Start::sample()).await;
    agree(&switchboard, 1).await;
    let receivers = switchboard.receivers.as_ref().expect("receivers");
    let again = books(receivers).await["accounting"]["answered_again"].as_u64();
    assert!(again >= Some(1), "{again:?} copies were answered");
}
