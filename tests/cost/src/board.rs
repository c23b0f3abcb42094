//! The setting: a table, its queues and secrets in an account of their own, the first configuration's sources, twelve
//! destinations on a sink, and functions that reach all of it through a proxy.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use data_encoding::BASE64;
use http::{HeaderMap, HeaderValue};
use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;
use serde_json::{Map, Value, json};
use switchboard_aws::client::{Clients, clients_within};
use switchboard_aws::configuration::Configurations;
use switchboard_aws::testing::{create_place, environment};
use switchboard_aws::{Aws, Pace, Place};
use switchboard_core::ports::{ConfigurationStore, Replaced};
use switchboard_core::time::Clock;
use switchboard_testkit::emulator::{Account, Emulator, fresh_account};
use switchboard_tests::lambda::{Function, Lambda};
use switchboard_tests::sender::{Sender, now};
use switchboard_tests::setting::SOURCES;
use switchboard_tests::sink::Sink;

use crate::proxy::Proxy;

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

/// How long a call of our own may take: the machine may be busy, and nothing of it is counted.
const PATIENCE: Duration = Duration::from_mins(2);

/// A deployed Switchboard without its functions.
pub struct Board {
    account: Account,
    emulator: SocketAddr,
    clients: Clients,
    place: Place,
    /// All destinations.
    pub sink: Sink,
}

/// A message as it was received.
#[derive(Clone, Debug)]
pub struct Message {
    /// Its text.
    pub text: String,
    receipt: String,
}

impl Message {
    /// When its delivery is due, in milliseconds since 1970.
    pub fn due(&self) -> i64 {
        let hint: Value = serde_json::from_str(&self.text).expect("a hint");
        hint["due"].as_i64().expect("a moment")
    }
}

/// A running function, and the proxy between it and the services.
pub struct Running {
    /// The function.
    pub lambda: Lambda,
    /// What counts its calls.
    pub proxy: Proxy,
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
        let account = fresh_account();
        let caller = environment(&emulator.url(), account.as_str());
        let clients = clients_within(&caller.expect("an environment"), PATIENCE);
        let place = create_place(&clients, "board").await.expect("a place");
        for (name, _, _, secret) in SOURCES {
            let create = clients.secrets.create_secret();
            let create = create.name(format!("board/{name}")).secret_string(secret);
            create.send().await.expect("a secret");
        }
        let sink = Sink::start().await;
        let store = Configurations::new(clients.dynamodb.clone(), place.table.clone());
        let replaced = store.replace(None, &configuration(&sink), now()).await;
        let done = matches!(replaced.expect("stored"), Replaced::Done(_));
        assert!(done, "it is the first");
        Self {
            account,
            emulator: emulator.address(),
            clients,
            place,
            sink,
        }
    }

    /// Starts a function as the template does, behind a proxy of its own.
    pub async fn function(&self, name: &str) -> Running {
        let proxy = Proxy::start(self.emulator).await;
        let described = self.clients.dynamodb.describe_table();
        let described = described.table_name(&self.place.table).send().await;
        let table = described.expect("described").table.expect("a table");
        let function = Function::named(name)
            .set("AWS_ACCESS_KEY_ID", self.account.as_str())
            .set("AWS_ENDPOINT_URL", &proxy.url())
            .set("SWITCHBOARD_TABLE", &self.place.table)
            .set("SWITCHBOARD_DELIVERIES", &self.place.deliveries)
            .set("SWITCHBOARD_DEAD_LETTERS", &self.place.dead_letters)
            .set("SWITCHBOARD_RETURNED", &self.place.returned)
            .set("SWITCHBOARD_SECRETS", "board")
            .set(
                "SWITCHBOARD_STREAM",
                &table.latest_stream_arn.expect("a stream"),
            )
            .set("RUST_LOG", "info");
        Running {
            lambda: function.start().await,
            proxy,
        }
    }

    /// The backend itself, for whom it is another time.
    pub fn backend(&self, clock: Arc<dyn Clock>, seed: u64) -> Aws {
        let pace = Pace {
            settings_for: Duration::from_hours(1),
            repeats_per_second: None,
            shared_for: Duration::ZERO,
            counts_every: Duration::ZERO,
        };
        let rng = Box::new(ChaCha20Rng::seed_from_u64(seed));
        Aws::new(&self.clients, self.place.clone(), pace, clock, rng)
    }

    /// Waits until so many hints are in the queue and takes them, as the platform does.
    pub async fn hints(&self, count: usize) -> Vec<Message> {
        let mut found = Vec::new();
        // A queue may keep what it has for a while.
        for _ in 0..20 {
            let receive = self.clients.sqs.receive_message();
            let receive = receive.queue_url(&self.place.deliveries);
            let receive = receive.max_number_of_messages(10).wait_time_seconds(1);
            let received = receive.send().await.expect("received");
            for message in received.messages.unwrap_or_default() {
                found.push(Message {
                    text: message.body.expect("a body"),
                    receipt: message.receipt_handle.expect("a receipt"),
                });
            }
            if found.len() >= count {
                return found;
            }
        }
        panic!("of {count} hints {} came", found.len())
    }

    /// Removes all hints.
    pub async fn empty(&self) {
        let purge = self.clients.sqs.purge_queue();
        let purged = purge.queue_url(&self.place.deliveries).send().await;
        purged.expect("emptied");
    }

    /// Removes hints that were dealt with, as the platform does.
    pub async fn forget(&self, hints: &[Message]) {
        for hint in hints {
            let delete = self.clients.sqs.delete_message();
            let delete = delete.queue_url(&self.place.deliveries);
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
    let mut headers: HeaderMap =
        Sender::new(url, scheme, secret).headers(id, kind, body.as_bytes());
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    let lines: Map<String, Value> = headers
        .iter()
        .map(|(name, value)| (name.to_string(), json!(value.to_str().expect("text"))))
        .collect();
    let gateway = "board.execute-api.example";
    let path = format!("/in/{SOURCE}");
    let (user_agent, time) = ("Shopify-Captain-Hook", "01/Jan/2026:00:00:00 +0000");
    json!({
        "version": "2.0", "routeKey": "ANY /in/{proxy+}", "rawPath": path, "rawQueryString": "",
        "headers": lines,
        "requestContext": {
            "accountId": "000000000000", "apiId": "board", "domainName": gateway, "domainPrefix": "board",
            "http": { "method": "POST", "path": path, "protocol": "HTTP/1.1", "sourceIp": "192.0.2.1", "userAgent": user_agent },
            "requestId": "request", "routeKey": "ANY /in/{proxy+}", "stage": "$default", "time": time, "timeEpoch": 1_767_225_600_000_u64,
        },
        "body": BASE64.encode(body.as_bytes()),
        "isBase64Encoded": true,
    })
}

/// What the platform invokes the worker with: messages that were never received before.
pub fn batch(messages: &[Message]) -> Value {
    let records = messages.iter().enumerate().map(|(n, message)| {
        json!({
            "messageId": format!("m-{n}"),
            "receiptHandle": message.receipt,
            "body": message.text,
            "attributes": { "ApproximateReceiveCount": "1" },
            "messageAttributes": {},
            "eventSource": "aws:sqs",
        })
    });
    json!({ "Records": records.collect::<Vec<_>>() })
}
