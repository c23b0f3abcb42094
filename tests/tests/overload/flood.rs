//! Twice and ten times what can be served, offered whatever is answered.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use http::StatusCode;
use switchboard_tests::process::allow_handles;
use switchboard_tests::switchboard::Switchboard;
use switchboard_tests::wait;

use crate::load::{Sent, Sink, send};
use crate::setting::{SECRET, SLOW, TURN, start};
use crate::watch::{Looks, during};

/// Seconds of each flood.
const SECONDS: u64 = 30;
/// Connections that a flood may hold open at once.
const CONNECTIONS: usize = 3000;
/// The time within which 99 of 100 have their answer, by its status. An event may wait two seconds and the transactions
/// around that; ten seconds is where the door itself gives up. Who is turned away waits for nothing.
const WITHIN_MS: [(u16, f64); 2] = [(200, 8000.0), (503, 5000.0)];
/// The most resident memory, in MiB: some 30 without load, the steps that wait, and what the connections hold.
const MOST_MEMORY: u64 = 200;
/// What memory may grow by while the flood goes on, in MiB.
const MOST_GROWTH: u64 = 24;
/// Handles beside the connections: the process's own, and connections that the sender has closed and replaced while a
/// busy machine has not come to see their end.
const OWN_HANDLES: usize = 1000;
/// Handles that each of the processes may need.
pub(crate) const HANDLES: u64 = 5000;
/// How long it may take until everything accepted is delivered.
const RECOVERY: Duration = Duration::from_mins(1);

fn arguments(pairs: &[(&str, u64)]) -> Vec<String> {
    let each = pairs.iter();
    each.flat_map(|(name, value)| [format!("--{name}"), value.to_string()])
        .collect()
}

/// What was accepted, in events a second.
fn rate(sent: &Sent) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "a few hundred"
    )]
    let rate = (sent.answered(200) as f64 / sent.seconds()) as u64;
    rate
}

/// Senders that wait for each answer: as many as always have a place, and so none is turned away.
async fn waiting_senders(switchboard: &Switchboard, accepted: &Path) -> Sent {
    let some = arguments(&[("events", 1500), ("connections", 256)]);
    let sent = send(&switchboard.at("/in/code"), SECRET, accepted, &some).await;
    assert_eq!(sent.answered(200), 1500, "without a flood all are accepted");
    sent
}

async fn flood(
    switchboard: &Switchboard,
    sink: &Sink,
    per_second: u64,
    seconds: u64,
    accepted: &Path,
) -> (Sent, Looks) {
    let connections = CONNECTIONS.try_into().expect("a number");
    let many = arguments(&[
        ("per-second", per_second),
        ("events", per_second * seconds),
        ("connections", connections),
    ]);
    let to = switchboard.at("/in/code");
    during(send(&to, SECRET, accepted, &many), switchboard, sink).await
}

