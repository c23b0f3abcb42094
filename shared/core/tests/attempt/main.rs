//! What one attempt sends and keeps, over a clock that is moved by hand and a transport that answers as it is told.

#![expect(clippy::expect_used, reason = "a test fails by panicking")]

use std::pin::pin;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use switchboard_core::address::{Address, Networks};
use switchboard_core::attempt::{Attempt, Performed, Performer};
use switchboard_core::configuration::{Configuration, Origin, read};
use switchboard_core::delivery::{DeliveryKey, Outcome};
use switchboard_core::endpoint::{Change, KEY_BYTES, Settings, fresh_secret};
use switchboard_core::event::Event;
use switchboard_core::forward::KeptHeaders;
use switchboard_core::identity::{EventId, Run};
use switchboard_core::names::{ActionName, DestinationName, Kind, SenderId, SourceName};
use switchboard_core::piece::Piece;
use switchboard_core::ports::{Outgoing, Transport};
use switchboard_core::scheme::{Key, Scheme, verify};
use switchboard_core::secret::{Reference, SecretReader};
use switchboard_core::time::{Clock, Timestamp};

mod test_delivery;

const CONFIGURATION: &str = r#"
[[source]]
name = "shop"
scheme = "shopify"
secrets = ["env:SHOP"]
[[destination]]
name = "chat"
url = "https://chat.example/hooks/T0KEN-PATH?key=S3CRET-QU3RY&v=1"
headers = { authorization = "env:CHAT", x-short = "env:SHORT" }
[[destination]]
name = "signed"
url = "https://signed.example/"
sign = "env:SIGN"
"#;
const CHAT: &str = "Bearer a-token-of-chat";
const DAY: i64 = 24 * 60 * 60;

struct Secrets;

impl SecretReader for Secrets {
    fn read(&self, reference: &Reference) -> Result<String, String> {
        let sign = fresh_secret(&[9; KEY_BYTES]).expect("a secret");
        let text = match reference.to_string().as_str() {
            "env:CHAT" => CHAT,
            "env:SHORT" => "k3y!",
            "env:SIGN" => sign.expose(),
            _ => "a secret of sixteen bytes or more",
        };
        Ok(text.to_owned())
    }
}

/// A clock in seconds, moved by hand.
struct ByHand(AtomicI64);

impl Clock for ByHand {
    fn now(&self) -> Timestamp {
        Timestamp::from_seconds(self.0.load(Ordering::SeqCst))
    }

    fn ticks(&self) -> Duration {
        Duration::ZERO
    }
}

/// Answers 500 with these words, and keeps the headers and the bodies that it got.
#[derive(Clone)]
struct Saying(
    &'static str,
    Arc<Mutex<Vec<HeaderMap>>>,
    Arc<Mutex<Vec<Bytes>>>,
);

impl Transport for Saying {
    async fn post(&self, request: Outgoing) -> Outcome {
        self.1.lock().expect("a lock").push(request.headers);
        self.2.lock().expect("a lock").push(request.body);
        Outcome::Answered {
            status: 500,
            piece: Piece::clean(self.0.as_bytes()),
        }
    }
}

/// Everything that an attempt needs.
struct Setting {
    clock: Arc<ByHand>,
    transport: Saying,
    performer: Performer<Saying>,
}

fn setting(says: &'static str) -> Setting {
    let configuration = read(CONFIGURATION, Origin::File, &Secrets).expect("no faults");
    let configuration: Arc<Configuration> = Arc::new(configuration.configuration);
    let clock = Arc::new(ByHand(AtomicI64::new(1_800_000_000)));
    let transport = Saying(says, Arc::default(), Arc::default());
    let shared: Arc<dyn Clock> = clock.clone();
    let rng = Box::new(ChaCha8Rng::seed_from_u64(1));
    let performer = Performer::new(configuration, transport.clone(), shared, rng);
    Setting {
        clock,
        transport,
        performer,
    }
}

