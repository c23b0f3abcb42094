//! What the steps of one call of an operator read together.

use std::collections::HashMap;
use std::time::Duration;

use switchboard_aws::message::Origin;
use switchboard_core::delivery::{DeathReason, Next};
use switchboard_core::event::Event;
use switchboard_core::names::DestinationName;
use switchboard_core::ports::{Ledger, Moved, Queued, Selection, Spread};
use switchboard_testkit::emulator::Emulator;

use crate::ground::Ground;
use crate::proxy::{Fate, Proxy};
use crate::sample::{KEEP, clients_at, event, go, hints, plan, unanswered};
use crate::support::START;

const EVENTS: u32 = 48;
const STEP: u32 = 6;
/// The service's own word that a request is none that it takes: it is not made again.
const REFUSED: &str =
    r#"{"__type":"com.amazon.coral.validate#ValidationException","message":"as the test wants"}"#;

/// Stores events with one delivery each, of which nothing is recorded.
async fn stored(ground: &Ground, ids: std::ops::Range<u32>) -> Vec<Queued> {
    let backend = ground.open();
    let mut all = Vec::new();
    for n in ids {
        let received_at = START.plus(Duration::from_secs(n.into()));
        let event = Event {
            received_at,
            ..event(&n.to_string(), 10)
        };
        let planned = plan(&event, 1, received_at);
        let accepted = backend.accept(&event, &planned, KEEP).await;
        accepted.expect("stored");
        all.extend(planned);
    }
    all
}

/// How often each delivery was looked for.
fn looked_for(proxy: &Proxy) -> HashMap<String, usize> {
    let mut found = HashMap::new();
    for request in proxy.requests() {
        if request.operation == "BatchGetItem" {
            for begin in request.body.split("D#dlv_").skip(1) {
                let id = begin.get(..26).unwrap_or_default();
                *found.entry(id.to_owned()).or_default() += 1;
            }
        }
    }
    found
}

#[tokio::test]
async fn the_steps_of_a_burial_look_once_for_what_has_records() {
    let ground = Ground::new().await;
    let direct = ground.open();
    let due = START.plus(Duration::from_mins(10));
    for queued in stored(&ground, 0..EVENTS).await {
        let attempt = go(&direct, &queued).await;
        let record = unanswered(&attempt);
        let recorded = direct.record(&attempt, &record, Next::Waiting(due), KEEP);
        recorded.await.expect("recorded");
    }
    let proxy = Proxy::start(Emulator::shared().address(), |_| Fate::Passed);
    let clients = clients_at(&proxy.url(), ground.account());
    let backend = ground.open_with(&clients, ground.place.clone());
    let to = DestinationName::parse("to-0").expect("a name");
    for left in (0..EVENTS / STEP).rev().map(|steps| steps * STEP) {
        let gone = DeathReason::NoDestination;
        let moved = backend.bury(&to, gone, START, KEEP, STEP).await;
        assert_eq!(moved.expect("buried"), Moved { done: STEP, left });
    }
    let most = looked_for(&proxy).values().max().copied();
    assert_eq!(most, Some(1), "by the first step alone");
}

#[tokio::test]
async fn a_step_that_fails_leaves_its_way_to_the_next_one() {
    let ground = Ground::new().await;
    stored(&ground, 0..EVENTS).await;
    let mut left = 1;
    let proxy = Proxy::start(Emulator::shared().address(), move |request| {
        if request.operation == "UpdateItem" && request.body.contains("D#dlv_") && left > 0 {
            left -= 1;
            return Fate::Refused(REFUSED.to_owned());
        }
        Fate::Passed
    });
    let clients = clients_at(&proxy.url(), ground.account());
    let backend = ground.open_with(&clients, ground.place.clone());
    let to = DestinationName::parse("to-0").expect("a name");
    let gone = DeathReason::NoDestination;
    let bury = async || backend.bury(&to, gone, START, KEEP, STEP).await;
    bury().await.expect_err("one write is refused");
    let mut buried = 0;
    for _ in 0..EVENTS {
        let moved = bury().await.expect("buried");
        buried += moved.done;
        if moved.left == 0 {
            break;
        }
    }
    // The others of the first step were buried by it.
    assert!((EVENTS - STEP..EVENTS).contains(&buried), "{buried}");
    let looked_for = looked_for(&proxy);
    assert_eq!(looked_for.len(), EVENTS as usize);
    let begun_anew = looked_for.values().filter(|times| **times > 2);
    assert!(begun_anew.count() <= STEP as usize, "{looked_for:?}");
}

