//! A desk and a queue in memory, that do as a test says and keep what they were asked for, and a worker between them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use switchboard_core::attempt::{Attempt, Performed, Performer};
use switchboard_core::configuration::{Configuration, Origin, read};
use switchboard_core::delivery::{DeathReason, DeliveryKey};
use switchboard_core::endpoint::Settings;
use switchboard_core::event::Event;
use switchboard_core::forward::KeptHeaders;
use switchboard_core::identity::{EventId, Run};
use switchboard_core::names::{ActionName, DestinationName, Kind, SenderId, SourceName};
use switchboard_core::ports::{Answer, BackendError, Begun, Keep, Recorded};
use switchboard_core::secret::{Reference, SecretReader};
use switchboard_core::time::{Clock, Timestamp};
use switchboard_testkit::clock::HandClock;

use crate::batch::{Means, Worker};
use crate::desk::{Desk, Meant, Message, Queue};
use crate::event::Batch;
use crate::places::Places;

use super::means::{Destinations, Given, Way};

/// When every test begins.
pub(crate) const NOW: Timestamp = Timestamp::from_seconds(1_760_000_000);

pub(crate) const CONFIGURATION: &str = r#"
[[source]]
name = "shop"
scheme = "shopify"
secrets = ["env:SHOP"]
[[destination]]
name = "chat"
url = "https://chat.example/"
[[destination]]
name = "slow"
url = "https://slow.example/"
max_in_flight = 2
"#;

struct Secrets;

impl SecretReader for Secrets {
    fn read(&self, _: &Reference) -> Result<String, String> {
        Ok("a secret of sixteen bytes or more".to_owned())
    }
}

/// A hint: `hint DESTINATION NUMBER` as text, with `old` behind it when it was due a minute ago.
#[derive(Debug)]
pub(crate) struct Hint {
    destination: DestinationName,
    number: String,
}

/// What `begin` comes to for a hint, in its turn.
#[derive(Clone, Copy)]
pub(crate) enum Begin {
    Go,
    Drop,
    Later(Timestamp),
    Fail,
}

/// The desk and the queue in one.
#[derive(Default)]
pub(crate) struct Fake {
    pub(crate) settings: Mutex<Arc<Settings>>,
    /// What they are when they are read anew, where that is something else.
    pub(crate) newest_settings: Mutex<Option<Arc<Settings>>>,
    /// What `begin` comes to for a hint of that number; `Go` when nothing is said.
    pub(crate) begins: Mutex<BTreeMap<String, Vec<Begin>>>,
    /// How often each step fails from here on.
    pub(crate) failures: Mutex<BTreeMap<&'static str, u32>>,
    /// Steps that never end.
    pub(crate) hangs: Mutex<BTreeSet<&'static str>>,
    /// Every step, in its order.
    pub(crate) steps: Mutex<Vec<String>>,
}

impl Fake {
    async fn step(&self, name: &'static str, line: String) -> Answer<()> {
        self.steps.lock().expect("a lock").push(line);
        let hangs = self.hangs.lock().expect("a lock").contains(name);
        if hangs {
            std::future::pending::<()>().await;
        }
        let mut failures = self.failures.lock().expect("a lock");
        match failures.get_mut(name) {
            Some(left) if *left > 0 => {
                *left -= 1;
                Err(BackendError::new(name, "out of order"))
            }
            Some(_) | None => Ok(()),
        }
    }
}

impl Desk for Fake {
    type Hint = Hint;
    type Ticket = String;

    fn read(text: &str) -> Message<Hint, String> {
        match text.split(' ').collect::<Vec<_>>()[..] {
            ["hint", name, number, ref age @ ..] => {
                let destination = DestinationName::parse(name)
                    .unwrap_or_else(|_| DestinationName::your_endpoint());
                let due = match age {
                    ["old"] => Timestamp::from_seconds(NOW.seconds() - 60),
                    ["soon"] => NOW.plus(Duration::from_millis(200)),
                    _ => NOW,
                };
                let hint = Hint {
                    destination: destination.clone(),
                    number: number.to_owned(),
                };
                Message::Hint(hint, Meant { destination, due })
            }
            ["ticket", of] => Message::Ticket(of.to_owned()),
            ["panic"] => panic!("as the test wants"),
            _ => Message::Unreadable("not ours".to_owned()),
        }
    }

    async fn settings(&self) -> Answer<Arc<Settings>> {
        self.step("settings", "settings".to_owned()).await?;
        Ok(Arc::clone(&self.settings.lock().expect("a lock")))
    }