fn attempt(destination: DestinationName, number: u32) -> Attempt {
    let source = SourceName::parse("shop").expect("a name");
    let sender_id = SenderId::new("1").expect("an id");
    let id = EventId::of(&source, &sender_id);
    let action = ActionName::deliver();
    Attempt {
        key: DeliveryKey::of(&id, destination, action, Run(0)),
        event: Arc::new(Event {
            id,
            source,
            sender_id,
            kind: Kind::new("orders/create").expect("a kind"),
            received_at: Timestamp::from_seconds(1_800_000_000),
            headers: KeptHeaders::default(),
            body: Bytes::from_static(b"{}"),
        }),
        number,
        in_round: 1,
    }
}

/// Nothing here waits for anything: one look is enough.
fn perform(setting: &Setting, attempt: &Attempt, settings: &Settings) -> Performed {
    let attempt = pin!(setting.performer.perform(attempt, settings));
    match attempt.poll_once() {
        Poll::Ready(performed) => performed.expect("there is somewhere to send it to"),
        Poll::Pending => unreachable!("nothing waits"),
    }
}

trait PollOnce: Future {
    fn poll_once(self) -> Poll<Self::Output>;
}

impl<F: Future> PollOnce for std::pin::Pin<&mut F> {
    fn poll_once(mut self) -> Poll<F::Output> {
        self.as_mut().poll(&mut Context::from_waker(Waker::noop()))
    }
}

#[test]
fn every_attempt_is_signed_at_its_own_time_also_a_day_later() {
    let setting = setting("no");
    let secret = fresh_secret(&[7; KEY_BYTES]).expect("a secret");
    let settings = Settings::default().after(Change::SetEndpoint {
        address: Address::parse("https://example.com/", Networks::Public).expect("an address"),
        fresh: secret.clone(),
    });
    // Six attempts within a minute, and one after a redrive on the next day.
    let times = [0, 2, 6, 14, 30, 62, DAY + 62];
    for (number, time) in (1..).zip(times) {
        setting
            .clock
            .0
            .store(1_800_000_000 + time, Ordering::SeqCst);
        perform(
            &setting,
            &attempt(DestinationName::your_endpoint(), number),
            &settings,
        );
    }
    let scheme = Scheme::named("standard-webhooks").expect("a scheme");
    let key: Key = (scheme.key)(&secret).expect("a key");
    let sent = setting.transport.1.lock().expect("a lock").clone();
    assert_eq!(sent.len(), times.len());
    let mut signatures = Vec::new();
    for (headers, time) in sent.iter().zip(times) {
        let now = Timestamp::from_seconds(1_800_000_000 + time);
        let checked = verify(scheme, std::slice::from_ref(&key), headers, b"{}", now);
        let checked = checked.expect("a checker that allows five minutes accepts it");
        assert_eq!(checked.clock_distance_s, Some(0), "after {time} s");
        assert_eq!(headers.get("webhook-id"), headers.get("idempotency-key"));
        assert_eq!(
            headers.get("webhook-id"),
            sent.first().and_then(|first| first.get("webhook-id"))
        );
        signatures.extend(headers.get("webhook-signature").cloned());
    }
    for (n, signature) in signatures.iter().enumerate() {
        assert_eq!(
            signatures.iter().position(|other| other == signature),
            Some(n),
            "each is another"
        );
    }
}

#[test]
fn what_an_answer_quotes_of_the_request_is_not_kept() {
    for (says, kept) in [
        ("no such path: /hooks/T0KEN-PATH", "no such path: …"),
        ("no such token: T0KEN-PATH", "no such token: …"),
        ("no: ?key=S3CRET-QU3RY&v=1", "no: ?…"),
        (
            "no: key S3CRET-QU3RY of version 1",
            "no: key … of version 1",
        ),
        ("no: Bearer a-token-of-chat", "no: …"),
        ("no: a-token-of-chat", "no: …"),
        ("no: k3y!", "no: …"),
        ("no: a-token-of-", "no: …"),
        (
            "no hooks here, the key is wrong",
            "no hooks here, the key is wrong",
        ),
    ] {
        let setting = setting(says);
        let chat = DestinationName::parse("chat").expect("a name");
        let performed = perform(&setting, &attempt(chat, 1), &Settings::default());
        assert_eq!(performed.record.detail, kept);
        assert_eq!(performed.record.status, Some(500));
    }
}
