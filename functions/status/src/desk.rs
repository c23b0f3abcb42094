//! The router of operators, made again when the admin token or the gateway's name is another one; what it shows follows the
//! configuration by itself.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;
use switchboard_aws::Aws;
use switchboard_aws::secrets::StoredSecrets;
use switchboard_core::deployed::{Current, Deployed};
use switchboard_core::ports::Answer;
use switchboard_core::secret::Secret;
use switchboard_core::time::Clock;
use switchboard_functions::board::Board;
use switchboard_web::deployed;
use switchboard_web::status::{self, Setup, Status};
use url::Url;

use crate::token::AdminToken;
use crate::trial;

/// What a router was made with.
#[derive(PartialEq)]
struct Front {
    token: Secret,
    address: Url,
}

/// All that the routers are made of.
pub(crate) struct Desk {
    backend: Arc<Aws>,
    deployed: Arc<Deployed>,
    secrets: Arc<StoredSecrets>,
    clock: Arc<dyn Clock>,
    rng: Mutex<ChaCha20Rng>,
    token: AdminToken,
    last: Mutex<Option<(Front, Router)>>,
    /// The platform's own addresses, which no test delivery reaches.
    platform: Vec<SocketAddr>,
}

impl Desk {
    pub(crate) fn new(
        board: Board,
        platform: Vec<SocketAddr>,
        clock: Arc<dyn Clock>,
        rng: ChaCha20Rng,
    ) -> Self {
        Self {
            backend: Arc::new(board.aws),
            deployed: board.deployed,
            secrets: board.secrets,
            clock,
            rng: Mutex::new(rng),
            token: AdminToken::default(),
            last: Mutex::default(),
            platform,
        }
    }

    /// The router for operators that come through the gateway at `address`.
    pub(crate) async fn router(&self, address: Url) -> Answer<Router> {
        let token = self.token.current(&self.secrets, &*self.clock).await?;
        let front = Front { token, address };
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((made_with, router)) = &*last
            && *made_with == front
        {
            return Ok(router.clone());
        }
        let router = self.make(&front);
        *last = Some((front, router.clone()));
        Ok(router)
    }

    fn make(&self, front: &Front) -> Router {
        let (token, address) = (front.token.clone(), front.address.clone());
        let (backend, clock) = (Arc::clone(&self.backend), Arc::clone(&self.clock));
        let deployed = Arc::clone(&self.deployed);
        let platform = self.platform.clone();
        let rng = Mutex::new(own(&self.rng));
        deployed::operators(Arc::clone(&self.deployed), move |current: &Current| {
            let status = Status::new(Setup {
                configuration: Arc::clone(&current.configuration),
                backend: Arc::clone(&backend),
                clock: Arc::clone(&clock),
                rng: Box::new(own(&rng)),
                admin_token: token.clone(),
                address: address.clone(),
                tester: trial::tester(current, &platform, &clock, own(&rng)),
            });
            status::router(Arc::new(status.with_deployed(Arc::clone(&deployed))))
        })
    }
}

/// Randomness of one's own.
fn own(rng: &Mutex<ChaCha20Rng>) -> ChaCha20Rng {
    ChaCha20Rng::from_rng(&mut *rng.lock().unwrap_or_else(PoisonError::into_inner))
}