    async fn newest_settings(&self) -> Answer<Arc<Settings>> {
        let name = "newest settings";
        self.step(name, "settings anew".to_owned()).await?;
        let newest = self.newest_settings.lock().expect("a lock").clone();
        Ok(newest.unwrap_or_else(|| Arc::clone(&self.settings.lock().expect("a lock"))))
    }

    async fn begin(&self, hint: &Hint, receives: u32, _: Timestamp) -> Answer<Begun> {
        self.step(
            "begin",
            format!("begin {} received {receives}", hint.number),
        )
        .await?;
        let mut begins = self.begins.lock().expect("a lock");
        let said = begins
            .get_mut(&hint.number)
            .and_then(|said| (!said.is_empty()).then(|| said.remove(0)));
        match said.unwrap_or(Begin::Go) {
            Begin::Go => Ok(Begun::Go(Box::new(attempt(hint)))),
            Begin::Drop => Ok(Begun::Drop),
            Begin::Later(due) => Ok(Begun::Later(due)),
            Begin::Fail => Err(BackendError::new("beginning", "out of order")),
        }
    }

    async fn record(&self, attempt: &Attempt, performed: &Performed, _: Keep) -> Answer<Recorded> {
        let number = attempt.event.sender_id.as_str();
        let outcome = performed.record.outcome.as_str();
        self.step("record", format!("record {number} {outcome}"))
            .await?;
        Ok(Recorded::First)
    }

    async fn hold(&self, hint: &Hint, _: Timestamp, _: Keep) -> Answer<()> {
        self.step("hold", format!("hold {}", hint.number)).await
    }

    async fn bury(&self, hint: &Hint, why: DeathReason, _: Timestamp, _: Keep) -> Answer<()> {
        self.step("bury", format!("bury {}: {why}", hint.number))
            .await
    }

    async fn redrive(&self, ticket: &String, _: Timestamp) -> Answer<()> {
        self.step("redrive", format!("redrive {ticket}")).await
    }
}

impl Queue for Fake {
    async fn hide(&self, receipt: &str, pause: Duration) -> Answer<()> {
        self.step("hide", format!("hide {receipt} {}", pause.as_millis()))
            .await
    }

    async fn set_aside(&self, text: &str, reason: &str) -> Answer<()> {
        self.step("set aside", format!("set aside {text:?}: {reason}"))
            .await
    }
}

fn attempt(hint: &Hint) -> Attempt {
    let source = SourceName::parse("shop").expect("a name");
    let sender_id = SenderId::new(&hint.number).expect("an id");
    let event = Event {
        id: EventId::of(&source, &sender_id),
        source,
        sender_id,
        kind: Kind::default(),
        received_at: NOW,
        headers: KeptHeaders::from_lines(b""),
        body: "{}".into(),
    };
    let action = ActionName::deliver();
    Attempt {
        key: DeliveryKey::of(&event.id, hint.destination.clone(), action, Run(0)),
        event: Arc::new(event),
        number: 1,
        in_round: 1,
    }
}

/// A worker with everything around it.
pub(crate) struct Setting {
    pub(crate) worker: Worker<Fake>,
    pub(crate) given: Given,
    pub(crate) destinations: Arc<Destinations>,
    pub(crate) clock: Arc<HandClock>,
}

/// One whose destinations answer at once.
pub(crate) fn setting() -> Setting {
    let clock = Arc::new(HandClock::at(NOW));
    let destinations = Arc::new(Destinations::at_once(Arc::clone(&clock)));
    let shared: Arc<dyn Clock> = clock.clone();
    let setting = Setting {
        given: Given::default(),
        worker: Worker::new(
            Fake::default(),
            shared,
            Box::new(ChaCha8Rng::seed_from_u64(5)),
        ),
        destinations,
        clock,
    };
    let means = setting.means(CONFIGURATION);
    setting.goes_by(Some(Arc::clone(&means)));
    setting.newest_is(Some(means));
    setting
}

impl Setting {
    /// What attempts are made with by a configuration of that text.
    pub(crate) fn means(&self, text: &str) -> Arc<Means<Way>> {
        let read = read(text, Origin::File, &Secrets).expect("no faults");
        let configuration: Arc<Configuration> = Arc::new(read.configuration);
        let performer = Performer::new(
            Arc::clone(&configuration),
            Way(Arc::clone(&self.destinations)),
            Arc::clone(&self.worker.clock),
            Box::new(ChaCha8Rng::seed_from_u64(7)),
        );
        Arc::new(Means {
            configuration,
            performer,
            places: Places::default(),
        })
    }

