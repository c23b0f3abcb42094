//! Lanes over a real store and a transport that answers as it is told.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use switchboard_core::attempt::Performer;
use switchboard_core::configuration::{self, Configuration, Origin};
use switchboard_core::delivery::{DeliveryKey, Outcome, Piece, State, Unanswered};
use switchboard_core::endpoint::Change;
use switchboard_core::event::Event;
use switchboard_core::forward::KeptHeaders;
use switchboard_core::identity::{DeliveryId, EventId, Run};
use switchboard_core::names::{ActionName, DestinationName, Kind, SenderId, SourceName};
use switchboard_core::ports::{
    Ledger, Outgoing, Queued, Selection, SettingsStore, Spread, Transport, Views,
};
use switchboard_core::secret::{Reference, SecretReader};
use switchboard_core::time::{Clock, Timestamp};
use switchboard_core::views::{DeliveryView, Totals};
use switchboard_embedded::{Lanes, Store};
use tokio::sync::{Notify, Semaphore, watch};
use tokio::time::{Instant, timeout};

const CONFIGURATION: &str = r#"
allow_private_networks = true
[[source]]
name = "shop"
scheme = "shopify"
secrets = ["env:S"]
[[destination]]
name = "good"
url = "http://127.0.0.1:9/good"
pauses = ["5ms", "5ms", "5ms", "5ms", "5ms"]
[[destination]]
name = "bad"
url = "http://127.0.0.1:9/bad"
pauses = ["5ms", "5ms", "5ms", "5ms", "5ms"]
max_in_flight = 2
"#;

struct OneSecret;

impl SecretReader for OneSecret {
    fn read(&self, _: &Reference) -> Result<String, String> {
        Ok("a secret of sixteen bytes or more".to_owned())
    }
}

fn configured(text: &str) -> Arc<Configuration> {
    Arc::new(
        configuration::read(text, Origin::File, &OneSecret)
            .expect("a configuration")
            .configuration,
    )
}

/// A clock that starts somewhere and goes on in real time.
struct RunningClock(Instant);

impl Clock for RunningClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_seconds(1_800_000_000).plus(self.0.elapsed())
    }

    fn ticks(&self) -> Duration {
        self.0.elapsed()
    }
}

/// What destinations do: by name, a status, nothing, or a wait until they are let go.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Does {
    Answer(u16),
    Close,
    Wait,
    Panic,
}

struct Destinations {
    does: Mutex<BTreeMap<String, Does>>,
    requests: Mutex<Vec<(String, String)>>,
    under_way: AtomicUsize,
    most_under_way: AtomicUsize,
    gate: Semaphore,
    bell: Notify,
}

#[derive(Clone)]
struct Told(Arc<Destinations>);

impl Told {
    fn new(does: &[(&str, Does)]) -> Self {
        let does = does
            .iter()
            .map(|(name, does)| ((*name).to_owned(), *does))
            .collect();
        Self(Arc::new(Destinations {
            does: Mutex::new(does),
            requests: Mutex::default(),
            under_way: AtomicUsize::new(0),
            most_under_way: AtomicUsize::new(0),
            gate: Semaphore::new(0),
            bell: Notify::new(),
        }))
    }

    fn tell(&self, destination: &str, does: Does) {
        self.0
            .does
            .lock()
            .expect("lock")
            .insert(destination.to_owned(), does);
    }

    fn requests_to(&self, destination: &str) -> Vec<String> {
        let requests = self.0.requests.lock().expect("lock");
        requests
            .iter()
            .filter(|(to, _)| to == destination)
            .map(|(_, attempt)| attempt.clone())
            .collect()
    }
}

impl Transport for Told {
    async fn post(&self, request: Outgoing) -> Outcome {
        let name = request.destination.as_str().to_owned();
        let attempt = request.headers["switchboard-attempt"]
            .to_str()
            .expect("text")
            .to_owned();
        self.0
            .requests
            .lock()
            .expect("lock")
            .push((name.clone(), attempt));
        let now = self.0.under_way.fetch_add(1, Ordering::SeqCst) + 1;
        self.0.most_under_way.fetch_max(now, Ordering::SeqCst);
        self.0.bell.notify_waiters();
        let does = self
            .0
            .does
            .lock()
            .expect("lock")
            .get(&name)
            .copied()
            .unwrap_or(Does::Answer(200));
        if does == Does::Wait {
            self.0.gate.acquire().await.expect("gate").forget();
        }
        self.0.under_way.fetch_sub(1, Ordering::SeqCst);
        match does {
            Does::Answer(status) => Outcome::Answered {
                status,
                piece: Piece::clean(b"as told"),
            },
            Does::Close => Outcome::Unanswered(Unanswered::Closed),
            Does::Wait => Outcome::Answered {
                status: 200,
                piece: Piece::default(),
            },
            Does::Panic => panic!("as told"),
        }
    }
}

