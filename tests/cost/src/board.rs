//! A board with the first configuration's sources and twelve destinations, and functions whose calls of the
//! services are counted.

use std::fmt::Write as _;
use std::sync::Arc;

use http::HeaderValue;
use serde_json::Value;
use switchboard_aws::Aws;
use switchboard_core::time::Clock;
use switchboard_testkit::emulator::Emulator;
use switchboard_tests::board::{self, Message};
use switchboard_tests::gateway;
use switchboard_tests::lambda::Lambda;
use switchboard_tests::sender::Sender;
use switchboard_tests::setting::SOURCES;
use switchboard_tests::sink::Sink;

use crate::counter::Counter;

/// The source that everything is posted to.
pub const SOURCE: &str = "shop";
/// Destinations and what they are to do, in the order in which plans take them.
pub const DESTINATIONS: [(&str, &str); 12] = [
    ("accounting", "make-invoice"),
    ("warehouse", "reserve-items"),
    ("chat", "post-line"),
    ("crm", "add-contact"),
    ("shipping", "print-label"),
    ("loyalty", "add-points"),
    ("search", "index-order"),
    ("reporting", "count-order"),
    ("marketing", "start-journey"),
    ("fraud", "score-order"),
    ("archive", "keep-copy"),
    ("partner", "pass-on"),
];
/// The kind of an event that goes to the first so many destinations.
pub const KINDS: [(usize, &str); 3] = [
    (1, "orders/paid"),
    (3, "orders/create"),
    (12, "orders/fulfilled"),
];
/// What a Shopify sends beside its signature, id and kind.
const HEADERS: [(&str, &str); 7] = [
    ("accept", "*/*"),
    ("accept-encoding", "gzip;q=1.0,deflate;q=0.6,identity;q=0.3"),
    ("user-agent", "Shopify-Captain-Hook"),
    ("x-shopify-api-version", "2026-07"),
    ("x-shopify-event-id", "98880550-7158-44d4-b7cd-2c97c8a091b5"),
    ("x-shopify-shop-domain", "teahouse-sample.myshopify.com"),
    ("x-shopify-triggered-at", "2026-01-01T00:00:00.000000000Z"),
];

/// A deployed Switchboard without its functions.
pub struct Board(board::Board);

/// A running function, and what stands between it and the services.
pub struct Running {
    /// The function.
    pub lambda: Lambda,
    /// What counts its calls.
    pub counter: Counter,
}

fn configuration(sink: &Sink) -> String {
    let mut text = "allow_private_networks = true\n".to_owned();
    for (name, scheme, ..) in SOURCES {
        let _ = write!(
            text,
            "[[source]]\nname = \"{name}\"\nscheme = \"{scheme}\"\nsecrets = [\"secret:{name}\"]\n"
        );
    }
    // Below a second, so that the queue shows a hint at once and the worker waits out the rest.
    for (name, _) in DESTINATIONS {
        let url = sink.url(&format!("/{name}"));
        let _ = write!(
            text,
            "[[destination]]\nname = \"{name}\"\nurl = \"{url}\"\npauses = [\"950ms\"]\njitter = 0\n"
        );
    }
    for (count, kind) in KINDS {
        let each = DESTINATIONS.iter().take(count);
        let to: Vec<String> = each
            .map(|(name, action)| format!("{{ to = \"{name}\", action = \"{action}\" }}"))
            .collect();
        let to = to.join(", ");
        let _ = write!(
            text,
            "[[route]]\nsource = \"{SOURCE}\"\nkind = \"{kind}\"\ndeliver = [{to}]\n"
        );
    }
    text
}

impl Board {
    /// One in that emulator, to which the configuration was applied.
    pub async fn start(emulator: &Emulator) -> Self {
        let secrets = SOURCES.map(|(name, _, _, secret)| (name, secret));
        let board = board::Board::bare_in(emulator, &secrets).await;
        board.apply(None, &configuration(&board.sink)).await;
        Self(board)
    }

    /// All destinations.
    pub const fn sink(&self) -> &Sink {
        &self.0.sink
    }

    /// Starts a function as the template does, behind a counter of its own.
    pub async fn function(&self, name: &str) -> Running {
        let counter = Counter::start(self.0.emulator()).await;
        let function = self.0.function_over(name, counter.url());
        let function = function.set("SWITCHBOARD_STREAM", &self.0.stream().await);
        Running {
            lambda: function.start().await,
            counter,
        }
    }

    /// The backend itself, for whom it is another time.
    pub fn backend(&self, clock: Arc<dyn Clock>) -> Aws {
        self.0.backend(clock)
    }

    /// Waits until so many hints are in the queue and takes them, as the platform does.
    pub async fn hints(&self, count: usize) -> Vec<Message> {
        let found = self.0.hints(count).await;
        assert!(
            found.len() >= count,
            "of {count} hints {} came",
            found.len()
        );
        found
    }

    /// Removes all hints.
    pub async fn empty(&self) {
        let purge = self.0.clients.sqs.purge_queue();
        let purged = purge.queue_url(&self.0.place.deliveries).send().await;
        purged.expect("emptied");
    }

    /// Removes hints that were dealt with, as the platform does.
    pub async fn forget(&self, hints: &[Message]) {
        for hint in hints {
            let delete = self.0.clients.sqs.delete_message();
            let delete = delete.queue_url(&self.0.place.deliveries);
            let deleted = delete.receipt_handle(&hint.receipt).send().await;
            deleted.expect("deleted");
        }
    }
}

/// What the gateway makes of an event that its sender posts.
pub fn posted(id: &str, kind: &str, body: &str) -> Value {
    let source = SOURCES.iter().find(|(name, ..)| *name == SOURCE);
    let (_, scheme, _, secret) = source.expect("a source");
    let url = "http://nobody.example/".parse().expect("a url");
    let mut headers = Sender::new(url, scheme, secret).headers(id, kind, body.as_bytes());
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    gateway::posted(SOURCE, &headers, &gateway::encoded(body.as_bytes()))
}

/// What the platform invokes the worker with: messages that were never received before.
pub fn batch(messages: &[Message]) -> Value {
    board::batch(messages.iter().map(|message| (message, 1)))
}

/// When the delivery of a hint is due, in milliseconds since 1970.
pub fn due(hint: &Message) -> i64 {
    let hint: Value = serde_json::from_str(&hint.body).expect("a hint");
    hint["due"].as_i64().expect("a moment")
}
