//! A disk that is full or fails: what cannot be stored is answered 503, what was stored is kept, and everything goes on
//! by itself when the disk is well again.

use serde_json::{Value, json};
use switchboard_tests::sender::Sender;
use switchboard_tests::setting::sender;
use switchboard_tests::strace::Strace;
use switchboard_tests::switchboard::{Switchboard, TOKEN};
use switchboard_tests::wait;
use switchboard_tests::wire::{self, Reply};
use tokio::task::{JoinSet, LocalSet};

use crate::book::Manner;
use crate::promise::holds;
use crate::stored;
use crate::story::Scene;

/// Whether the store can still take something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Takes {
    Nothing,
    Some,
}

/// What comes after the fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    /// The disk is well again.
    GoesOn,
    /// The process dies first. What failed may stand after it: it was promised to nobody.
    Dies,
}

/// What fails: system calls and how, as strace is told.
const FAULTS: [(&str, Takes); 7] = [
    ("pwrite64,ftruncate:error=ENOSPC", Takes::Nothing),
    ("pwrite64:error=EIO", Takes::Nothing),
    ("fsync,fdatasync:error=EIO", Takes::Nothing),
    ("fsync,fdatasync:error=ENOSPC", Takes::Nothing),
    // Now and then: a step that fails with others is tried alone, and may hold then.
    ("fsync,fdatasync:error=EIO:when=1+3", Takes::Some),
    ("pwrite64:error=ENOSPC:when=4+9", Takes::Some),
    // A connection that reads cannot be opened.
    ("openat:error=EIO", Takes::Some),
];

/// Events that are posted in each part of the story.
const EVENTS: usize = 12;

#[tokio::test]
async fn while_the_disk_fails_nothing_is_promised_and_nothing_lost() {
    let all = LocalSet::new();
    let broken = all.run_until(async {
        let mut telling = JoinSet::new();
        for (fault, takes) in FAULTS {
            for then in [Then::GoesOn, Then::Dies] {
                telling.spawn_local(async move {
                    let told = tokio::task::spawn_local(fails(fault, takes, then)).await;
                    told.err().map(|_| (fault, then))
                });
            }
        }
        telling
            .join_all()
            .await
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
    });
    let broken = broken.await;
    assert!(
        broken.is_empty(),
        "a promise was broken, said above: {broken:#?}"
    );
}

/// What the senders and the operators are told.
#[derive(Default)]
struct Told {
    answered: Vec<String>,
    repeats: usize,
    declined: usize,
}

impl Told {
    /// Posts events and keeps what is answered: 200, or 503 with a time to come back.
    async fn post(&mut self, switchboard: &Switchboard, shop: &Sender, name: &str) {
        for number in 0..EVENTS {
            let reply = post(switchboard, shop, &format!("{name}-{number}")).await;
            match reply.status {
                200 => {
                    let body: Value = serde_json::from_str(&reply.body).expect("JSON");
                    self.repeats += usize::from(body["status"] == "repeat");
                    self.answered
                        .push(body["event"].as_str().expect("an event").to_owned());
                }
                503 => {
                    assert!(reply.header("retry-after").is_some(), "{}", reply.head);
                    self.declined += 1;
                }
                other => panic!("{other} is no answer to an event: {}", reply.head),
            }
        }
    }
}

async fn post(switchboard: &Switchboard, shop: &Sender, id: &str) -> Reply {
    let headers = shop.headers(id, "orders/create", b"{}");
    let mut lines = vec![("host", "localhost")];
    lines.extend(
        headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.to_str().expect("text"))),
    );
    wire::ask(&switchboard.url, "POST", "/in/shop", &lines, "{}").await
}

async fn health(switchboard: &Switchboard) -> u16 {
    let host = [("host", "localhost")];
    wire::ask(&switchboard.url, "GET", "/healthz", &host, "")
        .await
        .status
}

/// Reads so often at once that further connections to the store are opened. What cannot be read is 503; what can is
/// right.
async fn read_at_once(switchboard: &Switchboard, stored: usize) {
    let mut reading = JoinSet::new();
    for _ in 0..8 {
        let url = switchboard.url.clone();
        reading.spawn(async move {
            let bearer = format!("Bearer {TOKEN}");
            let headers = [("host", "localhost"), ("authorization", &bearer)];
            wire::ask(&url, "GET", "/api/overview", &headers, "").await
        });
    }
    for reply in reading.join_all().await {
        if reply.status != 503 {
            let overview: Value = serde_json::from_str(&reply.body).expect("an overview");
            assert_eq!(overview["totals"]["stored"], stored, "{}", reply.head);
        }
    }
}

