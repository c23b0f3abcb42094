//! An invocation: its batch, and the time that it has.

use std::net::SocketAddr;
use std::sync::Arc;

use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;
use switchboard_core::deployed::Deployed;
use switchboard_core::time::{Clock, Timestamp};

use crate::batch::Worker;
use crate::configured::Applied;
use crate::event::{Batch, GivenBack};
use crate::table::Table;

/// The function.
pub(crate) struct Function {
    worker: Worker<Table>,
    applied: Applied,
}

impl Function {
    /// `platform` lists the platform's own addresses, which no delivery reaches.
    pub(crate) fn new(
        table: Table,
        deployed: Arc<Deployed>,
        platform: Vec<SocketAddr>,
        clock: Arc<dyn Clock>,
        mut rng: ChaCha20Rng,
    ) -> Self {
        let own_rng = ChaCha20Rng::from_rng(&mut rng);
        Self {
            worker: Worker::new(table, Arc::clone(&clock), Box::new(own_rng)),
            applied: Applied::new(deployed, platform, clock, rng),
        }
    }

    /// Deals with a batch; `deadline` is when the platform ends the invocation, in milliseconds since 1970. What nothing
    /// can be done with is given back.
    pub(crate) async fn deal_with(&self, batch: &Batch, deadline: u64) -> GivenBack {
        let ends = Timestamp::from_millis(i64::try_from(deadline).unwrap_or(i64::MAX));
        self.worker.batch(&self.applied, batch, ends).await
    }
}
