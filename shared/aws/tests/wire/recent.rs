//! The last hour on the wire: what it costs, what viewers share of it, and what it tells.

use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::future::join_all;
use switchboard_aws::Aws;
use switchboard_core::delivery::{DeathReason, DeliveryKey, Next};
use switchboard_core::event::Event;
use switchboard_core::identity::Run;
use switchboard_core::names::ActionName;
use switchboard_core::ports::{Ledger, Queued, Views};
use switchboard_core::time::Timestamp;
use switchboard_core::views::{Health, QueueDepth, Recent, minute_of};
use switchboard_testkit::emulator::Emulator;

use crate::down::switched;
use crate::ground::Ground;
use crate::lost::times;
use crate::proxy::{Fate, Proxy};
use crate::sample::{KEEP, clients_at, delivered, event, go, plan, to, unanswered};
use crate::support::START;
use crate::views::folded;

const SECOND: Duration = Duration::from_secs(1);
const TEN_SECONDS: Duration = Duration::from_secs(10);

pub(crate) fn after(seconds: u64) -> Timestamp {
    START.plus(Duration::from_secs(seconds))
}

/// Stores events, a second after each other, each with a dead letter, a delivery that waits for a pause to end, and one
/// that is done.
pub(crate) async fn stored(backend: &Aws, ids: std::ops::Range<u64>) {
    for n in ids {
        let received_at = after(n);
        let event = Event {
            received_at,
            ..event(&n.to_string(), 10)
        };
        let plan = plan(&event, 3, received_at);
        let accepted = backend.accept(&event, &plan, KEEP).await;
        accepted.expect("stored");
        let nexts = [
            Next::Dead(DeathReason::AttemptsUsedUp),
            Next::Waiting(received_at.plus(Duration::from_mins(1))),
            Next::Delivered,
        ];
        for (queued, next) in plan.iter().zip(nexts) {
            let attempt = go(backend, queued).await;
            let record = match next {
                Next::Delivered => delivered(&attempt),
                Next::Waiting(_) | Next::Dead(_) => unanswered(&attempt),
            };
            let recorded = backend.record(&attempt, &record, next, KEEP).await;
            recorded.expect("recorded");
        }
    }
    folded(backend).await;
}

pub(crate) fn health<'a>(recent: &'a Recent, name: &str) -> &'a Health {
    let found = recent.destinations.get(&to(name));
    found.expect("the totals name it")
}

/// What a refresh of a process asks for that has made one before, so long ago, by operation.
async fn refresh(ground: &Ground, ago: Duration) -> BTreeMap<String, usize> {
    let proxy = Proxy::start(Emulator::shared().address(), |_| Fate::Passed);
    let clients = clients_at(&proxy.url(), ground.account());
    let backend = ground.open_paced(&clients, ground.place.clone(), SECOND);
    let look = async || {
        backend.overview().await.expect("totals");
        backend.recent(after(200)).await.expect("the last hour")
    };
    look().await;
    let before = proxy.requests().len();
    ground.clock.advance(ago);
    let recent = look().await;
    assert_eq!(health(&recent, "to-1").oldest_due, Some(after(60)));
    let requests = proxy.requests();
    let mut counts = BTreeMap::new();
    for request in requests.iter().skip(before) {
        let is_limited = request.body.contains("\"Limit\":");
        let is_of_an_index = request.body.contains("\"IndexName\":");
        assert!(is_limited || !is_of_an_index, "{request:?}");
        *counts.entry(request.operation.clone()).or_default() += 1;
    }
    counts
}

#[tokio::test]
async fn a_refresh_asks_for_the_same_however_much_is_stored() {
    let ground = Ground::new().await;
    let backend = ground.open();
    stored(&backend, 0..20).await;
    let few = refresh(&ground, TEN_SECONDS).await;
    stored(&backend, 20..150).await;
    let many = refresh(&ground, TEN_SECONDS).await;
    assert_eq!(few, many);
    let expected = [
        // The items of two hours for a source and three destinations; records of the oldest recent events.
        ("BatchGetItem", 2),
        ("DescribeStream", 1),
        // The settings; the totals of what is read to its end; how far the keeper's walk is.
        ("GetItem", 3),
        ("GetQueueAttributes", 1),
        ("GetRecords", 1),
        // The totals, for the fold and behind it; the four parts of one source's events and of what waits.
        ("Query", 10),
    ];
    let expected = expected.map(|(operation, count)| (operation.to_owned(), count));
    assert_eq!(many, BTreeMap::from(expected));
}

