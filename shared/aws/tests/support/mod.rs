//! Backends on a table of their own in the emulator that all tests of a program share.

use std::sync::Arc;
use std::time::Duration;

use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use switchboard_aws::client::{Clients, clients_within};
use switchboard_aws::testing::{create_place, environment};
use switchboard_aws::{Aws, Pace, Place};
use switchboard_core::time::Timestamp;
use switchboard_testkit::clock::HandClock;
use switchboard_testkit::emulator::{Account, Emulator};

/// How long a call may take: many tests share two cores and one emulator.
const OPERATION: Duration = Duration::from_mins(1);
/// When tests begin: so far ahead that no expiry is near, and no due time of the suites is far.
pub(crate) const START: Timestamp = Timestamp::from_millis(4_102_444_800_250);

/// A table and its queues in an account of their own.
pub(crate) struct Ground {
    pub(crate) clients: Clients,
    pub(crate) place: Place,
    pub(crate) clock: Arc<HandClock>,
}

impl Ground {
    /// Makes them.
    pub(crate) async fn of(account: &Account) -> Self {
        let url = Emulator::shared().url();
        let environment = environment(&url, account.as_str()).expect("an environment");
        let clients = clients_within(&environment, OPERATION);
        let place = create_place(&clients, "switchboard")
            .await
            .expect("a table");
        Self {
            clients,
            place,
            clock: Arc::new(HandClock::at(START)),
        }
    }

    /// A backend there, as another process would have it.
    pub(crate) fn open(&self) -> Aws {
        self.open_with(&self.clients, self.place.clone())
    }

    /// The same over these clients.
    pub(crate) fn open_with(&self, clients: &Clients, place: Place) -> Aws {
        self.open_paced(clients, place, Duration::ZERO)
    }

    /// The same, where settings, totals and readiness are asked for anew only after `anew`.
    pub(crate) fn open_paced(&self, clients: &Clients, place: Place, anew: Duration) -> Aws {
        let often = Pace {
            settings_for: anew,
            repeats_per_second: None,
            shared_for: anew,
            oldest_for: anew.saturating_mul(10),
            counts_every: Duration::from_secs(1),
        };
        let clock = Arc::clone(&self.clock);
        let rng = ChaCha8Rng::from_rng(&mut rand_seed());
        Aws::new(clients, place, often, clock, Box::new(rng))
    }
}

/// Another seed for each backend, since tokens tell processes apart.
fn rand_seed() -> ChaCha8Rng {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(1);
    ChaCha8Rng::seed_from_u64(NEXT.fetch_add(1, Ordering::Relaxed))
}
