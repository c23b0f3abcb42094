//! A disk that is full or fails: what cannot be stored is answered 503, what was stored is kept, and everything goes on
//! by itself when the disk is well again.

use switchboard_tests::setting::sender;
use switchboard_tests::strace::Strace;
use switchboard_tests::switchboard::Switchboard;
use switchboard_tests::wait;
use tokio::task::{JoinSet, LocalSet};

use self::told::{Told, counted, health, once_each, read_at_once};
use crate::book::Manner;
use crate::promise::holds;
use crate::stored;
use crate::story::Scene;

mod told;

/// What the store can still take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Takes {
    Nothing,
    /// A part, by chance: a step that fails is tried again alone, and may hold then.
    Some,
    Everything,
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
    // Every other sync, and a write of some transactions.
    ("fsync,fdatasync:error=EIO:when=1+2", Takes::Some),
    ("pwrite64:error=ENOSPC:when=4+50", Takes::Some),
    // A connection that reads cannot be opened; the one that writes is.
    ("openat:error=EIO", Takes::Everything),
];

/// Events that are posted in each part of the story.
const EVENTS: usize = 12;
/// Most parts while the disk fails, until some events were taken and some were not: far more than it should take.
const MOST_PARTS: usize = 40;

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

    while_it_fails(&switchboard, fault, takes, &mut told).await;
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
    for part in told.parts.clone().iter().skip(1) {
        told.post(&switchboard, &shop, part).await;
    }
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
    assert_eq!(
        told.answered.len(),
        told.events(),
        "{fault}: every event once"
    );
    holds(&switchboard, &told.answered, &scene.book).await;
    counted(&switchboard, &told, then).await;
    if then == Then::GoesOn {
        once_each(&scene.sink);
    }
    let (folder, _) = switchboard.kill().await;
    let switchboard = Switchboard::start_in(folder, start).await;
    holds(&switchboard, &told.answered, &scene.book).await;
    counted(&switchboard, &told, then).await;
}

/// Posts and reads while the calls of `fault` fail on the store's files.
async fn while_it_fails(switchboard: &Switchboard, fault: &str, takes: Takes, told: &mut Told) {
    let inject = format!("inject={fault}");
    let trace = switchboard.folder().join("trace");
    let data = stored::data(switchboard.folder());
    let mut which = vec!["-e".to_owned(), inject];
    for end in ["", "-wal", "-shm"] {
        let file = data.join(format!("switchboard.sqlite{end}"));
        which.extend(["-P".to_owned(), file.display().to_string()]);
    }
    let strace = Strace::attach(switchboard.id(), &trace, &which).await;
    let shop = sender(switchboard, "shop");
    told.post(switchboard, &shop, "while").await;
    match takes {
        Takes::Nothing => {
            assert_eq!(
                (told.answered.len(), told.declined),
                (EVENTS, EVENTS),
                "{fault}"
            );
            wait::until("healthz is 503", async || {
                (health(switchboard).await == 503).then_some(())
            })
            .await;
        }
        Takes::Some => {
            let both = |told: &Told| told.answered.len() > EVENTS && told.declined > 0;
            for part in 1..MOST_PARTS {
                if both(told) {
                    break;
                }
                let name = format!("while-{part}");
                told.post(switchboard, &shop, &name).await;
            }
            let accepted = told.answered.len() - EVENTS;
            assert!(
                both(told),
                "{fault}: {accepted} are accepted and {} declined, where there should be some of both",
                told.declined
            );
        }
        Takes::Everything => assert_eq!(told.declined, 0, "{fault}"),
    }
    wait::until(&format!("{fault}: a call fails"), async || {
        read_at_once(switchboard, told.answered.len() - told.repeats).await;
        let trace = std::fs::read_to_string(&trace).ok()?;
        trace.contains("(INJECTED)").then_some(())
    })
    .await;
    strace.detach().await;
}
