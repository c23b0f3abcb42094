//! A real store with its lanes running, and destinations that do as they are told.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use switchboard_core::attempt::Performer;
use switchboard_core::configuration::{self, Configuration, Origin};
use switchboard_core::delivery::{DeliveryKey, Outcome, Unanswered};
use switchboard_core::endpoint::Change;
use switchboard_core::event::Event;
use switchboard_core::fail::{self, FailPoint};
use switchboard_core::forward::KeptHeaders;
use switchboard_core::identity::{EventId, Run};
use switchboard_core::names::{ActionName, DestinationName, Kind, SenderId, SourceName};
use switchboard_core::piece::Piece;
use switchboard_core::ports::{Ledger, Outgoing, Queued, Spread, Transport, Views};
use switchboard_core::secret::{Reference, SecretReader};
use switchboard_core::time::{Clock, Timestamp};
use switchboard_core::views::{DeliveryView, Totals};
use switchboard_embedded::{Lanes, Store};
use tokio::sync::{Notify, Semaphore, watch};
use tokio::time::{Instant, timeout};

pub(crate) const CONFIGURATION: &str = r#"
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

pub(crate) fn configured(text: &str) -> Arc<Configuration> {
    Arc::new(
        configuration::read(text, Origin::File, &OneSecret)
            .expect("a configuration")
            .configuration,
    )
}

/// A clock that starts somewhere and goes on in real time, and breaks the next who look at it when it is told to.
pub(crate) struct RunningClock {
    start: Instant,
    pub(crate) breaks: AtomicI32,
}

impl Clock for RunningClock {
    fn now(&self) -> Timestamp {
        let breaks = self.breaks.fetch_sub(1, Ordering::SeqCst);
        assert!(breaks <= 0, "as told");
        Timestamp::from_seconds(1_800_000_000).plus(self.start.elapsed())
    }

    fn ticks(&self) -> Duration {
        self.start.elapsed()
    }
}

/// What destinations do: by name, a status, nothing, or a wait until they are let go.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Does {
    Answer(u16),
    Close,
    Wait,
    Panic,
    /// Breaks off at the request of this number, from 1, and answers every other.
    PanicAt(usize),
}

pub(crate) struct Destinations {
    does: Mutex<BTreeMap<String, Does>>,
    requests: Mutex<Vec<(String, String)>>,
    under_way: AtomicUsize,
    most_under_way: AtomicUsize,
    pub(crate) gate: Semaphore,
    bell: Notify,
}

#[derive(Clone)]
pub(crate) struct Told(pub(crate) Arc<Destinations>);

impl Told {
    pub(crate) fn new(does: &[(&str, Does)]) -> Self {
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

    pub(crate) fn tell(&self, destination: &str, does: Does) {
        self.0
            .does
            .lock()
            .expect("lock")
            .insert(destination.to_owned(), does);
    }

    pub(crate) fn requests_to(&self, destination: &str) -> Vec<String> {
        let requests = self.0.requests.lock().expect("lock");
        requests
            .iter()
            .filter(|(to, _)| to == destination)
            .map(|(_, attempt)| attempt.clone())
            .collect()
    }

    /// Waits until so many requests came to a destination.
    pub(crate) async fn until_requests(&self, destination: &str, least: usize) {
        let waiting = async {
            loop {
                let rung = self.0.bell.notified();
                if self.requests_to(destination).len() >= least {
                    return;
                }
                rung.await;
            }
        };
        if timeout(Duration::from_secs(20), waiting).await.is_err() {
            let came = self.requests_to(destination).len();
            panic!("{least} requests were to come to {destination}, and {came} did");
        }
    }

    /// The most requests that were ever under way at once, to all destinations together.
    pub(crate) fn most_under_way(&self) -> usize {
        self.0.most_under_way.load(Ordering::SeqCst)
    }
}

impl Transport for Told {
    async fn post(&self, request: Outgoing) -> Outcome {
        let name = request.destination.as_str().to_owned();
        let attempt = request.headers["switchboard-attempt"]
            .to_str()
            .expect("text")
            .to_owned();
        let before = {
            let mut requests = self.0.requests.lock().expect("lock");
            let before = requests.iter().filter(|(to, _)| *to == name).count();
            requests.push((name.clone(), attempt));
            before
        };
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
            Does::PanicAt(number) => {
                assert_ne!(before + 1, number, "as told");
                Outcome::Answered {
                    status: 200,
                    piece: Piece::default(),
                }
            }
        }
    }
}

