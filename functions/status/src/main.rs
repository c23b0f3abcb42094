//! The function that operators reach: the page, the API and the admin interface.

use std::process::ExitCode;
use std::sync::Arc;

use lambda_http::service_fn;
use switchboard_core::configuration::Needs;
use switchboard_functions::board::{Board, Settings};
use switchboard_functions::start::{self, Ended, Start};

use desk::Desk;

mod answer;
mod carried;
mod desk;
mod token;
mod trial;

fn main() -> ExitCode {
    start::run(serve)
}

#[expect(
    clippy::future_not_send,
    reason = "one thread does all of it, and the library's own future is none to be sent"
)]
async fn serve(mut start: Start) -> Result<(), Ended> {
    let settings = Settings::read_with_stream(&start.environment);
    let platform = start.environment.sockets("AWS_LAMBDA_RUNTIME_API");
    let (settings, platform) = start.environment.whole(settings.zip(platform))?;
    let board = Board::new(settings, Needs::Everything, &start.clock, &mut start.rng);
    let desk = Arc::new(Desk::new(board, platform, start.clock, start.rng));
    lambda_http::run(service_fn(move |request| {
        answer::within_time(Arc::clone(&desk), request)
    }))
    .await
    .map_err(Ended::because)
}
