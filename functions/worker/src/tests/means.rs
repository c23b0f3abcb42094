//! The destinations in memory, the way to them, and the two configurations that name them.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use switchboard_core::delivery::Outcome;
use switchboard_core::piece::Piece;
use switchboard_core::ports::{Answer, BackendError, Outgoing, Transport};
use switchboard_testkit::clock::HandClock;
use tokio::sync::Semaphore;

use crate::batch::Means;
use crate::desk::Configured;

/// Answers 200 once the gate lets it, and knows how many it had at once.
pub(crate) struct Destinations {
    pub(crate) gate: Semaphore,
    pub(crate) arrived: Semaphore,
    pub(crate) at_once: AtomicUsize,
    pub(crate) most: AtomicUsize,
    /// Seconds that the clock moves on during a post.
    pub(crate) takes: AtomicU64,
    pub(crate) clock: Arc<HandClock>,
    /// Posts to this destination panic.
    pub(crate) broken: Mutex<Option<&'static str>>,
}

impl Destinations {
    /// Ones that answer at once.
    pub(crate) fn at_once(clock: Arc<HandClock>) -> Self {
        Self {
            gate: Semaphore::new(1_000),
            arrived: Semaphore::new(0),
            at_once: AtomicUsize::new(0),
            most: AtomicUsize::new(0),
            takes: AtomicU64::new(0),
            clock,
            broken: Mutex::new(None),
        }
    }
}

/// The way to them.
pub(crate) struct Way(pub(crate) Arc<Destinations>);

impl Transport for Way {
    async fn post(&self, request: Outgoing) -> Outcome {
        let destinations = &self.0;
        let broken = *destinations.broken.lock().expect("a lock");
        assert_ne!(broken, Some(request.destination.as_str()), "as wanted");
        let now = destinations.at_once.fetch_add(1, Ordering::SeqCst) + 1;
        destinations.most.fetch_max(now, Ordering::SeqCst);
        destinations.arrived.add_permits(1);
        destinations.gate.acquire().await.expect("open").forget();
        destinations.at_once.fetch_sub(1, Ordering::SeqCst);
        let takes = destinations.takes.load(Ordering::SeqCst);
        destinations.clock.advance(Duration::from_secs(takes));
        Outcome::Answered {
            status: 200,
            piece: Piece::default(),
        }
    }
}

/// Two configurations: the one that the worker goes by, and the newest.
#[derive(Default)]
pub(crate) struct Given {
    pub(crate) current: Mutex<Option<Arc<Means<Way>>>>,
    /// None when it cannot be read.
    pub(crate) newest: Mutex<Option<Arc<Means<Way>>>>,
    /// Since when looks were asked for.
    pub(crate) looks: Mutex<Vec<Duration>>,
    pub(crate) hangs: AtomicBool,
}

impl Given {
    async fn hang(&self) {
        if self.hangs.load(Ordering::SeqCst) {
            std::future::pending::<()>().await;
        }
    }
}

impl Configured for Given {
    type Transport = Way;

    async fn current(&self) -> Option<Arc<Means<Way>>> {
        let current = self.current.lock().expect("a lock").clone();
        if current.is_none() {
            self.hang().await;
        }
        current
    }

    async fn newest(&self, since: Duration) -> Answer<Arc<Means<Way>>> {
        self.looks.lock().expect("a lock").push(since);
        self.hang().await;
        let newest = self.newest.lock().expect("a lock").clone();
        newest.ok_or_else(|| BackendError::new("looking", "out of order"))
    }
}
