//! Where test deliveries of these tests go: a transport that keeps them, and answers when it is told to.

use std::sync::{Arc, Mutex};

use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;
use switchboard_core::attempt::Performer;
use switchboard_core::configuration::Configuration;
use switchboard_core::delivery::Outcome;
use switchboard_core::piece::Piece;
use switchboard_core::ports::{Outgoing, Transport};
use switchboard_testkit::clock::HandClock;
use switchboard_web::status::Tester;
use tokio::sync::Semaphore;

/// What came, and how many more of it are answered.
pub(crate) struct TestRange {
    pub(crate) came: Mutex<Vec<Outgoing>>,
    pub(crate) answers: Semaphore,
}

struct Kept(Arc<TestRange>);

impl Transport for Kept {
    async fn post(&self, request: Outgoing) -> Outcome {
        self.0.came.lock().expect("came").push(request);
        self.0.answers.acquire().await.expect("open").forget();
        Outcome::Answered {
            status: 503,
            piece: Piece::clean(b"down for a while"),
        }
    }
}

impl TestRange {
    /// Answers a hundred tests before any of them waits.
    pub(crate) fn open() -> Arc<Self> {
        Arc::new(Self {
            came: Mutex::default(),
            answers: Semaphore::new(100),
        })
    }

    /// What makes test deliveries to it.
    pub(crate) fn tester(
        self: &Arc<Self>,
        configuration: &Arc<Configuration>,
        clock: &Arc<HandClock>,
    ) -> Box<dyn Tester> {
        Box::new(Performer::new(
            Arc::clone(configuration),
            Kept(Arc::clone(self)),
            Arc::<HandClock>::clone(clock),
            Box::new(ChaCha20Rng::seed_from_u64(7)),
        ))
    }
}