/// A store with its lanes running.
struct Running {
    store: Arc<Store>,
    told: Told,
    clock: Arc<RunningClock>,
    stop: watch::Sender<bool>,
    lanes: tokio::task::JoinHandle<()>,
}

fn run(folder: &Path, configuration: &Arc<Configuration>, told: &Told) -> Running {
    let store = Arc::new(Store::open(folder).expect("a store"));
    let clock = Arc::new(RunningClock(Instant::now()));
    let shared: Arc<dyn Clock> = clock.clone();
    let rng = Box::new(ChaCha8Rng::seed_from_u64(1));
    let performer = Performer::new(
        Arc::clone(configuration),
        told.clone(),
        Arc::clone(&shared),
        rng,
    );
    let lanes = Lanes::new(
        Arc::clone(&store),
        performer,
        Arc::clone(configuration),
        shared,
    );
    let (stop, stopped) = watch::channel(false);
    Running {
        store,
        told: told.clone(),
        clock,
        stop,
        lanes: tokio::spawn(lanes.run(stopped)),
    }
}

fn name(text: &str) -> DestinationName {
    DestinationName::parse(text).expect("a name")
}

impl Running {
    async fn accept(&self, id: &str, to: &[&str]) -> EventId {
        let now = self.clock.now();
        let source = SourceName::parse("shop").expect("a name");
        let sender_id = SenderId::new(id).expect("an id");
        let event = Event {
            id: EventId::of(&source, &sender_id),
            source,
            sender_id,
            kind: Kind::new("orders/create").expect("a kind"),
            received_at: now,
            headers: KeptHeaders::default(),
            body: Bytes::from_static(b"{}"),
        };
        let queued = |to: &&str| {
            let (destination, action) = (name(to), ActionName::deliver());
            let id = DeliveryId::of(&event.id, &destination, &action, Run(0));
            Queued {
                key: DeliveryKey {
                    id,
                    destination,
                    action,
                    run: Run(0),
                },
                due: now,
            }
        };
        let plan: Vec<Queued> = to.iter().map(queued).collect();
        self.store
            .accept(&event, &plan, configured(CONFIGURATION).keep())
            .await
            .expect("accepted");
        event.id
    }

    async fn until(&self, what: &str, holds: impl Fn(&Totals) -> bool) -> Totals {
        let looking = async {
            loop {
                let totals = self.store.overview().await.expect("totals").totals;
                if holds(&totals) {
                    return totals;
                }
                let _ = timeout(Duration::from_millis(5), std::future::pending::<()>()).await;
            }
        };
        timeout(Duration::from_secs(20), looking)
            .await
            .unwrap_or_else(|_| panic!("it never held that {what}"))
    }

    async fn delivery(&self, event: &EventId) -> DeliveryView {
        let event = self
            .store
            .event(event)
            .await
            .expect("read")
            .expect("an event");
        event.deliveries.first().expect("a delivery").clone()
    }

    async fn end(self) {
        self.stop.send_replace(true);
        timeout(Duration::from_secs(20), self.lanes)
            .await
            .expect("lanes end")
            .expect("lanes end well");
    }
}

#[tokio::test]
async fn a_failing_delivery_gets_six_attempts_and_then_waits_for_a_redrive() {
    let folder = tempfile::tempdir().expect("a folder");
    let running = run(
        folder.path(),
        &configured(CONFIGURATION),
        &Told::new(&[("bad", Does::Answer(500))]),
    );
    let event = running.accept("1", &["bad"]).await;
    running.until("it is dead", |totals| totals.dead == 1).await;
    assert_eq!(
        running.told.requests_to("bad"),
        ["1", "2", "3", "4", "5", "6"]
    );
    let spread = Spread {
        start: running.clock.now(),
        per_second: 10,
    };
    running
        .store
        .requeue(&Selection::AllDead, spread, 10)
        .await
        .expect("requeued");
    running
        .until("it is dead again", |totals| totals.dead == 1)
        .await;
    running.told.tell("bad", Does::Answer(204));
    running
        .store
        .requeue(&Selection::AllDead, spread, 10)
        .await
        .expect("requeued");
    running
        .until("it is delivered", |totals| totals.delivered == 1)
        .await;
    assert_eq!(running.told.requests_to("bad").len(), 13);
    let delivery = running.delivery(&event).await;
    assert_eq!(
        (delivery.state, delivery.attempts, delivery.log.len()),
        (State::Delivered, 13, 12)
    );
    running.end().await;
}

