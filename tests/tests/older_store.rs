//! A data folder that an earlier version of the program left: it opens, nothing in it is lost, and it goes on.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use std::fmt::Write as _;

use serde_json::{Value, json};
use switchboard_tests::setting::{self, sender};
use switchboard_tests::sink::{Received, Sink};
use switchboard_tests::switchboard::Switchboard;

/// What was left; `tests/data/README.md` says what is in it.
const STORE: &[u8] = include_bytes!("../data/schema-1.store");

/// The deliveries in it, by what is to become of them: destination, key and the attempts made.
const WAITING: [(&str, &str, u64); 2] = [
    ("flaky", "dlv_2a4hzdpy5dketwj66ffkwx3is4", 2),
    ("flaky", "dlv_a3p7zbx3viov66tlzwted65pca", 2),
];
const HELD: [(&str, &str, u64); 2] = [
    ("crm", "dlv_ah7uzwgvapq2jv53cpmd7qmrq4", 0),
    ("crm", "dlv_tpp7tvmwo6z2aeme6gahnzeoxy", 1),
];
const DEAD: [(&str, &str, u64); 2] = [
    ("warehouse", "dlv_t2ssplkinqdzluukd4beocguuu", 3),
    ("warehouse", "dlv_wepjokxnbs4p7lh5zdq6lcpggi", 6),
];
const GONE: [(&str, &str, u64); 2] = [
    ("gone", "dlv_4ojbpxvpupojxbz35cybizh4ae", 1),
    ("gone", "dlv_rrkroqqxe2umcxhjjekbf7cvra", 1),
];

/// The same destinations as the one that left it had, now on `sink`.
fn configuration(sink: &Sink) -> String {
    let mut text = "keep_days = 3650\nallow_private_networks = true\n".to_owned();
    for (name, scheme, variable, _) in setting::SOURCES {
        let _ = write!(
            text,
            "[[source]]\nname = \"{name}\"\nscheme = \"{scheme}\"\nsecrets = [\"env:{variable}\"]\n"
        );
    }
    for name in ["accounting", "warehouse", "flaky", "crm"] {
        let url = sink.url(&format!("/{name}"));
        let _ = write!(
            text,
            "[[destination]]\nname = \"{name}\"\nurl = \"{url}\"\n"
        );
    }
    text
}

/// A Switchboard over what was left, and its destinations, all of them well.
async fn opened() -> (Sink, Switchboard) {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    std::fs::create_dir(&data).expect("a folder");
    std::fs::write(data.join("switchboard.sqlite"), STORE).expect("a store");
    let sink = Sink::start().await;
    let start = setting::start(&configuration(&sink));
    let switchboard = Switchboard::start_in(folder, start).await;
    (sink, switchboard)
}

/// What came to a destination: key and number of each attempt, in order of the keys.
fn attempts(received: &[Received], destination: &str) -> Vec<(String, u64)> {
    let path = format!("/{destination}");
    let mut attempts: Vec<_> = received
        .iter()
        .filter(|received| received.path == path)
        .map(|received| {
            let number = received.header("switchboard-attempt").parse();
            (received.key().to_owned(), number.expect("a number"))
        })
        .collect();
    attempts.sort();
    attempts
}

/// The attempt after those that were made.
fn next(of: [(&str, &str, u64); 2]) -> Vec<(String, u64)> {
    of.map(|(_, key, made)| (key.to_owned(), made + 1)).to_vec()
}