#[tokio::test]
async fn a_write_that_fails_leaves_no_redriven_delivery_without_its_hint() {
    let ground = Ground::new().await;
    let direct = ground.open();
    let gone = DeathReason::NoDestination;
    let queued = stored(&ground, 0..EVENTS).await;
    let to = &queued[0].key.destination;
    let buried = direct.bury(to, gone, START, KEEP, EVENTS).await;
    assert_eq!(buried.expect("buried").done, EVENTS);
    let mut asked = 0;
    let proxy = Proxy::start(Emulator::shared().address(), move |request| {
        asked += u32::from(request.operation == "UpdateItem");
        if request.operation == "UpdateItem" && asked == EVENTS / 2 {
            return Fate::Refused(REFUSED.to_owned());
        }
        Fate::Passed
    });
    let clients = clients_at(&proxy.url(), ground.account());
    let backend = ground.open_with(&clients, ground.place.clone());
    let spread = Spread {
        start: START,
        per_second: 1000,
    };
    let redrive = async || backend.requeue(&Selection::AllDead, spread, EVENTS).await;
    redrive().await.expect_err("one write is refused");
    let mut waiting = 0;
    for one in &queued {
        waiting += usize::from(ground.attribute(&one.key, "st").await.as_deref() == Some("0"));
    }
    assert!((1..EVENTS as usize).contains(&waiting), "{waiting}");
    let sent = hints(&ground.clients, &ground.place.deliveries).await;
    // Those of the plans come when they are due.
    let later = sent.iter().filter(|hint| hint.origin == Origin::Later);
    assert_eq!(later.count(), waiting, "each that waits has its hint");
    let rest = redrive().await.expect("redriven");
    assert_eq!(rest.done as usize, queued.len() - waiting);
}

#[tokio::test]
async fn the_steps_of_a_burial_look_for_each_delivery_three_times_at_most() {
    let ground = Ground::new().await;
    stored(&ground, 0..EVENTS).await;
    let proxy = Proxy::start(Emulator::shared().address(), |_| Fate::Passed);
    let clients = clients_at(&proxy.url(), ground.account());
    let backend = ground.open_with(&clients, ground.place.clone());
    let to = DestinationName::parse("to-0").expect("a name");
    let bury = async || {
        let gone = DeathReason::NoDestination;
        let moved = backend.bury(&to, gone, START, KEEP, STEP).await;
        moved.expect("buried")
    };
    let mut left = EVENTS;
    while left > STEP {
        left -= STEP;
        let expected = Moved { done: STEP, left };
        assert_eq!(bury().await, expected);
        if left == STEP * 2 {
            // One that comes meanwhile is found, too.
            stored(&ground, EVENTS..EVENTS + 1).await;
            left += 1;
        }
    }
    assert_eq!(
        bury().await,
        Moved {
            done: left,
            left: 0
        }
    );
    assert_eq!(bury().await, Moved::default(), "all of them");
    let looked_for = looked_for(&proxy);
    assert_eq!(looked_for.len(), EVENTS as usize + 1);
    let most = looked_for.values().max().copied();
    // When it was found, when it was moved, and by the call that found nothing more.
    assert!(most <= Some(3), "{looked_for:?}");
}