#[tokio::test]
async fn a_slow_destination_fills_only_its_own_lane() {
    let folder = tempfile::tempdir().expect("a folder");
    let running = run(
        folder.path(),
        &configured(CONFIGURATION),
        &Told::new(&[("bad", Does::Wait)]),
    );
    for n in 0..20 {
        running.accept(&n.to_string(), &["bad", "good"]).await;
    }
    running
        .until("the good one has all", |totals| totals.delivered == 20)
        .await;
    assert_eq!(
        running.told.requests_to("bad").len(),
        2,
        "no more under way than its limit"
    );
    running.told.0.gate.add_permits(100);
    running
        .until("the slow one has all", |totals| totals.delivered == 40)
        .await;
    running.end().await;
}

#[tokio::test]
async fn what_is_under_way_at_the_end_is_finished_and_the_rest_is_due_at_the_next_start() {
    let folder = tempfile::tempdir().expect("a folder");
    let told = Told::new(&[("bad", Does::Wait)]);
    let running = run(folder.path(), &configured(CONFIGURATION), &told);
    for n in 0..5 {
        running.accept(&n.to_string(), &["bad"]).await;
    }
    let two = async {
        while running.told.requests_to("bad").len() < 2 {
            running.told.0.bell.notified().await;
        }
    };
    timeout(Duration::from_secs(20), two)
        .await
        .expect("two under way");
    running.stop.send_replace(true);
    told.0.gate.add_permits(100);
    running.end().await;
    let running = run(folder.path(), &configured(CONFIGURATION), &told);
    let totals = running
        .until("all are delivered", |totals| totals.delivered == 5)
        .await;
    assert_eq!(totals.waiting, 0);
    assert_eq!(told.requests_to("bad").len(), 5, "none was made twice");
    running.end().await;
}

#[tokio::test]
async fn a_held_destination_gets_nothing_until_it_is_released() {
    let folder = tempfile::tempdir().expect("a folder");
    let told = Told::new(&[]);
    let running = run(folder.path(), &configured(CONFIGURATION), &told);
    running
        .store
        .change(Change::Hold(name("good")))
        .await
        .expect("held");
    running.accept("1", &["good"]).await;
    running.accept("2", &["good", "bad"]).await;
    running
        .until("two are held", |totals| {
            totals.held == 2 && totals.delivered == 1
        })
        .await;
    assert_eq!(told.requests_to("good").len(), 0);
    // The process dies between the two halves of a release: the next start finishes it.
    running
        .store
        .change(Change::Release(name("good")))
        .await
        .expect("released");
    running.end().await;
    let running = run(folder.path(), &configured(CONFIGURATION), &told);
    running
        .until("both are delivered", |totals| {
            totals.delivered == 3 && totals.held == 0
        })
        .await;
    running.end().await;
}

#[tokio::test]
async fn without_a_destination_a_delivery_is_buried_and_goes_when_there_is_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let told = Told::new(&[("bad", Does::Close)]);
    let without = CONFIGURATION.replace("name = \"bad\"", "name = \"other\"");
    let running = run(folder.path(), &configured(&without), &told);
    let event = running.accept("1", &["bad"]).await;
    running.until("it is dead", |totals| totals.dead == 1).await;
    assert_eq!(
        running.delivery(&event).await.reason.as_deref(),
        Some("no such destination")
    );
    let copy = running.accept("2", &["your-endpoint"]).await;
    running
        .until("the copy is dead", |totals| totals.dead == 2)
        .await;
    assert_eq!(
        running.delivery(&copy).await.reason.as_deref(),
        Some("your endpoint is not set")
    );
    assert!(told.requests_to("bad").is_empty());
    running.end().await;
    told.tell("bad", Does::Answer(200));
    let running = run(folder.path(), &configured(CONFIGURATION), &told);
    let spread = Spread {
        start: running.clock.now(),
        per_second: 10,
    };
    running
        .store
        .requeue(&Selection::DeadOf(name("bad")), spread, 10)
        .await
        .expect("requeued");
    running
        .until("it is delivered", |totals| totals.delivered == 1)
        .await;
    running.end().await;
}

#[tokio::test]
async fn an_attempt_that_breaks_our_own_code_ends_as_a_dead_letter() {
    let folder = tempfile::tempdir().expect("a folder");
    let running = run(
        folder.path(),
        &configured(CONFIGURATION),
        &Told::new(&[("bad", Does::Panic)]),
    );
    running.accept("1", &["bad"]).await;
    running.accept("2", &["good"]).await;
    running
        .until("one is dead, one delivered", |totals| {
            totals.dead == 1 && totals.delivered == 1
        })
        .await;
    assert_eq!(running.told.requests_to("bad").len(), 6);
    running.end().await;
}
