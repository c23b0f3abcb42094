//! What attempts are made with, made again when the configuration changes.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;
use switchboard_core::attempt::Performer;
use switchboard_core::deployed::{Current, Deployed, Made, Unseen};
use switchboard_core::ports::{Answer, BackendError};
use switchboard_core::time::Clock;
use switchboard_web::transport::HttpTransport;

use crate::batch::Means;
use crate::desk::Configured;
use crate::hint::pause;
use crate::places::Places;

/// What an invocation works with, if it could be made.
type Ready = Option<Arc<Means<HttpTransport>>>;

/// What the deployment's configuration comes to.
pub(crate) struct Applied {
    deployed: Arc<Deployed>,
    means: Made<Ready>,
}

impl Applied {
    /// `platform` lists the platform's own addresses, which no delivery reaches.
    pub(crate) fn new(
        deployed: Arc<Deployed>,
        platform: Vec<SocketAddr>,
        clock: Arc<dyn Clock>,
        rng: ChaCha20Rng,
    ) -> Self {
        let rng = Mutex::new(rng);
        let make = move |current: &Current| {
            let mut rng = rng.lock().unwrap_or_else(PoisonError::into_inner);
            let own_rng = ChaCha20Rng::from_rng(&mut *rng);
            means(current, platform.clone(), &clock, own_rng)
        };
        Self {
            deployed,
            means: Made::new(make),
        }
    }
}

impl Configured for Applied {
    type Transport = HttpTransport;

    async fn current(&self) -> Ready {
        // Why there is no configuration is in the log already, where it began.
        let current = self.deployed.current().await.ok();
        current.and_then(|current| self.means.of(&current))
    }

    async fn newest(&self, since: Duration) -> Answer<Arc<Means<HttpTransport>>> {
        const DOING: &str = "looking at the newest configuration";
        loop {
            match self.deployed.seen_since(since).await {
                Ok(current) => {
                    let means = self.means.of(&current);
                    return means
                        .ok_or_else(|| BackendError::new(DOING, "nothing can be sent by it"));
                }
                Err(Unseen::Wait(left)) => pause(left).await,
                Err(why @ Unseen::Unusable(_)) => return Err(BackendError::new(DOING, why)),
            }
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
