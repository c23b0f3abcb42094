//! `AlertStore`: destinations stand as their deliveries do, and what is kept of alerts survives.
//!
//! Taken to mean: an age is counted from a moment that a backend gives; whether it is too long is the core's to say.

use std::collections::BTreeMap;

use switchboard_core::alert::{Hold, Known, Record, Recovered, Standing, Trouble};
use switchboard_core::delivery::{DeathReason, Next};
use switchboard_core::identity::Run;
use switchboard_core::ports::{AlertStore, Selection};

use super::fixture::Fixture;
use super::sample::{KEEP, MANY, START, after, destination, just_after, plan};
use super::stage::{Stage, sure};

async fn standing<F: Fixture>(stage: &Stage<F>, name: &str) -> Standing {
    stage.settled().await;
    let standings = sure(stage.backend().standings().await);
    let mut of: Vec<_> = standings
        .into_iter()
        .filter(|standing| standing.destination == destination(name))
        .collect();
    assert!(of.len() <= 1, "a destination stands once");
    of.pop()
        .unwrap_or_else(|| Standing::well(destination(name)))
}

fn well(name: &str) -> Standing {
    Standing::well(destination(name))
}

fn records() -> [Record; 2] {
    let raised = BTreeMap::from([
        (Trouble::DeadLetter, after(1)),
        (Trouble::WaitingTooLong, after(2)),
    ]);
    let known = BTreeMap::from([
        (Trouble::DeadLetter, Known::Surely),
        (Trouble::WaitingTooLong, Known::Perhaps),
    ]);
    [
        Record {
            raised,
            known: BTreeMap::new(),
            recovered: None,
            hold: Hold::Now,
        },
        Record {
            raised: BTreeMap::new(),
            known,
            recovered: Some(Recovered {
                raised_at: after(1),
                at: after(7),
            }),
            hold: Hold::Until(after(3)),
        },
    ]
}

async fn kept<F: Fixture>(stage: &Stage<F>) -> BTreeMap<String, Record> {
    let kept = sure(stage.backend().alerts().await).into_iter();
    kept.map(|(name, record)| (name.as_str().to_owned(), record))
        .collect()
}

async fn keep<F: Fixture>(stage: &Stage<F>, name: &str, record: &Record) {
    sure(stage.backend().keep_alert(&destination(name), record).await);
}

pub async fn nothing_stands_and_nothing_is_kept_at_first<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    assert_eq!(sure(stage.backend().standings().await), []);
    assert_eq!(kept(&stage).await, BTreeMap::new());
}

pub async fn what_was_not_attempted_waits_since_it_was_due<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    stage.one("shop", "1", "a", after(9)).await;
    let first = stage.one("shop", "2", "a", after(5)).await;
    let expected = |waiting, since| Standing {
        waiting,
        waiting_since: Some(after(since)),
        ..well("a")
    };
    assert_eq!(standing(&stage, "a").await, expected(2, 5));
    assert_eq!(standing(&stage, "b").await, well("b"), "nothing is lent");
    stage.deliver(&first, after(5)).await;
    assert_eq!(standing(&stage, "a").await, expected(1, 9));
}

pub async fn what_was_attempted_waits_since_its_event_was_received<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let failed = stage.one("shop", "1", "a", after(5)).await;
    let later = after(100_000);
    stage
        .fail(&failed.key, after(5), Next::Waiting(later))
        .await;
    let stands = standing(&stage, "a").await;
    assert_eq!(
        stands.waiting_since,
        Some(START),
        "not since it is due next"
    );
    assert!(!stands.has_redriven, "it is in its first round");
    stage.deliver(&failed, later).await;
    assert_eq!(standing(&stage, "a").await, well("a"));
}

pub async fn a_redriven_one_waits_since_it_was_due_and_is_told_of<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let dead = stage.one("shop", "1", "a", START).await;
    stage.die(&dead, START).await;
    let stands = standing(&stage, "a").await;
    assert_eq!((stands.dead_letters, stands.waiting_since), (1, None));
    stage.requeue(&Selection::AllDead, after(60), MANY).await;
    let redriven = Standing {
        has_redriven: true,
        waiting: 1,
        waiting_since: Some(after(60)),
        ..well("a")
    };
    assert_eq!(standing(&stage, "a").await, redriven);
    stage
        .fail(&dead.key, after(60), Next::Waiting(after(90)))
        .await;
    let failed = Standing {
        waiting_since: Some(after(90)),
        ..redriven
    };
    assert_eq!(standing(&stage, "a").await, failed, "until it is done");
    stage.deliver(&dead, after(90)).await;
    assert_eq!(standing(&stage, "a").await, well("a"));
}

pub async fn a_replayed_one_waits_since_it_was_due_like_one_that_is_redriven<F: Fixture>(
    fixture: F,
) {
    let stage = Stage::open(fixture).await;
    let first = stage.one("shop", "1", "a", START).await;
    stage.deliver(&first, START).await;
    let replayed = plan(&first.event, Run(7), &["a"], after(100_000));
    stage.replay(&first.event.id, Run(7), &replayed).await;
    let waits = |since, has_redriven| Standing {
        has_redriven,
        waiting: 1,
        waiting_since: Some(after(since)),
        ..well("a")
    };
    let stands = standing(&stage, "a").await;
    assert_eq!(stands.waiting_since, Some(after(100_000)));
    let [queued] = replayed.as_slice() else {
        panic!("one is planned")
    };
    stage
        .fail(&queued.key, after(100_000), Next::Waiting(after(100_060)))
        .await;
    let stands = standing(&stage, "a").await;
    assert_eq!(stands, waits(100_060, true), "not since its event came");
}

pub async fn dead_letters_are_counted_while_they_are_kept<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    stage.several_dead("a", 3, START).await;
    let buried = stage.one("shop", "buried", "a", START).await;
    stage
        .bury("a", DeathReason::NoDestination, START, MANY)
        .await;
    assert_eq!(standing(&stage, "a").await.dead_letters, 4);
    let end = just_after(KEEP.until_when_dead(buried.event.received_at));
    assert_eq!(stage.expire(end, MANY).await, 4);
    assert_eq!(standing(&stage, "a").await, well("a"), "they expired");
}

pub async fn what_is_held_does_not_wait<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let failed = stage.one("shop", "1", "a", START).await;
    stage
        .fail(&failed.key, START, Next::Waiting(after(2)))
        .await;
    stage.one("shop", "2", "a", START).await;
    stage.hold("a", after(2)).await;
    let held = Standing {
        held: 2,
        is_on_hold: true,
        ..well("a")
    };
    assert_eq!(standing(&stage, "a").await, held);
    stage.let_go("a").await;
    assert!(!standing(&stage, "a").await.is_on_hold);
}

pub async fn what_is_kept_of_an_alert_survives_and_is_replaced_whole<F: Fixture>(fixture: F) {
    let mut stage = Stage::open(fixture).await;
    let [other, _] = records();
    keep(&stage, "b", &other).await;
    for record in records() {
        for _ in 0..2 {
            keep(&stage, "a", &record).await;
            stage = stage.reopened().await;
            let expected = [("a", record.clone()), ("b", other.clone())]
                .map(|(name, record)| (name.to_owned(), record));
            assert_eq!(kept(&stage).await, BTreeMap::from(expected));
        }
    }
    for _ in 0..2 {
        keep(&stage, "a", &Record::default()).await;
        let only: Vec<_> = kept(&stage).await.into_keys().collect();
        assert_eq!(only, ["b"], "the default is not kept");
    }
}
