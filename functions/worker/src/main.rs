//! The function that makes the attempts: it takes batches of hints from the queue of deliveries.

use std::process::ExitCode;
use std::sync::Arc;

use lambda_runtime::{Error, LambdaEvent, service_fn};
use switchboard_core::configuration::Needs;
use switchboard_functions::board::{Board, Settings};
use switchboard_functions::start::{self, Ended, Start};

use event::{Batch, GivenBack};
use function::Function;
use table::Table;

mod back;
mod batch;
mod configured;
mod desk;
mod event;
mod function;
mod hint;
mod places;
mod table;
#[cfg(test)]
mod tests;

fn main() -> ExitCode {
    start::run(serve)
}

async fn serve(mut start: Start) -> Result<(), Ended> {
    let environment = &start.environment;
    let settings = Settings::read(environment);
    let platform = environment.sockets("AWS_LAMBDA_RUNTIME_API");
    let read = settings.zip(platform);
    let (settings, platform) = environment.whole(read)?;
    let board = Board::new(settings, Needs::Destinations, &start.clock, &mut start.rng);
    let deployed = board.deployed;
    let table = Table::new(board.aws);
    let function = Function::new(table, deployed, platform, start.clock, start.rng);
    let function = Arc::new(function);
    let invoked = move |invocation: LambdaEvent<Batch>| {
        let function = Arc::clone(&function);
        async move {
            let given_back: GivenBack = function
                .deal_with(&invocation.payload, invocation.context.deadline)
                .await;
            Ok::<_, Error>(given_back)
        }
    };
    lambda_runtime::run(service_fn(invoked))
        .await
        .map_err(Ended::because)
}
