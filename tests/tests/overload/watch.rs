//! Looking at a Switchboard while it is flooded: what it holds of the machine, whether it says that it is well, and
//! whether deliveries go on.

use std::time::Duration;

use http::{HeaderMap, Method, StatusCode};
use switchboard_tests::process::{handles, memory};
use switchboard_tests::switchboard::Switchboard;
use switchboard_tests::wait::DEADLINE;
use switchboard_web::client;
use tokio::time::timeout;

use crate::load::Sink;

const LOOK_EVERY: Duration = Duration::from_millis(250);

/// One look.
#[derive(Debug)]
pub(crate) struct Look {
    /// Resident memory, in MiB.
    memory: u64,
    handles: usize,
    health: StatusCode,
    delivered: u64,
}

/// All looks, in their order.
#[derive(Debug)]
pub(crate) struct Looks(Vec<Look>);

async fn look(switchboard: &Switchboard, sink: &Sink) -> Look {
    let health = switchboard.at("/healthz");
    let asked = client::request(
        Method::GET,
        &health,
        HeaderMap::new(),
        Vec::new().into(),
        DEADLINE,
    );
    Look {
        memory: memory(switchboard.id()),
        handles: handles(switchboard.id()),
        health: asked.await.expect("an answer").0,
        delivered: sink.count().await,
    }
}

/// Looks until `work` is done; what that gave, and the looks.
pub(crate) async fn during<T>(
    work: impl Future<Output = T>,
    switchboard: &Switchboard,
    sink: &Sink,
) -> (T, Looks) {
    let mut looks = Vec::new();
    let mut work = std::pin::pin!(work);
    loop {
        looks.push(look(switchboard, sink).await);
        if let Ok(done) = timeout(LOOK_EVERY, work.as_mut()).await {
            return (done, Looks(looks));
        }
    }
}

fn median(mut values: Vec<u64>) -> u64 {
    values.sort_unstable();
    values[values.len() / 2]
}

impl Looks {
    /// The most resident memory, in MiB.
    pub(crate) fn most_memory(&self) -> u64 {
        self.0.iter().map(|look| look.memory).max().expect("a look")
    }

    /// How much the memory grew from the second quarter of the time to the last, in MiB.
    pub(crate) fn growth(&self) -> u64 {
        let quarter = self.0.len() / 4;
        let memory = |looks: &[Look]| median(looks.iter().map(|look| look.memory).collect());
        let second = memory(&self.0[quarter..2 * quarter]);
        let last = memory(&self.0[3 * quarter..]);
        last.saturating_sub(second)
    }

    pub(crate) fn most_handles(&self) -> usize {
        self.0
            .iter()
            .map(|look| look.handles)
            .max()
            .expect("a look")
    }

    /// What it said of its health that was not 200.
    pub(crate) fn unwell(&self) -> Vec<StatusCode> {
        let all = self.0.iter().map(|look| look.health);
        all.filter(|health| *health != StatusCode::OK).collect()
    }

    /// How many deliveries came in each sixth of the time.
    pub(crate) fn delivered(&self) -> Vec<u64> {
        let at = |sixth: usize| self.0[(self.0.len() - 1) * sixth / 6].delivered;
        (0..6).map(|sixth| at(sixth + 1) - at(sixth)).collect()
    }
}
