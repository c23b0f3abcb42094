//! The function that senders post to.

use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use lambda_http::service_fn;
use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;
use switchboard_core::configuration::Needs;
use switchboard_core::deployed::Current;
use switchboard_core::ingress::Ingress;
use switchboard_functions::board::{Board, Settings};
use switchboard_functions::start::{self, Ended, Start};
use switchboard_web::{deployed, ingress};

mod answer;

fn main() -> ExitCode {
    start::run(serve)
}

#[expect(
    clippy::future_not_send,
    reason = "one thread does all of it, and the library's own future is none to be sent"
)]
async fn serve(mut start: Start) -> Result<(), Ended> {
    let settings = Settings::read(&start.environment);
    let settings = start.environment.whole(settings)?;
    let board = Board::new(settings, Needs::Everything, &start.clock, &mut start.rng);
    let (backend, clock, rng) = (Arc::new(board.aws), start.clock, Mutex::new(start.rng));
    let counts = Arc::clone(&backend);
    let build = move |current: &Current| {
        let mut rng = rng.lock().unwrap_or_else(PoisonError::into_inner);
        let ingress = Ingress::new(
            Arc::clone(&current.configuration),
            Arc::clone(&backend),
            Arc::clone(&clock),
            Box::new(ChaCha20Rng::from_rng(&mut *rng)),
        );
        let max_body = current.configuration.max_body;
        ingress::router(Arc::new(ingress), max_body, answer::LIMITS)
    };
    let router = deployed::router(board.deployed, build);
    lambda_http::run(service_fn(move |request| {
        let counts = Arc::clone(&counts);
        let counting = async move { answer::count(&counts).await };
        answer::within_time(router.clone(), request, counting)
    }))
    .await
    .map_err(Ended::because)
}