/// What holds of every flood.
#[expect(
    clippy::print_stderr,
    reason = "what was measured is worth a look also when it is as it should be"
)]
fn judge(name: &str, times: u64, capacity: u64, sent: &Sent, looks: &Looks) {
    let (accepted, turned_away) = (sent.answered(200), sent.answered(503));
    let told = format!(
        "{name} of {capacity}/s: {accepted} accepted (99 % within {:.0} ms), {turned_away} turned away (within {:.0} ms) \
         in {:.0} s; memory up to {} MiB, grown by {}; {} handles; delivered {:?}",
        sent.p99_ms(200),
        sent.p99_ms(503),
        sent.seconds(),
        looks.most_memory(),
        looks.growth(),
        looks.most_handles(),
        looks.delivered(),
    );
    eprintln!("{told}");
    assert_eq!(sent.otherwise(), 0, "all have an answer; {told}");
    assert_eq!(sent.without_retry_after(), 0, "{told}");
    // On a busy machine the sender may not come along; what it did not send was not offered.
    let planned = times * capacity * SECONDS;
    assert!(accepted + turned_away >= planned / 2, "a flood; {told}");
    assert!(turned_away > 0, "more was offered than fits; {told}");
    for (status, most) in WITHIN_MS {
        assert!(sent.p99_ms(status) < most, "{status}; {told}");
    }
    assert!(accepted >= capacity * SECONDS / 2, "{told}");
    assert!(looks.most_memory() < MOST_MEMORY, "{told}");
    assert!(looks.growth() <= MOST_GROWTH, "{told}");
    assert!(looks.most_handles() < CONNECTIONS + OWN_HANDLES, "{told}");
    assert!(looks.delivered().iter().all(|count| *count > 0), "{told}");
    assert!(looks.unwell().is_empty(), "{:?}; {told}", looks.unwell());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_is_turned_away_at_once_and_what_was_accepted_is_delivered() {
    let _turn = TURN.lock().await;
    allow_handles(HANDLES).await;
    let folder = tempfile::tempdir().expect("a folder");
    let sink = Sink::start(folder.path()).await;
    let slow = start(&sink).set("SWITCHBOARD_FAIL", SLOW);
    let switchboard = Switchboard::start(slow).await;
    let lists = ["waiting", "rush", "twice", "tenfold"].map(|name| folder.path().join(name));
    let waiting = waiting_senders(&switchboard, &lists[0]).await;
    // Senders that wait do not fill every transaction; a few seconds of a rush do.
    let rush = flood(&switchboard, &sink, 6 * rate(&waiting), 5, &lists[1]).await;
    let capacity = rate(&waiting).max(rate(&rush.0));
    let mut accepted = waiting.answered(200) + rush.0.answered(200);
    let mut turned_away = rush.0.answered(503);
    for (name, times, list) in [("twice", 2, &lists[2]), ("tenfold", 10, &lists[3])] {
        let offered = times * capacity;
        let (sent, looks) = flood(&switchboard, &sink, offered, SECONDS, list).await;
        judge(name, times, capacity, &sent, &looks);
        accepted += sent.answered(200);
        turned_away += sent.answered(503);
    }

    let sender = switchboard.sender("code", "github", SECRET);
    let last = wait::until("an event is accepted after the flood", async || {
        let answer = sender.send("after", "push", "{}").await;
        (answer.status == StatusCode::OK).then(|| answer.event())
    })
    .await;
    wait::within(RECOVERY, "everything accepted is delivered", async || {
        (switchboard.total("delivered").await == accepted + 1).then_some(())
    })
    .await;
    wait::until("everyone who was turned away is counted", async || {
        (switchboard.total("declined").await >= turned_away).then_some(())
    })
    .await;
    let totals = &switchboard.get("/api/overview").await["totals"];
    for (name, value) in [
        ("received", accepted + 1),
        ("stored", accepted + 1),
        ("declined", turned_away),
        ("repeats", 0),
        ("waiting", 0),
        ("dead", 0),
    ] {
        assert_eq!(totals[name], value, "{name} of {totals}");
    }

    let mut promised: BTreeSet<String> = BTreeSet::from([last]);
    for list in &lists {
        let text = std::fs::read_to_string(list).expect("a list");
        promised.extend(text.lines().map(str::to_owned));
    }
    let keys = sink.keys();
    let often: Vec<_> = keys.iter().filter(|(_, (_, count))| *count != 1).collect();
    assert!(often.is_empty(), "came more than once: {often:?}");
    let delivered: BTreeSet<String> = keys.into_values().map(|(event, _)| event).collect();
    assert_eq!(delivered.len(), promised.len());
    assert_eq!(delivered, promised);

    // A line for each event and each attempt, and none for each that was turned away.
    let lines = switchboard.log().lines().count();
    let most = usize::try_from(2 * (accepted + 1) + 1000).expect("a count");
    assert!(lines <= most, "{lines} lines, {accepted} events accepted");
}
