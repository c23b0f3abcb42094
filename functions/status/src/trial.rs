//! What makes test deliveries: a transport of this function's own, since the worker's is in another process.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use rand::rngs::ChaCha20Rng;
use switchboard_core::attempt::Performer;
use switchboard_core::delivery::{AttemptRecord, Outcome, Unanswered};
use switchboard_core::deployed::Current;
use switchboard_core::endpoint::Settings;
use switchboard_core::names::{DestinationName, SenderId};
use switchboard_core::time::Clock;
use switchboard_web::status::{Tested, Tester};
use switchboard_web::transport::HttpTransport;

/// The tester for a configuration. `platform` lists the platform's own addresses, which no test delivery reaches.
pub(crate) fn tester(
    current: &Current,
    platform: &[SocketAddr],
    clock: &Arc<dyn Clock>,
    rng: ChaCha20Rng,
) -> Box<dyn Tester> {
    let configuration = Arc::clone(&current.configuration);
    let clock = Arc::clone(clock);
    match HttpTransport::new(&configuration, platform.to_vec()) {
        Ok(transport) => Box::new(Performer::new(
            configuration,
            transport,
            clock,
            Box::new(rng),
        )),
        Err(fault) => {
            tracing::error!(error = %fault, "no test delivery can be made");
            Box::new(NoWay(clock))
        }
    }
}

/// The tester where the configuration's certificates cannot be read: the worker can send nothing either.
struct NoWay(Arc<dyn Clock>);

impl Tester for NoWay {
    fn test<'a>(&'a self, _: &'a DestinationName, _: &'a SenderId, _: &'a Settings) -> Tested<'a> {
        let outcome = Outcome::Unanswered(Unanswered::Unbuildable);
        let record = AttemptRecord::new(1, self.0.now(), Duration::ZERO, &outcome);
        Box::pin(std::future::ready(Ok(record)))
    }
}