#[tokio::test]
async fn the_totals_lists_and_settings_are_those_that_were_left() {
    let (sink, switchboard) = opened().await;
    sink.wait_for(2).await;
    switchboard.wait_total("waiting", 0).await;
    let overview = switchboard.get("/api/overview").await;
    let expected = json!({
        "received": 6, "stored": 4, "repeats": 2, "repeats_with_other_body": 1, "refused": 1, "declined": 1,
        "unrouted": 1, "delivered": 9, "waiting": 0, "held": 2, "dead": 4, "expired": 0,
    });
    assert_eq!(overview["totals"], expected);
    assert_eq!(overview["held"], json!(["crm"]));
    let endpoint = json!({ "set": true, "address": "http://127.0.0.1:9/…" });
    assert_eq!(overview["your_endpoint"], endpoint);

    let events = items(&switchboard, "/api/events").await;
    let ids: Vec<_> = events.iter().map(|event| &event["sender_id"]).collect();
    assert_eq!(ids, ["3", "c-1", "2", "1"]);
    assert_eq!(events[3]["at"], "2025-04-01T09:00:00.000Z");
    let path = format!(
        "/api/events/{}",
        events[3]["event"].as_str().expect("an id")
    );
    let event = switchboard.get(&path).await;
    assert_eq!(event["repeats_with_other_body"], 1);
    let list = event["delivery_list"].as_array().expect("deliveries");
    let log_of = |name: &str| {
        let of = list.iter().find(|one| one["destination"] == name);
        of.expect("a delivery")["log"].as_array().map(Vec::len)
    };
    assert_eq!(log_of("accounting"), Some(4));
    assert_eq!(log_of("your-endpoint"), Some(1));

    let letters = items(&switchboard, "/api/dead-letters").await;
    let mut letters: Vec<_> = letters.iter().map(letter).collect();
    letters.sort();
    let mut expected: Vec<_> = DEAD.into_iter().chain(GONE).collect();
    expected.sort_unstable();
    let left = expected
        .iter()
        .map(|(name, key, made)| ((*name).to_owned(), (*key).to_owned(), *made));
    assert_eq!(letters, left.collect::<Vec<_>>());
    for (list, count) in [("/api/refusals", 1), ("/api/declined", 1)] {
        assert_eq!(items(&switchboard, list).await.len(), count, "{list}");
    }
}

async fn items(switchboard: &Switchboard, path: &str) -> Vec<Value> {
    let list = switchboard.get(path).await;
    list["items"].as_array().expect("items").clone()
}

fn letter(letter: &Value) -> (String, String, u64) {
    let text = |name: &str| letter[name].as_str().expect("a text").to_owned();
    let attempts = letter["attempts"].as_u64().expect("a number");
    (text("destination"), text("delivery"), attempts)
}

#[tokio::test]
async fn what_waits_is_attempted_under_its_key_with_the_next_number() {
    let (sink, switchboard) = opened().await;
    switchboard.wait_total("waiting", 0).await;
    let received = sink.received();
    assert_eq!(attempts(&received, "flaky"), next(WAITING));
    let mut bodies: Vec<_> = received.iter().map(|received| &received.body[..]).collect();
    bodies.sort_unstable();
    assert_eq!(bodies, [&b"{\"id\":1}"[..], b"{\"id\":2}"]);
}

#[tokio::test]
async fn what_is_dead_can_be_redriven_and_what_is_held_released() {
    let (sink, switchboard) = opened().await;
    switchboard.wait_total("waiting", 0).await;
    let (code, printed) = switchboard.run(&["redrive", "--all"]).await;
    assert_eq!((code, &*printed), (0, "4 sent again, 0 left\n"));
    let (code, _) = switchboard.run(&["release", "crm"]).await;
    assert_eq!(code, 0);
    switchboard.wait_total("delivered", 13).await;
    switchboard.wait_total("dead", 2).await;
    let received = sink.received();
    assert_eq!(attempts(&received, "warehouse"), next(DEAD));
    assert_eq!(attempts(&received, "crm"), next(HELD));
    let letters = items(&switchboard, "/api/dead-letters").await;
    let is_gone = |letter: &Value| letter["destination"] == "gone";
    assert!(
        letters.iter().all(is_gone),
        "nowhere to send them to: {letters:?}"
    );
}

#[tokio::test]
async fn what_was_accepted_is_a_repeat_and_your_endpoint_keeps_its_secret() {
    let (sink, switchboard) = opened().await;
    let shop = sender(&switchboard, "shop");
    for id in ["1", "2", "3"] {
        let answer = shop.send(id, "orders/create", "{}").await;
        assert_eq!(answer.body["status"], "repeat", "{id}");
    }
    let url = sink.url("/yours");
    let (code, printed) = switchboard.run(&["endpoint", "set", &url]).await;
    assert_eq!(code, 0, "{printed}");
    assert!(!printed.contains("whsec_"), "it has one: {printed}");
    shop.send("5", "orders/create", "{}").await;
    let copied = |received: &[Received]| received.iter().any(|one| one.path == "/yours");
    sink.wait("a copy came", copied).await;
}