/// Events come in before, while and after system calls fail.
async fn fails(fault: &str, takes: Takes, then: Then) {
    let scene = Scene::new(Manner::Badly).await;
    let mut start = scene.start.clone();
    // Some attempts are made and recorded while the disk fails.
    start.configuration = start
        .configuration
        .map(|text| text.replace("\"40ms\"", "\"700ms\", \"2s\""));
    let switchboard = Switchboard::start(start.clone()).await;
    let shop = sender(&switchboard, "shop");
    let mut told = Told::default();
    told.post(&switchboard, &shop, "before").await;
    assert_eq!(told.declined, 0, "{fault}: while the disk is well");

    let inject = format!("inject={fault}");
    let trace = switchboard.folder().join("trace");
    let data = stored::data(switchboard.folder());
    let mut which = vec!["-e".to_owned(), inject];
    for end in ["", "-wal", "-shm"] {
        let file = data.join(format!("switchboard.sqlite{end}"));
        which.extend(["-P".to_owned(), file.display().to_string()]);
    }
    let strace = Strace::attach(switchboard.id(), &trace, &which).await;
    told.post(&switchboard, &shop, "while").await;
    match takes {
        Takes::Nothing => {
            assert_eq!(
                (told.answered.len(), told.declined),
                (EVENTS, EVENTS),
                "{fault}"
            );
            wait::until("healthz is 503", async || {
                (health(&switchboard).await == 503).then_some(())
            })
            .await;
        }
        Takes::Some => assert_eq!(told.answered.len() + told.declined, 2 * EVENTS),
    }
    wait::until(&format!("{fault}: a call fails"), async || {
        read_at_once(&switchboard, told.answered.len() - told.repeats).await;
        let trace = std::fs::read_to_string(&trace).ok()?;
        trace.contains("(INJECTED)").then_some(())
    })
    .await;
    strace.detach().await;
    let switchboard = match then {
        Then::GoesOn => switchboard,
        Then::Dies => {
            let (folder, _) = switchboard.kill().await;
            Switchboard::start_in(folder, start.clone()).await
        }
    };
    let shop = sender(&switchboard, "shop");

    wait::until("healthz is 200 again", async || {
        (health(&switchboard).await == 200).then_some(())
    })
    .await;
    let (accepted, declined) = (told.answered.len(), told.declined);
    told.post(&switchboard, &shop, "while").await;
    told.post(&switchboard, &shop, "after").await;
    assert_eq!(told.declined, declined, "{fault}: the disk is well again");
    match then {
        Then::GoesOn => assert_eq!(
            told.repeats,
            accepted - EVENTS,
            "{fault}: of what failed nothing stands"
        ),
        Then::Dies => assert!(told.repeats >= accepted - EVENTS, "{fault}"),
    }
    told.answered.sort();
    told.answered.dedup();
    assert_eq!(told.answered.len(), 3 * EVENTS, "{fault}: every event once");
    holds(&switchboard, &told.answered, &scene.book).await;
    counted(&switchboard, &told, then).await;
    let (folder, _) = switchboard.kill().await;
    let switchboard = Switchboard::start_in(folder, start).await;
    holds(&switchboard, &told.answered, &scene.book).await;
    counted(&switchboard, &told, then).await;
}

/// The counts are the senders' own.
async fn counted(switchboard: &Switchboard, told: &Told, then: Then) {
    let overview = switchboard.get("/api/overview").await;
    let totals = &overview["totals"];
    assert_eq!(totals["repeats"], told.repeats, "{totals}");
    assert_eq!(
        totals["received"],
        json!(3 * EVENTS + told.repeats),
        "{totals}"
    );
    let declined = overview["declined"].as_array().expect("a list").iter();
    let declined: u64 = declined.filter_map(|row| row["count"].as_u64()).sum();
    let counted = usize::try_from(declined).expect("a number");
    match then {
        Then::GoesOn => assert_eq!(counted, told.declined, "{overview}"),
        // What could only be counted in memory died with the process.
        Then::Dies => assert!(counted <= told.declined, "{overview}"),
    }
}
