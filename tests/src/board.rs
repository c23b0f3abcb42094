//! A deployed Switchboard without its functions: a table, its queues and secrets in an account of their own, one source, and
//! what the platform would invoke the functions with.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use http::HeaderMap;
use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;
use serde_json::Value;
use switchboard_aws::client::{Clients, clients_within};
use switchboard_aws::configuration::Configurations;
use switchboard_aws::testing::{create_place, environment};
use switchboard_aws::{Aws, Pace, Place};
use switchboard_core::identity::EventId;
use switchboard_core::ports::{ConfigurationStore, Replaced, Version, Views};
use switchboard_core::time::{Clock, Timestamp};
use switchboard_core::views::EventView;
use switchboard_testkit::emulator::{Account, Emulator, fresh_account};

use crate::gateway::{self, Record, body_of, encoded, posted};
use crate::lambda::{Function, Lambda};
use crate::sender::{Sender, now};
use crate::sink::Sink;

/// What operators prove to be operators with.
pub const TOKEN: &str = "a-token-for-tests-only";
const SECRET: &str = "a secret of sixteen bytes or more";

/// How long a call of the test itself may take: many share one emulator.
const PATIENCE: Duration = Duration::from_mins(1);

/// The real clock: the functions go by it too.
struct RealClock;

impl Clock for RealClock {
    fn now(&self) -> Timestamp {
        now()
    }

    fn ticks(&self) -> Duration {
        Duration::from_millis(u64::try_from(now().millis()).unwrap_or_default())
    }
}

/// A deployed Switchboard without its functions, and the destination `chat`.
pub struct Board {
    account: Account,
    emulator: SocketAddr,
    /// Of that account.
    pub clients: Clients,
    /// Where its state lies.
    pub place: Place,
    /// The backend there.
    pub aws: Box<Aws>,
    /// What answers as the destination `chat`.
    pub sink: Sink,
}

/// A message as it was received.
#[derive(Clone, Debug)]
pub struct Message {
    /// Its text.
    pub body: String,
    /// What it is removed by.
    pub receipt: String,
    /// What was said beside the text.
    pub attributes: BTreeMap<String, String>,
}

/// A configuration in which every event of `code` goes to `chat`, which is there.
pub fn configuration(chat: &str) -> String {
    format!(
        r#"
allow_private_networks = true
[[source]]
name = "code"
scheme = "github"
secrets = ["secret:code"]
[[destination]]
name = "chat"
url = "{chat}"
[[route]]
source = "code"
kind = "*"
deliver = [{{ to = "chat", action = "post-line" }}]
"#
    )
}

impl Board {
    /// One to which a configuration was applied.
    pub async fn start() -> Self {
        let board = Self::bare().await;
        board
            .apply(None, &configuration(&board.sink.url("/chat")))
            .await;
        board
    }

    /// One to which nothing was applied yet.
    pub async fn bare() -> Self {
        Self::bare_in(Emulator::shared(), &[("code", SECRET)]).await
    }

    /// The same in an emulator of the caller's, with these secrets and the operators' token.
    pub async fn bare_in(emulator: &Emulator, secrets: &[(&str, &str)]) -> Self {
        let account = fresh_account();
        let caller = environment(&emulator.url(), account.as_str());
        let clients = clients_within(&caller.expect("an environment"), PATIENCE);
        let place = create_place(&clients, "board").await.expect("a place");
        for (name, value) in secrets.iter().chain(&[("admin-token", TOKEN)]) {
            let create = clients.secrets.create_secret();
            let create = create.name(format!("board/{name}")).secret_string(*value);
            create.send().await.expect("a secret");
        }
        Self {
            aws: Box::new(opened(&clients, &place, Arc::new(RealClock))),
            sink: Sink::start().await,
            account,
            emulator: emulator.address(),
            clients,
            place,
        }
    }

    /// The backend once more, for whom it is another time.
    pub fn backend(&self, clock: Arc<dyn Clock>) -> Aws {
        opened(&self.clients, &self.place, clock)
    }

    /// Where the services are.
    pub const fn emulator(&self) -> SocketAddr {
        self.emulator
    }

    /// Puts a configuration in the place of the one with that version.
    pub async fn apply(&self, seen: Option<u64>, text: &str) {
        let store = Configurations::new(self.clients.dynamodb.clone(), self.place.table.clone());
        let seen = seen.and_then(Version::new);
        let replaced = store.replace(seen, text, now()).await;
        let done = matches!(replaced.expect("stored"), Replaced::Done(_));
        assert!(done, "it was seen");
    }

    /// A function with everything that the template sets.
    pub fn function(&self, name: &str) -> Function {
        self.function_over(name, &format!("http://{}", self.emulator))
    }

    /// The same, with the services at another address.
    pub fn function_over(&self, name: &str, url: &str) -> Function {
        let stream = "arn:aws:dynamodb:us-east-1:000000000000:table/board/stream/none";
        Function::named(name)
            .set("AWS_ACCESS_KEY_ID", self.account.as_str())
            .set("AWS_ENDPOINT_URL", url)
            .set("SWITCHBOARD_TABLE", &self.place.table)
            .set("SWITCHBOARD_DELIVERIES", &self.place.deliveries)
            .set("SWITCHBOARD_DEAD_LETTERS", &self.place.dead_letters)
            .set("SWITCHBOARD_RETURNED", &self.place.returned)
            .set("SWITCHBOARD_SECRETS", "board")
            .set("SWITCHBOARD_STREAM", stream)
            .set("RUST_LOG", "info")
    }