#[tokio::test]
async fn what_waits_for_longest_is_read_every_ten_seconds_and_at_once_for_another_destination() {
    let ground = Ground::new().await;
    let backend = ground.open();
    stored(&backend, 0..3).await;
    let nearly = TEN_SECONDS.saturating_sub(Duration::from_millis(1));
    let expected = [
        ("BatchGetItem", 1),
        ("DescribeStream", 1),
        ("GetItem", 1),
        ("GetQueueAttributes", 1),
        ("GetRecords", 1),
        ("Query", 2),
    ];
    let expected = expected.map(|(operation, count)| (operation.to_owned(), count));
    let expected = BTreeMap::from(expected);
    assert_eq!(refresh(&ground, SECOND).await, expected);
    assert_eq!(refresh(&ground, nearly).await, expected);

    let viewer = ground.open_paced(&ground.clients, ground.place.clone(), SECOND);
    viewer.recent(after(200)).await.expect("the last hour");
    // Of `to-0` nothing waited.
    let event = event("new", 10);
    let received_at = after(150);
    let event = Event {
        received_at,
        ..event
    };
    let plan = plan(&event, 1, received_at);
    backend.accept(&event, &plan, KEEP).await.expect("stored");
    folded(&backend).await;
    ground.clock.advance(SECOND);
    let recent = viewer.recent(after(200)).await.expect("the last hour");
    assert_eq!(health(&recent, "to-0").oldest_due, Some(received_at));
    assert_eq!(health(&recent, "to-1").oldest_due, Some(after(60)));
}

#[tokio::test]
async fn a_refresh_where_nothing_waits_reads_no_index() {
    let ground = Ground::new().await;
    let proxy = Proxy::start(Emulator::shared().address(), |_| Fate::Passed);
    let clients = clients_at(&proxy.url(), ground.account());
    let backend = ground.open_paced(&clients, ground.place.clone(), SECOND);
    let event = event("1", 10);
    let plan = plan(&event, 1, START);
    let direct = ground.open();
    direct.accept(&event, &plan, KEEP).await.expect("stored");
    let attempt = go(&direct, &plan[0]).await;
    let record = delivered(&attempt);
    let recorded = direct.record(&attempt, &record, Next::Delivered, KEEP);
    recorded.await.expect("recorded");
    let recent = backend.recent(after(9)).await.expect("the last hour");
    assert_eq!(health(&recent, "to-0").delivered, 1);
    assert_eq!(times(&proxy, "BatchGetItem"), 1);
    let requests = proxy.requests();
    let mut of_indexes = requests.iter().filter(|r| r.body.contains("IndexName"));
    assert!(of_indexes.next().is_none());
}

#[tokio::test]
async fn viewers_share_the_last_hour_for_a_second() {
    let ground = Ground::new().await;
    let proxy = Proxy::start(Emulator::shared().address(), |_| Fate::Passed);
    let clients = clients_at(&proxy.url(), ground.account());
    let backend = ground.open_paced(&clients, ground.place.clone(), SECOND);
    stored(&ground.open(), 0..1).await;
    let look = async |now: Timestamp| {
        let viewers =
            (0..20).map(|_| async { tokio::join!(backend.overview(), backend.recent(now)) });
        for (totals, recent) in join_all(viewers).await {
            assert_eq!(totals.expect("totals").totals.stored, 1);
            assert_eq!(recent.expect("the last hour").minutes.len(), 60);
        }
        let asked = ["DescribeStream", "GetQueueAttributes"];
        asked.map(|operation| times(&proxy, operation))
    };
    assert_eq!(Box::pin(look(after(9))).await, [1, 1]);
    ground.clock.advance(Duration::from_millis(999));
    assert_eq!(Box::pin(look(after(10))).await, [1, 1], "shared");
    ground.clock.advance(Duration::from_millis(1));
    assert_eq!(Box::pin(look(after(10))).await, [2, 2], "made anew");
    let next_minute = after(70);
    assert_eq!(
        Box::pin(look(next_minute)).await,
        [2, 3],
        "another hour is another answer"
    );
    let recent = backend.recent(next_minute).await.expect("the last hour");
    assert_eq!(minute_of(recent.since), minute_of(next_minute) - 59);
}

