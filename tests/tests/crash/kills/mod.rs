//! Killed at random moments, fifty times, under load: senders and destinations are processes of their own and keep
//! books, and an operator sends dead letters again all the while. In the end all books agree.

use std::path::Path;
use std::time::Duration;

use rand::rngs::ChaCha20Rng;
use rand::{RngExt, SeedableRng};
use switchboard_tests::load::{Part, Sink};
use switchboard_tests::setting::{self, SOURCES};
use switchboard_tests::switchboard::{self, Start, Switchboard};
use switchboard_tests::wait;
use tokio::net::TcpStream;
use tokio::process::Child;
use tokio::time::timeout;
use url::Url;

use self::agree::{agree, read};
use self::operator::Operator;

mod agree;
mod operator;

/// How often it is killed while it serves.
const KILLS: usize = 50;
/// The most starts for that: some deaths come before it serves.
const STARTS: usize = 120;
/// What every choice is drawn from.
const SEED: u64 = 7;
/// From its start to its death, in milliseconds.
const MOMENTS_MS: std::ops::Range<u64> = 100..1300;
/// How long everything may take to come to rest.
const LAST: Duration = Duration::from_mins(2);
/// Three attempts, so that some of them end as dead letters.
const PAUSES: &str = "pauses = [\"50ms\", \"100ms\"]\ntime_limit = \"300ms\"";
/// When the destinations answer late: over that.
const LATE_MS: u64 = 500;

#[tokio::test(flavor = "multi_thread")]
async fn fifty_kills_under_load_lose_nothing_and_do_nothing_twice() {
    let folder = tempfile::tempdir().expect("a folder");
    let sink = Sink::start("booked-sink", &[("--seed", SEED), ("--late-ms", LATE_MS)]).await;
    let start = start(&sink);
    let address = free_address();
    let url: Url = format!("http://{address}/").parse().expect("an address");
    let book = folder.path().join("senders-book");
    let sender = senders(&address, &book);
    let operator = Operator::start(url.clone());

    kill(folder.path(), &start, &address).await;

    let start = start.flag(&format!("--listen={address}"));
    let switchboard = Switchboard::start_in(folder, start).await;
    let redriven = operator.end().await;
    // Nobody redrives any more, so that some stay in the list of failed ones.
    wait::until("a delivery fails for good", async || {
        (switchboard.total("dead").await > 0).then_some(())
    })
    .await;
    let ended = sender.end(LAST).await;
    wait::within(LAST, "nothing waits", async || {
        (switchboard.total("waiting").await == 0).then_some(())
    })
    .await;
    agree(&switchboard, &read(&book), &sink.book("/book").await).await;
    assert!(redriven > 20, "redrives were going on: {redriven}");
    assert!(
        ended["sent"].as_u64() > Some(500),
        "there was load: {ended}"
    );
}

fn start(sink: &Sink) -> Start {
    let text = setting::configuration_to(sink.url.as_str());
    setting::start(&text.replace("pauses = [\"20ms\", \"40ms\"]", PAUSES))
}

/// An address that is free now, and the same for every start.
fn free_address() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").to_string()
}

fn senders(address: &str, book: &Path) -> Part {
    let kinds = [
        "orders/create",
        "payment_intent.succeeded",
        "push",
        "form.submitted",
    ];
    let mut arguments = vec![
        "booked-sender".to_owned(),
        "--to".to_owned(),
        address.to_owned(),
    ];
    arguments.extend(["--seed".to_owned(), SEED.to_string()]);
    arguments.extend(["--book".to_owned(), book.display().to_string()]);
    for ((name, scheme, _, secret), kind) in SOURCES.iter().zip(kinds) {
        arguments.extend([
            "--source".to_owned(),
            format!("{name},{scheme},{kind},{secret}"),
        ]);
    }
    Part::start(&arguments)
}

/// Starts it and kills it at a random moment, again and again.
async fn kill(folder: &Path, start: &Start, address: &str) {
    let mut rng = ChaCha20Rng::seed_from_u64(SEED);
    let (mut starts, mut kills) = (0, 0);
    while kills < KILLS {
        starts += 1;
        assert!(
            starts <= STARTS,
            "of {STARTS} starts it served after {kills}"
        );
        let mut running = run(folder, start, address);
        let moment = Duration::from_millis(rng.random_range(MOMENTS_MS));
        if let Ok(ended) = timeout(moment, running.wait()).await {
            let log = std::fs::read_to_string(folder.join("log")).unwrap_or_default();
            panic!("it ended by itself: {ended:?}\n{log}");
        }
        kills += usize::from(TcpStream::connect(address).await.is_ok());
        running.kill().await.expect("it is killed");
    }
}

fn run(folder: &Path, start: &Start, address: &str) -> Child {
    let text = start.configuration.as_deref().expect("a configuration");
    std::fs::write(folder.join("switchboard.toml"), text).expect("a configuration");
    let log = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(folder.join("log"))
        .expect("a log");
    switchboard::command(folder)
        .args([
            "serve",
            "--config",
            "switchboard.toml",
            "--data",
            "data",
            "--listen",
            address,
        ])
        .envs(start.environment.iter().cloned())
        .stdout(std::process::Stdio::null())
        .stderr(log)
        .spawn()
        .expect("the binary starts")
}
