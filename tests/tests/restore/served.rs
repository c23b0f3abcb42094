//! A copy that is made while events come in and a long write goes on, and one of a folder that nobody serves.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use http::StatusCode;
use switchboard_tests::sender::Sender;
use switchboard_tests::setting::{self, sender};
use switchboard_tests::sink::{Received, Sink};
use switchboard_tests::switchboard::{Start, Switchboard};
use switchboard_tests::wait;
use tokio::task::JoinHandle;

use crate::setting::{backup, restart};

/// Enough that the copy takes a while.
const BODY_BYTES: usize = 200_000;

fn body(id: &str) -> String {
    format!(
        "{{\"id\":\"{id}\",\"filling\":\"{}\"}}",
        "x".repeat(BODY_BYTES)
    )
}

/// Destinations that get an attempt each second, for longer than these stories take.
fn start(sink: &Sink) -> Start {
    let pauses = ["\"1s\""; 40].join(", ");
    setting::start(&setting::configuration(sink).replace("\"20ms\", \"40ms\"", &pauses))
}

/// Sends events until it is told to stop, and notes each id that was answered 200.
fn keep_sending(
    shop: Sender,
    accepted: Arc<Mutex<Vec<String>>>,
    ended: Arc<AtomicBool>,
) -> JoinHandle<()> {
    tokio::spawn(async move {
        for n in 0.. {
            if ended.load(Ordering::Relaxed) {
                return;
            }
            let id = format!("during-{n}");
            let answer = shop.send(&id, "orders/create", "{}").await;
            assert_eq!(answer.status, StatusCode::OK);
            accepted.lock().expect("a lock").push(id);
        }
    })
}

/// Copies until events were accepted while a copy was made; gives it, and what was accepted before it was begun.
async fn backup_meanwhile(folder: &Path, accepted: &Mutex<Vec<String>>) -> (PathBuf, Vec<String>) {
    let now = || accepted.lock().expect("a lock").clone();
    wait::until("events are accepted while a copy is made", async || {
        let before = now();
        let copy = backup(folder).await;
        if now().len() > before.len() && !before.is_empty() {
            return Some((copy, before));
        }
        std::fs::remove_file(copy).expect("removed");
        None
    })
    .await
}

fn keys(received: &[Received]) -> BTreeSet<String> {
    received.iter().map(|one| one.key().to_owned()).collect()
}

#[tokio::test]
async fn nothing_accepted_before_it_is_missing_and_what_was_delivered_since_comes_again_under_its_key()
 {
    let sink = Sink::start().await;
    sink.answer(|received, _| match &*received.path {
        "/warehouse" => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::OK,
    });
    // Each transaction stays open for a while, so that the copy is made beside one.
    let busy = start(&sink).set("SWITCHBOARD_FAIL", "before-commit=slow:30");
    let switchboard = Switchboard::start(busy).await;
    let shop = sender(&switchboard, "shop");
    for n in 0..60 {
        let id = format!("before-{n}");
        let answer = shop.send(&id, "orders/create", body(&id)).await;
        assert_eq!(answer.status, StatusCode::OK);
    }
    let (accepted, ended) = (Arc::default(), Arc::new(AtomicBool::new(false)));
    let sending = keep_sending(shop.clone(), Arc::clone(&accepted), Arc::clone(&ended));
    let (copy, before) = backup_meanwhile(switchboard.folder(), &accepted).await;
    ended.store(true, Ordering::Relaxed);
    sending.await.expect("it sent");
    shop.send("late", "orders/create", "{}").await;
    sink.answer(|_, _| StatusCode::OK);
    let all = 2 * (60 + accepted.lock().expect("a lock").len() + 1);
    switchboard.wait_total("delivered", all as u64).await;
    let first = keys(&sink.received());
    assert_eq!(first.len(), all, "each delivery under a key of its own");
    let came = sink.received().len();
    let (_folder, _) = switchboard.kill().await;

    let restored = restart(&copy, start(&sink)).await;
    let shop = sender(&restored, "shop");
    let early = (0..60).map(|n| format!("before-{n}"));
    for id in early.chain(before) {
        let again = shop.send(&id, "orders/create", "{}").await;
        assert_eq!(again.body["status"], "repeat", "{id} is there");
    }
    let late = restored.get("/api/events?sender_id=late").await;
    assert_eq!(
        late["items"],
        serde_json::json!([]),
        "what came after the copy is lost"
    );
    restored.wait_total("waiting", 0).await;
    let again = &sink.received()[came..];
    let to_warehouse = again.iter().filter(|one| one.path == "/warehouse").count();
    assert!(to_warehouse >= 60, "they come again: {to_warehouse}");
    let new: Vec<_> = keys(again).difference(&first).cloned().collect();
    assert_eq!(new, [""; 0], "under no key that was not used before");
}

#[tokio::test]
async fn a_folder_that_nobody_serves_is_copied_with_what_a_crash_left_in_its_log() {
    let sink = Sink::start().await;
    let switchboard = Switchboard::start(start(&sink)).await;
    for id in ["1", "2", "3"] {
        sender(&switchboard, "shop")
            .send(id, "orders/create", "{}")
            .await;
    }
    switchboard.wait_total("delivered", 6).await;
    let (folder, start) = switchboard.kill().await;
    let log = folder.path().join("data/switchboard.sqlite-wal");
    assert!(log.metadata().expect("a log").len() > 0);
    let copy = backup(folder.path()).await;
    let restored = restart(&copy, start.clone()).await;
    assert_eq!(restored.total("stored").await, 3);
    let goes_on = Switchboard::start_in(folder, start).await;
    assert_eq!(goes_on.total("delivered").await, 6, "it is as it was");
}
