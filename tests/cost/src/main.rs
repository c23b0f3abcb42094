//! `cost`: counts what events ask of AWS and prints it as JSON. `cargo xtask cost` builds and runs it, and says what that costs.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command line tool talks to whoever runs it"
)]

use std::process::ExitCode;

use serde_json::json;
use switchboard_cost::scene::{Stage, all};
use switchboard_cost::{minute, page};
use switchboard_testkit::emulator::{Emulator, Rights};

#[tokio::main]
async fn main() -> ExitCode {
    // It stands in the folder of its build's profile.
    let own = std::env::current_exe().unwrap_or_default();
    let build_folder = own.ancestors().nth(2).unwrap_or(&own);
    match Emulator::start(build_folder, Rights::Open) {
        Ok(emulator) => {
            Box::pin(count(&emulator)).await;
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

async fn count(emulator: &Emulator) {
    let (mut stage, upkeep) = Stage::start(emulator).await;
    let mut scenes = Vec::new();
    for scene in all() {
        eprintln!(
            "counting: {} destinations, {} bytes, {} retries",
            scene.destinations, scene.body_bytes, scene.retries
        );
        scenes.push(stage.count(scene).await);
    }
    eprintln!("counting: minutes of the keeper");
    let minutes = minute::count(emulator).await;
    eprintln!("counting: an open page");
    let pages = page::count(emulator).await;
    println!(
        "{}",
        json!({ "scenes": scenes, "upkeep": upkeep, "minutes": minutes, "pages": pages })
    );
}