/// A store with its lanes running.
pub(crate) struct Running {
    pub(crate) store: Arc<Store>,
    pub(crate) told: Told,
    pub(crate) clock: Arc<RunningClock>,
    pub(crate) stop: watch::Sender<bool>,
    lanes: tokio::task::JoinHandle<()>,
}

pub(crate) fn run(folder: &Path, configuration: &Arc<Configuration>, told: &Told) -> Running {
    run_recovering(folder, configuration, told, Duration::from_millis(100))
}

/// The same, recovering this often.
pub(crate) fn run_recovering(
    folder: &Path,
    configuration: &Arc<Configuration>,
    told: &Told,
    every: Duration,
) -> Running {
    let store = Arc::new(Store::open(folder).expect("a store"));
    let clock = Arc::new(RunningClock {
        start: Instant::now(),
        breaks: AtomicI32::new(0),
    });
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
    )
    .recovering_every(every);
    let (stop, stopped) = watch::channel(false);
    Running {
        store,
        told: told.clone(),
        clock,
        stop,
        lanes: tokio::spawn(lanes.run(stopped)),
    }
}

pub(crate) fn name(text: &str) -> DestinationName {
    DestinationName::parse(text).expect("a name")
}

thread_local! {
    /// How many attempts still break off before they are recorded. A test and its lanes share a thread of their own.
    static BREAKS: Cell<u32> = const { Cell::new(0) };
}

/// The next attempts of this test break off, each after its answer and before it is recorded.
pub(crate) fn break_off_before_records(count: u32) {
    fail::install(Box::new(|point| {
        let breaks = BREAKS.get();
        if point == FailPoint::BeforeRecord && breaks > 0 {
            BREAKS.set(breaks - 1);
            panic!("as told");
        }
    }));
    BREAKS.set(count);
}

/// A hold is taken back, and what is held goes at once.
pub(crate) fn release(text: &str) -> Change {
    let spread = Spread {
        start: Timestamp::default(),
        per_second: 1000,
    };
    Change::Release(name(text), spread)
}

impl Running {
    pub(crate) async fn accept(&self, id: &str, to: &[&str]) -> EventId {
        self.accept_body(id, to, Bytes::from_static(b"{}")).await
    }

    pub(crate) async fn accept_body(&self, id: &str, to: &[&str], body: Bytes) -> EventId {
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
            body,
        };
        let queued = |to: &&str| {
            let (destination, action) = (name(to), ActionName::deliver());
            Queued {
                key: DeliveryKey::of(&event.id, destination, action, Run(0)),
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

    pub(crate) async fn until(
        &self,
        what: &str,
        holds: impl Fn(&Totals) -> bool + Send + Sync,
    ) -> Totals {
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

    pub(crate) async fn until_requests(&self, to: &str, count: usize) {
        let holds = |_: &Totals| self.told.requests_to(to).len() == count;
        let what = format!("{to} has {count} requests");
        self.until(&what, holds).await;
    }

    pub(crate) async fn delivery(&self, event: &EventId) -> DeliveryView {
        let event = self
            .store
            .event(event)
            .await
            .expect("read")
            .expect("an event");
        event.deliveries.first().expect("a delivery").clone()
    }

    pub(crate) async fn end(self) {
        self.stop.send_replace(true);
        timeout(Duration::from_secs(20), self.lanes)
            .await
            .expect("lanes end")
            .expect("lanes end well");
    }
}