    /// The name of the table's stream.
    pub async fn stream(&self) -> String {
        let described = self.clients.dynamodb.describe_table();
        let described = described.table_name(&self.place.table).send().await;
        let table = described.expect("described").table.expect("a table");
        table.latest_stream_arn.expect("a stream")
    }

    /// What waits in the queue of deliveries; it is hidden from then on.
    pub async fn hints(&self, most: usize) -> Vec<Message> {
        self.receive(&self.place.deliveries, most).await
    }

    /// What waits in the queue of tickets.
    pub async fn tickets(&self, most: usize) -> Vec<Message> {
        self.receive(&self.place.dead_letters, most).await
    }

    /// What waits in the queue of what came back.
    pub async fn set_aside(&self, most: usize) -> Vec<Message> {
        self.receive(&self.place.returned, most).await
    }

    async fn receive(&self, queue: &str, most: usize) -> Vec<Message> {
        let mut found = Vec::new();
        // A queue may keep what it has for a while.
        for _ in 0..10 {
            let receive = self.clients.sqs.receive_message().queue_url(queue);
            let receive = receive
                .max_number_of_messages(10)
                .message_attribute_names("All");
            let wait = i32::from(most > 0);
            let received = receive
                .wait_time_seconds(wait)
                .send()
                .await
                .expect("received");
            for message in received.messages.unwrap_or_default() {
                let attributes = message.message_attributes.unwrap_or_default();
                found.push(Message {
                    body: message.body.expect("a body"),
                    receipt: message.receipt_handle.expect("a receipt"),
                    attributes: attributes
                        .into_iter()
                        .filter_map(|(name, value)| Some((name, value.string_value?)))
                        .collect(),
                });
            }
            if found.len() >= most {
                break;
            }
        }
        found
    }

    /// Puts a text into the queue of deliveries, as somebody by hand would, and receives it.
    pub async fn by_hand(&self, text: &str) -> Message {
        let send = self
            .clients
            .sqs
            .send_message()
            .queue_url(&self.place.deliveries);
        send.message_body(text).send().await.expect("sent");
        let received = self.hints(1).await;
        received.into_iter().next().expect("received")
    }

    /// The keys of everything that belongs to events.
    pub async fn stored(&self) -> Vec<String> {
        let pages = self.clients.dynamodb.scan();
        let pages = pages
            .table_name(&self.place.table)
            .projection_expression("pk")
            .into_paginator()
            .items()
            .send();
        let items = pages.collect::<Result<Vec<_>, _>>().await.expect("read");
        let keys = items.into_iter().filter_map(|mut item| item.remove("pk"));
        let keys = keys.filter_map(|key| key.as_s().ok().cloned());
        keys.filter(|key| key.starts_with("E#")).collect()
    }

    /// An event as operators see it.
    pub async fn event(&self, id: &str) -> EventView {
        let id = EventId::parse(id).expect("an id");
        let event = self.aws.event(&id).await.expect("read");
        event.expect("it is stored")
    }

    /// Posts a rightly signed event to a running ingress; its id.
    pub async fn post(&self, ingress: &Lambda, id: &str, body: &[u8]) -> String {
        let answer = ingress
            .invoke(&posted("code", &signed(id, body), &encoded(body)))
            .await;
        let answer = answer.answer();
        assert_eq!(answer["statusCode"], 200, "{answer}");
        let said = body_of(&answer);
        assert_eq!(said["status"], "accepted", "{said}");
        said["event"].as_str().expect("an id").to_owned()
    }
}

fn opened(clients: &Clients, place: &Place, clock: Arc<dyn Clock>) -> Aws {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let often = Pace {
        settings_for: Duration::ZERO,
        repeats_per_second: None,
        shared_for: Duration::ZERO,
        oldest_for: Duration::ZERO,
        counts_every: Duration::ZERO,
    };
    // Tokens tell processes apart.
    let rng = ChaCha20Rng::seed_from_u64(NEXT.fetch_add(1, Ordering::Relaxed));
    Aws::new(clients, place.clone(), often, clock, Box::new(rng))
}

/// The headers of a rightly signed event.
pub fn signed(id: &str, body: &[u8]) -> HeaderMap {
    let url = "http://nobody.example/".parse().expect("a url");
    Sender::new(url, "github", SECRET).headers(id, "push", body)
}

/// What the platform invokes the worker with; the nth message is `m-n`, and was received so often.
pub fn batch<'a>(messages: impl IntoIterator<Item = (&'a Message, u32)>) -> Value {
    let messages = messages.into_iter().enumerate();
    let told: Vec<_> = messages
        .map(|(n, (message, receives))| (format!("m-{n}"), message, receives.to_string()))
        .collect();
    gateway::batch(told.iter().map(|(id, message, receives)| Record {
        id,
        receipt: &message.receipt,
        text: &message.body,
        receives,
    }))
}
