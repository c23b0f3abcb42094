//! What makes test deliveries: a transport of this function's own, since the worker's is in another process.
//! It waits for less than the gateway does, whatever time its destination has: what a test came to is to be told.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use rand::rngs::ChaCha20Rng;
use switchboard_core::attempt::Performer;
use switchboard_core::delivery::{AttemptRecord, Outcome, Unanswered};
use switchboard_core::deployed::Current;
use switchboard_core::endpoint::Settings;
use switchboard_core::names::{DestinationName, SenderId};
use switchboard_core::ports::{Outgoing, Transport};
use switchboard_core::time::Clock;
use switchboard_web::status::{Tested, Tester};
use switchboard_web::transport::HttpTransport;

/// How long a test waits for an answer: the operator's request is answered within 25 seconds, with all that is read for it.
const LONGEST: Duration = Duration::from_secs(20);

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
            InTime(transport),
            clock,
            Box::new(rng),
        )),
        Err(fault) => {
            tracing::error!(error = %fault, "no test delivery can be made");
            Box::new(NoWay(clock))
        }
    }
}

/// A transport that waits no longer than [`LONGEST`].
struct InTime<T>(T);

impl<T: Transport> Transport for InTime<T> {
    async fn post(&self, request: Outgoing) -> Outcome {
        let is_cut = request.time_limit > LONGEST;
        let time_limit = request.time_limit.min(LONGEST);
        let outcome = self.0.post(Outgoing {
            time_limit,
            ..request
        });
        match outcome.await {
            Outcome::Unanswered(Unanswered::TimeLimit) if is_cut => {
                Outcome::Unanswered(Unanswered::TestLimit(LONGEST.as_secs()))
            }
            other => other,
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

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::Mutex;
    use std::task::{Context, Poll, Waker};

    use http::HeaderMap;
    use switchboard_core::address::{Address, Networks};

    use super::*;

    /// Keeps how long it was to wait, and waits in vain.
    #[derive(Default)]
    struct Silent(Mutex<Vec<Duration>>);

    impl Transport for Silent {
        async fn post(&self, request: Outgoing) -> Outcome {
            self.0.lock().expect("a lock").push(request.time_limit);
            Outcome::Unanswered(Unanswered::TimeLimit)
        }
    }

    fn posted(transport: &InTime<Silent>, seconds: u64) -> Outcome {
        let request = Outgoing {
            destination: DestinationName::parse("chat").expect("a name"),
            address: Address::parse("https://chat.example/", Networks::Public).expect("an address"),
            headers: HeaderMap::new(),
            body: Vec::new().into(),
            time_limit: Duration::from_secs(seconds),
        };
        let mut context = Context::from_waker(Waker::noop());
        match pin!(transport.post(request)).poll(&mut context) {
            Poll::Ready(outcome) => outcome,
            Poll::Pending => unreachable!("nothing waits"),
        }
    }

    #[test]
    fn a_test_waits_twenty_seconds_at_most_and_says_when_that_was_all() {
        let transport = InTime(Silent::default());
        let own = Outcome::Unanswered(Unanswered::TimeLimit);
        assert_eq!(posted(&transport, 3), own);
        assert_eq!(posted(&transport, 20), own);
        let cut = Outcome::Unanswered(Unanswered::TestLimit(20));
        assert_eq!(posted(&transport, 60), cut);
        let waited = transport.0.0.lock().expect("a lock").clone();
        assert_eq!(waited, [3, 20, 20].map(Duration::from_secs));
    }
}
