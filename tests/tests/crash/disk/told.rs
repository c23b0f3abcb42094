//! What senders and operators are told while the disk fails and after it.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use switchboard_tests::sender::Sender;
use switchboard_tests::sink::Sink;
use switchboard_tests::switchboard::{Switchboard, TOKEN};
use switchboard_tests::wire::{self, Reply};
use tokio::task::JoinSet;

use super::{EVENTS, Then};

/// What the senders and the operators are told.
#[derive(Default)]
pub(super) struct Told {
    /// The parts of the story, by which its events are named.
    pub(super) parts: Vec<String>,
    pub(super) answered: Vec<String>,
    pub(super) repeats: usize,
    pub(super) declined: usize,
}

impl Told {
    /// How many events there are: posted again, one is the same.
    pub(super) fn events(&self) -> usize {
        self.parts.len() * EVENTS
    }

    /// Posts the events of a part and keeps what is answered: 200, or 503 with a time to come back.
    pub(super) async fn post(&mut self, switchboard: &Switchboard, shop: &Sender, part: &str) {
        if !self.parts.iter().any(|other| other == part) {
            self.parts.push(part.to_owned());
        }
        for number in 0..EVENTS {
            let reply = post(switchboard, shop, &format!("{part}-event-{number}")).await;
            match reply.status {
                200 => {
                    let body: Value = serde_json::from_str(&reply.body).expect("JSON");
                    self.repeats += usize::from(body["status"] == "repeat");
                    self.answered
                        .push(body["event"].as_str().expect("an event").to_owned());
                }
                503 => {
                    assert!(reply.header("retry-after").is_some(), "{}", reply.head);
                    self.declined += 1;
                }
                other => panic!("{other} is no answer to an event: {}", reply.head),
            }
        }
    }
}

async fn post(switchboard: &Switchboard, shop: &Sender, id: &str) -> Reply {
    let headers = shop.headers(id, "orders/create", b"{}");
    let mut lines = vec![("host", "localhost")];
    lines.extend(
        headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.to_str().expect("text"))),
    );
    wire::ask(&switchboard.url, "POST", "/in/shop", &lines, "{}").await
}

/// The status of `/healthz`.
pub(super) async fn health(switchboard: &Switchboard) -> u16 {
    let host = [("host", "localhost")];
    wire::ask(&switchboard.url, "GET", "/healthz", &host, "")
        .await
        .status
}

/// Reads so often at once that further connections to the store are opened. What cannot be read is 503; what can is
/// right.
pub(super) async fn read_at_once(switchboard: &Switchboard, stored: usize) {
    let mut reading = JoinSet::new();
    for _ in 0..8 {
        let url = switchboard.url.clone();
        reading.spawn(async move {
            let bearer = format!("Bearer {TOKEN}");
            let headers = [("host", "localhost"), ("authorization", &bearer)];
            // Each of them reads for itself, unlike those who look at the overview.
            wire::ask(&url, "GET", "/api/events?limit=200", &headers, "").await
        });
    }
    for reply in reading.join_all().await {
        if reply.status != 503 {
            let list: Value = serde_json::from_str(&reply.body).expect("a list");
            let items = list["items"].as_array().map(Vec::len);
            assert_eq!(items, Some(stored.min(200)), "{}", reply.head);
        }
    }
}

/// No attempt was made again because it could not be recorded at once.
pub(super) fn once_each(sink: &Sink) {
    let mut made = BTreeSet::new();
    for received in sink.received() {
        let attempt = (
            received.key().to_owned(),
            received.header("switchboard-attempt").to_owned(),
        );
        assert!(made.insert(attempt.clone()), "{attempt:?} was made twice");
    }
}

/// The counts are the senders' own.
pub(super) async fn counted(switchboard: &Switchboard, told: &Told, then: Then) {
    let overview = switchboard.get("/api/overview").await;
    let totals = &overview["totals"];
    assert_eq!(totals["repeats"], told.repeats, "{totals}");
    assert_eq!(
        totals["received"],
        json!(told.events() + told.repeats),
        "{totals}"
    );
    let declined = overview["declined"].as_array().expect("a list").iter();
    let declined: u64 = declined.filter_map(|row| row["count"].as_u64()).sum();
    let counted = usize::try_from(declined).expect("a number");
    match then {
        Then::GoesOn => assert_eq!(counted, told.declined, "{overview}"),
        // What could only be counted in memory died with the process.
        Then::Dies => assert!(counted <= told.declined, "{overview}"),
    }
}
