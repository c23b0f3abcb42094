//! `cloud`: deploys the stack on the emulator and tells its story there. `cargo xtask e2e` builds and runs it.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command line tool talks to whoever runs it"
)]

use std::net::{Ipv4Addr, SocketAddr};
use std::process::ExitCode;

use switchboard_cloud::deployed::{Deployed, Setting};
use switchboard_cloud::told::Told;
use switchboard_cloud::{door, story};
use switchboard_testkit::emulator::Rights;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::{LocalSet, spawn_local};

/// Where the front door opens, so that the address can be kept in a browser.
const FRONT: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 4580);
/// The exit code of a command line that makes no sense.
const USAGE: u8 = 64;
const LINE: &str = "usage: cloud [--enforced] [--any-port | --listen=ADDR] [--stay] [--untold]";

/// What is left when the story was told.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Then {
    End,
    Stay,
}

/// Whether it is told.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Story {
    Told,
    Untold,
}

#[tokio::main]
async fn main() -> ExitCode {
    let (mut setting, mut then) = (Setting::with(Rights::Open), Then::End);
    let mut story = Story::Told;
    setting.listen = FRONT;
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "--enforced" => setting.rights = Rights::Enforced,
            "--any-port" => setting.listen.set_port(0),
            "--stay" => then = Then::Stay,
            "--untold" => story = Story::Untold,
            other => {
                let address = other.strip_prefix("--listen=");
                let Some(Ok(address)) = address.map(str::parse) else {
                    eprintln!("{LINE}");
                    return ExitCode::from(USAGE);
                };
                setting.listen = address;
            }
        }
    }
    // Before anything is begun: another run writes the same log.
    if let Err(why) = door::is_free(setting.listen) {
        eprintln!("{why}");
        return ExitCode::FAILURE;
    }
    LocalSet::new()
        .run_until(watched(setting, story, then))
        .await
}

/// What was started ends where its task does: at its end, when a step fails, and when it is told to stop.
async fn watched(setting: Setting, story: Story, then: Then) -> ExitCode {
    let mut running = spawn_local(run(setting, story, then));
    tokio::select! {
        ended = &mut running => match ended {
            Ok(()) => ExitCode::SUCCESS,
            // The step that failed has said so.
            Err(_) => ExitCode::FAILURE,
        },
        () = told_to_stop() => {
            running.abort();
            drop(running.await);
            eprintln!("stopped");
            ExitCode::FAILURE
        }
    }
}

async fn run(setting: Setting, story: Story, then: Then) {
    let mut told = Told::default();
    let deployed = Deployed::start(setting, &mut told).await;
    println!("it is at {}", deployed.url());
    if story == Story::Told {
        story::tell(&deployed, &mut told).await;
    }
    if then == Then::Stay {
        println!("\n{}", door::told(&deployed).await);
        std::future::pending::<()>().await;
    }
}

/// An interrupt from the terminal, or a request to end.
async fn told_to_stop() {
    match signal(SignalKind::terminate()) {
        Ok(mut terminated) => {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminated.recv() => {}
            }
        }
        Err(_) => drop(tokio::signal::ctrl_c().await),
    }
}
