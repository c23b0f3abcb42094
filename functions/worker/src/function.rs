//! An invocation: with what its batch is dealt with, made again when the configuration changes.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;
use switchboard_core::attempt::Performer;
use switchboard_core::deployed::{Current, Deployed, Made};
use switchboard_core::time::{Clock, Timestamp};
use switchboard_web::transport::HttpTransport;

use crate::batch::{Means, Worker};
use crate::event::{Batch, GivenBack};
use crate::places::Places;
use crate::table::Table;

/// What an invocation works with, if it could be made.
type Ready = Option<Arc<Means<HttpTransport>>>;

/// The function.
pub(crate) struct Function {
    worker: Worker<Table>,
    deployed: Arc<Deployed>,
    means: Made<Ready>,
}

impl Function {
    /// `platform` lists the platform's own addresses, which no delivery reaches.
    pub(crate) fn new(
        table: Table,
        deployed: Arc<Deployed>,
        platform: Vec<SocketAddr>,
        clock: Arc<dyn Clock>,
        rng: ChaCha20Rng,
    ) -> Self {
        let worker = Worker::new(table, Arc::clone(&clock));
        let rng = Mutex::new(rng);
        let make = move |current: &Current| {
            let mut rng = rng.lock().unwrap_or_else(PoisonError::into_inner);
            let own_rng = ChaCha20Rng::from_rng(&mut *rng);
            means(current, platform.clone(), &clock, own_rng)
        };
        Self {
            worker,
            deployed,
            means: Made::new(make),
        }
    }

    /// Deals with a batch; `deadline` is when the platform ends the invocation, in milliseconds since 1970. What nothing
    /// can be done with is given back.
    pub(crate) async fn deal_with(&self, batch: &Batch, deadline: u64) -> GivenBack {
        let ends = Timestamp::from_millis(i64::try_from(deadline).unwrap_or(i64::MAX));
        // Why there is no configuration is in the log already, where it began.
        let current = self.deployed.current().await.ok();
        match current.and_then(|current| self.means.of(&current)) {
            Some(means) => self.worker.batch(&means, batch, ends).await,
            None => self.worker.none_of(batch).await,
        }
    }
}

fn means(
    current: &Current,
    platform: Vec<SocketAddr>,
    clock: &Arc<dyn Clock>,
    rng: ChaCha20Rng,
) -> Ready {
    let configuration = Arc::clone(&current.configuration);
    let transport = match HttpTransport::new(&configuration, platform) {
        Ok(transport) => transport,
        Err(fault) => {
            tracing::error!(error = %fault, "nothing can be delivered");
            return None;
        }
    };
    let performer = Performer::new(
        Arc::clone(&configuration),
        transport,
        Arc::clone(clock),
        Box::new(rng),
    );
    Some(Arc::new(Means {
        configuration,
        performer,
        places: Places::default(),
    }))
}
