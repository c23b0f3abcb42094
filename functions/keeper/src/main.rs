//! The function that runs each minute: it finds what a crash left behind, and folds the totals on.

use std::process::ExitCode;
use std::sync::Arc;

use lambda_runtime::{Error, LambdaEvent, service_fn};
use serde_json::Value;
use switchboard_core::configuration::Needs;
use switchboard_functions::board::{Board, Settings};
use switchboard_functions::start::{self, Ended, Start};

use run::Runs;

mod intervals;
mod run;

fn main() -> ExitCode {
    start::run(serve)
}

async fn serve(mut start: Start) -> Result<(), Ended> {
    let environment = &start.environment;
    let settings = Settings::read_with_stream(environment);
    let intervals = intervals::of(environment);
    let settings = environment.whole(settings)?;
    let board = Board::new(settings, Needs::Nothing, &start.clock, &mut start.rng);
    let runs = Arc::new(Runs::new(board, start.clock, intervals));
    let invoked = move |invocation: LambdaEvent<Value>| {
        let runs = Arc::clone(&runs);
        async move {
            runs.one(invocation.context.deadline).await?;
            Ok::<_, Error>(Value::Null)
        }
    };
    lambda_runtime::run(service_fn(invoked))
        .await
        .map_err(Ended::because)
}
