//! What lanes are told: what was stored for their destination just now, and when the store has more for them.
//!
//! A fresh delivery comes along whole, so that its first attempt need not read it. That is a short cut past the store
//! and never the only way: what a lane was not told of, or forgot, it finds in the store.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use switchboard_core::delivery::DeliveryKey;
use switchboard_core::event::Event;
use switchboard_core::names::DestinationName;
use switchboard_core::time::Timestamp;
use tokio::sync::Notify;

/// Most fresh deliveries that wait for a lane; what comes beyond them is found in the store.
const MOST_FRESH: usize = 1024;
/// Most bytes of their bodies.
const MOST_BYTES: usize = 4 * 1024 * 1024;

/// A delivery that was stored just now and is due.
#[derive(Debug)]
pub(crate) struct Fresh {
    /// Its event's place in the order of receipt.
    pub(crate) seq: i64,
    pub(crate) event: Arc<Event>,
    pub(crate) key: DeliveryKey,
}

/// When a lane has to look into the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) enum Look {
    /// Nothing is known of.
    #[default]
    Never,
    /// At this moment.
    At(Timestamp),
    /// Now.
    Now,
}

impl Look {
    /// The sooner of the two.
    pub(crate) fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Now, _) | (_, Self::Now) => Self::Now,
            (Self::At(one), Self::At(two)) => Self::At(one.min(two)),
            (Self::At(at), Self::Never) | (Self::Never, Self::At(at)) => Self::At(at),
            (Self::Never, Self::Never) => Self::Never,
        }
    }

    /// Whether that is by `now`.
    pub(crate) fn is_due(self, now: Timestamp) -> bool {
        match self {
            Self::Never => false,
            Self::At(at) => at <= now,
            Self::Now => true,
        }
    }
}

/// What a transaction has for lanes, told when it is on disk.
#[derive(Debug, Default)]
pub(crate) struct News {
    fresh: Vec<Fresh>,
    looks: BTreeMap<DestinationName, Look>,
}

impl News {
    /// A delivery is due at once.
    pub(crate) fn fresh(&mut self, fresh: Fresh) {
        self.fresh.push(fresh);
    }

    /// The lane of `destination` has to look into the store.
    pub(crate) fn look(&mut self, destination: &DestinationName, look: Look) {
        if let Some(known) = self.looks.get_mut(destination) {
            *known = known.or(look);
        } else {
            self.looks.insert(destination.clone(), look);
        }
    }
}

/// What a lane has not taken yet.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub(crate) fresh: Vec<Fresh>,
    bytes: usize,
    pub(crate) look: Look,
}

/// One lane's bell, and what it rings for.
#[derive(Debug, Default)]
pub(crate) struct Bell {
    told: Mutex<Told>,
    rings: Notify,
    /// How many of its requests are under way.
    requests: AtomicUsize,
}

impl Bell {
    /// Waits for a ring; one that nobody waited for is kept for the next who does.
    pub(crate) async fn rung(&self) {
        self.rings.notified().await;
    }

    /// Rings for nothing but another turn.
    pub(crate) fn ring(&self) {
        self.rings.notify_one();
    }

    /// A request begins.
    pub(crate) fn begins(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
    }

    /// A request has ended.
    pub(crate) fn ends(&self) {
        self.requests.fetch_sub(1, Ordering::Relaxed);
    }

    /// What the lane was told since it last asked.
    pub(crate) fn take(&self) -> Told {
        std::mem::take(&mut *self.told())
    }

    /// Puts a delivery where the lane finds it. Once the lane has to look into the store anyway, it finds it there, in
    /// the order of what is due.
    fn put(&self, fresh: Fresh) {
        let mut told = self.told();
        if told.look == Look::Now {
            return;
        }
        let bytes = told.bytes.saturating_add(fresh.event.body.len());
        if told.fresh.len() >= MOST_FRESH || (told.bytes > 0 && bytes > MOST_BYTES) {
            told.look = Look::Now;
            return;
        }
        told.bytes = bytes;
        told.fresh.push(fresh);
    }

    fn look(&self, look: Look) {
        let mut told = self.told();
        told.look = told.look.or(look);
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One bell for each destination that was ever named.
#[derive(Debug, Default)]
pub(crate) struct Wakes {
    bells: Mutex<BTreeMap<DestinationName, Arc<Bell>>>,
    /// Rings when there is a destination that had no bell before.
    pub(crate) more: Notify,
}

impl Wakes {
    /// Tells each lane what there is for it, and rings.
    pub(crate) fn tell(&self, news: News) {
        let mut ring: BTreeMap<DestinationName, Arc<Bell>> = BTreeMap::new();
        for fresh in news.fresh {
            if let Some(bell) = ring.get(&fresh.key.destination) {
                bell.put(fresh);
            } else {
                let bell = self.bell(&fresh.key.destination);
                ring.insert(fresh.key.destination.clone(), Arc::clone(&bell));
                bell.put(fresh);
            }
        }
        for (destination, look) in news.looks {
            let bell = self.bell(&destination);
            bell.look(look);
            ring.insert(destination, bell);
        }
        for bell in ring.into_values() {
            bell.rings.notify_one();
        }
    }

    /// Has these lanes look into the store.
    pub(crate) fn look(&self, destinations: BTreeSet<DestinationName>) {
        let mut news = News::default();
        for destination in destinations {
            news.look(&destination, Look::Now);
        }
        self.tell(news);
    }

    /// Has every lane look into the store.
    pub(crate) fn look_all(&self) {
        self.look(self.destinations());
    }

    /// The bell of a destination.
    pub(crate) fn bell(&self, destination: &DestinationName) -> Arc<Bell> {
        let mut bells = self.lock();
        if let Some(bell) = bells.get(destination) {
            return Arc::clone(bell);
        }
        self.more.notify_one();
        Arc::clone(bells.entry(destination.clone()).or_default())
    }

    /// How many requests to each destination that has a bell are under way.
    pub(crate) fn requests(&self) -> BTreeMap<DestinationName, usize> {
        let bells = self.lock();
        let of = |(name, bell): (&DestinationName, &Arc<Bell>)| {
            (name.clone(), bell.requests.load(Ordering::Relaxed))
        };
        bells.iter().map(of).collect()
    }

    /// Every destination that has a bell.
    pub(crate) fn destinations(&self) -> BTreeSet<DestinationName> {
        self.lock().keys().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<DestinationName, Arc<Bell>>> {
        self.bells.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