    /// What the worker goes by, as of some seconds ago.
    pub(crate) fn goes_by(&self, means: Option<Arc<Means<Way>>>) {
        *self.given.current.lock().expect("a lock") = means;
    }

    /// What a look at the newest configuration finds.
    pub(crate) fn newest_is(&self, means: Option<Arc<Means<Way>>>) {
        *self.given.newest.lock().expect("a lock") = means;
    }

    /// Since when looks were asked for, in seconds from the beginning.
    pub(crate) fn looks(&self) -> Vec<f64> {
        let looks = self.given.looks.lock().expect("a lock").clone();
        let start = HandClock::at(NOW).ticks().as_secs_f64();
        let since = looks.into_iter().map(|since| since.as_secs_f64() - start);
        since.collect()
    }

    /// Deals with messages of these texts, received for the first time, with 30 seconds of time; who is given back.
    pub(crate) async fn batch(&self, texts: &[&str]) -> Vec<String> {
        let messages: Vec<_> = texts.iter().map(|text| (*text, 1)).collect();
        self.received(&messages, Duration::from_secs(30)).await
    }

    /// The same, with how often each was received, and the time there is.
    pub(crate) async fn received(&self, messages: &[(&str, u32)], time: Duration) -> Vec<String> {
        let ends = self.clock.now().plus(time);
        let batch = batch(messages);
        let given_back = self.worker.batch(&self.given, &batch, ends).await;
        given_back
            .messages
            .into_iter()
            .map(|named| named.id)
            .collect()
    }

    /// The steps so far, without those that only read.
    pub(crate) fn steps(&self) -> Vec<String> {
        let steps = self.worker.desk.steps.lock().expect("a lock");
        let reading = |step: &&String| step.starts_with("settings") || step.starts_with("begin");
        steps
            .iter()
            .filter(|step| !reading(step))
            .cloned()
            .collect()
    }

    /// How often a step was made.
    pub(crate) fn count(&self, step: &str) -> usize {
        let steps = self.worker.desk.steps.lock().expect("a lock");
        steps.iter().filter(|made| made.starts_with(step)).count()
    }

    /// For how long a message was given back, each time, in seconds.
    pub(crate) fn pauses(&self, receipt: &str) -> Vec<f64> {
        let begin = format!("hide {receipt} ");
        let steps = self.worker.desk.steps.lock().expect("a lock");
        let millis = steps.iter().filter_map(|step| step.strip_prefix(&begin));
        let seconds = millis.map(|millis| millis.parse::<f64>().expect("a number") / 1000.0);
        seconds.collect()
    }

    /// Has a step never end.
    pub(crate) fn hang(&self, step: &'static str) {
        self.worker.desk.hangs.lock().expect("a lock").insert(step);
    }

    /// Has a step fail so often.
    pub(crate) fn fail(&self, step: &'static str, times: u32) {
        let failures = &self.worker.desk.failures;
        failures.lock().expect("a lock").insert(step, times);
    }

    /// Says what `begin` comes to.
    pub(crate) fn begin(&self, number: &str, said: &[Begin]) {
        let begins = &self.worker.desk.begins;
        begins
            .lock()
            .expect("a lock")
            .insert(number.to_owned(), said.to_vec());
    }

    /// Has destinations held.
    pub(crate) fn hold(&self, names: &[&str]) {
        let held = names
            .iter()
            .map(|name| DestinationName::parse(name).expect("a name"));
        let settings = Settings {
            held: held.collect(),
            ..Settings::default()
        };
        *self.worker.desk.settings.lock().expect("a lock") = Arc::new(settings);
    }
}

/// A batch as the platform writes it; the nth message is `m-n`, its receipt `r-n`.
fn batch(messages: &[(&str, u32)]) -> Batch {
    let records: Vec<_> = messages
        .iter()
        .enumerate()
        .map(|(n, (body, receives))| {
            serde_json::json!({
                "messageId": format!("m-{n}"),
                "receiptHandle": format!("r-{n}"),
                "body": body,
                "attributes": { "ApproximateReceiveCount": receives.to_string() },
            })
        })
        .collect();
    serde_json::from_value(serde_json::json!({ "Records": records })).expect("a batch")
}