#[tokio::test]
async fn many_names_are_read_a_hundred_at_once() {
    let ground = Ground::new().await;
    let proxy = Proxy::start(Emulator::shared().address(), |_| Fate::Passed);
    let clients = clients_at(&proxy.url(), ground.account());
    let backend = ground.open_paced(&clients, ground.place.clone(), SECOND);
    let event = event("1", 10);
    let planned = plan(&event, 60, START);
    let accepted = backend.accept(&event, &planned, KEEP).await;
    accepted.expect("stored");
    for queued in &planned {
        let attempt = go(&backend, queued).await;
        let record = delivered(&attempt);
        let recorded = backend.record(&attempt, &record, Next::Delivered, KEEP);
        recorded.await.expect("recorded");
    }
    let recent = backend.recent(after(9)).await.expect("the last hour");
    // Two hours of 61 names.
    assert_eq!(times(&proxy, "BatchGetItem"), 2);
    assert_eq!(recent.destinations.len(), 60);
    assert!(
        recent
            .destinations
            .values()
            .all(|health| health.delivered == 1)
    );
}

#[tokio::test]
async fn the_oldest_due_is_told_of_whatever_waits() {
    let ground = Ground::new().await;
    let backend = ground.open();
    let waits = async |id: &str, at: u64, due: Option<u64>| {
        let event = Event {
            received_at: after(at),
            ..event(id, 10)
        };
        let plan = plan(&event, 1, after(at));
        let accepted = backend.accept(&event, &plan, KEEP).await;
        accepted.expect("stored");
        if let Some(due) = due {
            let attempt = go(&backend, &plan[0]).await;
            let record = unanswered(&attempt);
            let recorded = backend.record(&attempt, &record, Next::Waiting(after(due)), KEEP);
            recorded.await.expect("recorded");
        }
    };
    let oldest = async || {
        folded(&backend).await;
        let recent = backend.recent(after(100)).await.expect("the last hour");
        health(&recent, "to-0").oldest_due
    };
    // The first that waits is due last; what is due first was received behind the others.
    for (id, at, due) in [("1", 1, 90), ("2", 2, 60), ("3", 3, 70), ("4", 59, 59)] {
        waits(id, at, Some(due)).await;
        let expected = if id == "1" { 90 } else { due.min(60) };
        assert_eq!(oldest().await, Some(after(expected)), "{id}");
    }
    // One that was never attempted has no record: it is looked for among the oldest recent events.
    waits("5", 40, None).await;
    assert_eq!(oldest().await, Some(after(40)));
}

#[tokio::test]
async fn the_queue_tells_how_much_it_holds_and_all_else_is_told_without_it() {
    let ground = Ground::new().await;
    let (proxy, switch) = switched("GetQueueAttributes");
    let clients = clients_at(&proxy.url(), ground.account());
    let backend = ground.open_with(&clients, ground.place.clone());
    let event = event("1", 10);
    let soon = START;
    let mut planned = plan(&event, 2, soon);
    planned.push(Queued {
        key: DeliveryKey::of(&event.id, to("later"), ActionName::deliver(), Run(0)),
        due: soon.plus(Duration::from_mins(10)),
    });
    let accepted = backend.accept(&event, &planned, KEEP).await;
    accepted.expect("stored");
    let received = ground.clients.sqs.receive_message();
    let received = received.queue_url(&ground.place.deliveries).send().await;
    received.expect("one in flight");
    let depth = async || backend.recent(after(9)).await.expect("told").queue;
    let expected = QueueDepth {
        visible: 1,
        in_flight: 1,
        delayed: 1,
    };
    assert_eq!(depth().await, Some(expected));
    switch.down();
    assert_eq!(depth().await, None, "not known, which is not empty");
}

#[tokio::test]
async fn answer_times_go_ten_minutes_at_a_time_and_counts_by_the_minute() {
    let ground = Ground::new().await;
    let backend = ground.open();
    let event = event("1", 10);
    let planned = plan(&event, 1, START);
    let accepted = backend.accept(&event, &planned, KEEP).await;
    accepted.expect("stored");
    let attempt = go(&backend, &planned[0]).await;
    let record = delivered(&attempt);
    let recorded = backend.record(&attempt, &record, Next::Delivered, KEEP);
    recorded.await.expect("recorded");
    folded(&backend).await;
    assert_eq!(
        minute_of(START).rem_euclid(60),
        0,
        "the first of ten minutes"
    );
    for (minutes, counts, times) in [
        (0, 1, Some(10)),
        (59, 1, Some(10)),
        // The other nine minutes are still in the hour.
        (60, 0, Some(10)),
        (68, 0, Some(10)),
        (69, 0, None),
    ] {
        let recent = backend.recent(after(minutes * 60)).await.expect("told");
        let told = health(&recent, "to-0");
        let found = (told.delivered, told.p50_ms.map(|bound| bound.ms));
        assert_eq!(found, (counts, times), "{minutes} minutes later");
    }
    let earlier = Timestamp::from_millis(START.millis() - 60_000);
    let recent = backend.recent(earlier).await.expect("told");
    assert_eq!(health(&recent, "to-0").p50_ms, None, "not yet");
}
