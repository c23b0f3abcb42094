//! How long what belongs to an event stays, once the event is made to live longer.

use std::time::Duration;

use switchboard_aws::Aws;
use switchboard_aws::client::{OPERATION, RECORDING};
use switchboard_core::delivery::{DeathReason, DeliveryKey, Next};
use switchboard_core::endpoint::Change;
use switchboard_core::event::Event;
use switchboard_core::identity::Run;
use switchboard_core::ports::{Accepted, Begun, Ledger, Queued, Recorded, SameBody, SettingsStore};
use switchboard_core::time::Timestamp;
use switchboard_testkit::emulator::Emulator;

use crate::ground::Ground;
use crate::proxy::{Fate, Proxy, Request};
use crate::sample::{KEEP, clients_at, delivered, event, go, hint, hints, plan, unanswered};
use crate::support::START;

const USED_UP: Next = Next::Dead(DeathReason::AttemptsUsedUp);
const DAY: Duration = Duration::from_hours(24);
/// More requests than a step here makes.
const MOST: usize = 60;

/// Why an event is needed longer.
#[derive(Clone, Copy, Debug)]
enum Cause {
    Death,
    Hold,
    /// A pause that reaches behind the event's life.
    Pause,
}

/// An event with a body in parts, stored by a backend of its own, and its two deliveries.
async fn stored_in(ground: &Ground) -> (Aws, Event, [Queued; 2]) {
    let backend = ground.open();
    let event = event("1001", 100);
    let planned = plan(&event, 2, START);
    let stored = backend.accept(&event, &planned, KEEP).await;
    stored.expect("stored");
    (backend, event, planned.try_into().expect("two"))
}

/// An event with a body in parts and two deliveries, of which the second was delivered by its first hint.
struct Scene {
    ground: Ground,
    backend: Aws,
    event: Event,
    open: Queued,
    done: Queued,
}

impl Scene {
    async fn new() -> Self {
        let ground = Ground::new().await;
        let (backend, event, [open, done]) = stored_in(&ground).await;
        let scene = Self {
            ground,
            backend,
            event,
            open,
            done,
        };
        scene.deliver_by_its_first_hint().await;
        scene
    }

    async fn deliver_by_its_first_hint(&self) {
        let hints = hints(&self.ground.clients, &self.ground.place.deliveries).await;
        let mut own = hints.iter().filter(|hint| hint.key == self.done.key);
        let first = own.next().expect("its hint");
        let begun = self.backend.begin_message(first, 1, START).await;
        let Begun::Go(attempt) = begun.expect("begun") else {
            panic!("it is due");
        };
        let record = delivered(&attempt);
        let recorded = self
            .backend
            .record(&attempt, &record, Next::Delivered, KEEP);
        assert_eq!(recorded.await.expect("recorded"), Recorded::First);
    }

    /// Fails the open delivery by this backend.
    async fn fail(&self, backend: &Aws, next: Next) -> bool {
        let attempt = go(&self.backend, &self.open).await;
        let record = unanswered(&attempt);
        backend.record(&attempt, &record, next, KEEP).await.is_ok()
    }

    async fn cause(&self, cause: Cause) {
        match cause {
            Cause::Death => assert!(self.fail(&self.backend, USED_UP).await),
            Cause::Pause => {
                let due = KEEP.until(START).plus(4 * DAY);
                assert!(self.fail(&self.backend, Next::Waiting(due)).await);
            }
            Cause::Hold => {
                let to = &self.open.key.destination;
                let change = self.backend.change(Change::Hold(to.clone())).await;
                change.expect("held");
                let moved = self.backend.shelve(to, START, KEEP, 10).await;
                assert_eq!(moved.expect("held").done, 1);
            }
        }
    }

    /// When the event may be removed.
    async fn end(&self) -> Timestamp {
        let ends = self.ground.ends(&self.event.id).await;
        Timestamp::from_seconds(ends["A"])
    }

    /// At that moment the event may be gone; if it is not, the delivered one does not look as if it waited.
    async fn nothing_looks_undelivered(&self, at: Timestamp, told: &str) {
        self.ground.let_expire(&self.event.id, at).await;
        let begun = self.backend.begin(&hint(&self.done), at).await;
        assert_eq!(begun.expect("begun"), Begun::Drop, "{told}");
        let again = Event {
            received_at: at,
            ..self.event.clone()
        };
        let accepted = self.backend.accept(&again, &[], KEEP).await;
        accepted.expect("an answer");
        let hints = hints(&self.ground.clients, &self.ground.place.deliveries).await;
        let of_it = hints.iter().filter(|hint| hint.key == self.done.key);
        assert_eq!(of_it.count(), 0, "{told}: it is not delivered once more");
    }
}

#[tokio::test]
async fn what_belongs_to_an_event_stays_as_long_as_that_is_made_to() {
    for cause in [Cause::Death, Cause::Hold, Cause::Pause] {
        let scene = Scene::new().await;
        let usual = scene.end().await;
        let repeat = Accepted::Repeat(SameBody::Yes);
        let again = scene.backend.accept(&scene.event, &[], KEEP).await;
        assert_eq!(again.expect("counted"), repeat);
        let (to, action) = (&scene.done.key.destination, &scene.done.key.action);
        let key = DeliveryKey::of(&scene.event.id, to.clone(), action.clone(), Run(1));
        let run = [Queued { key, due: START }];
        let replayed = scene.backend.replay(&scene.event.id, Run(1), &run).await;
        assert!(replayed.expect("stored"));
        scene.cause(cause).await;

        let end = scene.end().await;
        assert!(end > usual.plus(DAY), "{cause:?}: the event stays longer");
        let ends = scene.ground.ends(&scene.event.id).await;
        assert_eq!(ends.len(), 6, "three records, a run, a repeat: {ends:?}");
        for (sort, stays) in ends.iter().filter(|(sort, _)| *sort != "A") {
            assert!(*stays > end.seconds(), "{cause:?}: {sort}, {ends:?}");
        }
        let late = Timestamp::from_seconds(end.seconds() - 3601);
        scene
            .nothing_looks_undelivered(late, &format!("{cause:?}"))
            .await;
        let left = scene.ground.sorts(&scene.event.id, "A").await;
        assert_eq!(left, ["A"], "{cause:?}: it still is there");
    }
}

#[tokio::test]
async fn wherever_a_death_is_cut_nothing_looks_undelivered_later() {
    let mut ended = false;
    for count in 0..MOST {
        let scene = Scene::new().await;
        let usual = scene.end().await;
        ended = scene.fail(&scene.ground.cut_after(count), USED_UP).await;
        let told = format!("cut after {count} requests");
        // What is not extended goes in any order, within days.
        for at in [
            usual.plus(2 * DAY),
            usual.plus(5 * DAY),
            usual.plus(80 * DAY),
        ] {
            scene.nothing_looks_undelivered(at, &told).await;
        }
        if ended {
            break;
        }
    }
    assert!(ended, "the step never comes to its end");
}

#[tokio::test]
async fn the_parts_of_a_body_stay_as_long_as_their_event_is_made_to() {
    let ground = Ground::new().await;
    let backend = ground.open();
    let event = event("1001", 800_000);
    let planned = plan(&event, 1, START);
    backend
        .accept(&event, &planned, KEEP)
        .await
        .expect("stored");
    // As one whose pauses are a week each comes to in the end.
    let due = KEEP.until_when_dead(START).plus(30 * DAY);
    let attempt = go(&backend, &planned[0]).await;
    let record = unanswered(&attempt);
    let recorded = backend.record(&attempt, &record, Next::Waiting(due), KEEP);
    recorded.await.expect("recorded");
    let ends = ground.ends(&event.id).await;
    assert_eq!(ends.len(), 5, "three parts: {ends:?}");
    assert!(ends["A"] > due.seconds());
    for (sort, stays) in ends.iter().filter(|(sort, _)| *sort != "A") {
        assert!(*stays > ends["A"], "{sort}, {ends:?}");
    }
}

#[tokio::test]
async fn a_record_that_is_written_over_stays_as_long_as_it_was_made_to() {
    let ground = Ground::new().await;
    let (backend, event, [first, second]) = stored_in(&ground).await;
    let attempt = go(&backend, &first).await;
    let record = unanswered(&attempt);
    let recorded = backend.record(&attempt, &record, Next::Waiting(START), KEEP);
    recorded.await.expect("recorded");
    // Begun by one process; another one makes all of it stay longer.
    let slow = go(&backend, &first).await;
    let other = ground.open();
    let due = KEEP.until_when_dead(START).plus(30 * DAY);
    let attempt = go(&other, &second).await;
    let record = unanswered(&attempt);
    let recorded = other.record(&attempt, &record, Next::Waiting(due), KEEP);
    recorded.await.expect("recorded");
    let sort = format!("D#{}", first.key.id);
    let made = ground.ends(&event.id).await[&sort];
    assert!(made > due.seconds());
    let record = delivered(&slow);
    let recorded = backend.record(&slow, &record, Next::Delivered, KEEP).await;
    assert_eq!(recorded.expect("recorded"), Recorded::First);
    assert_eq!(ground.ends(&event.id).await[&sort], made);
    let state = ground.attribute(&first.key, "st").await;
    assert_eq!(state.as_deref(), Some("2"));
}

#[tokio::test]
async fn a_record_takes_the_longer_life_of_an_event_that_was_read() {
    let ground = Ground::new().await;
    let (backend, event, [first, second]) = stored_in(&ground).await;
    let dying = go(&backend, &first).await;
    let record = unanswered(&dying);
    backend
        .record(&dying, &record, USED_UP, KEEP)
        .await
        .expect("recorded");
    let attempt = go(&ground.open(), &second).await;
    // Recorded by a process that saw nothing of its beginning, too.
    let record = delivered(&attempt);
    let recorded = ground
        .open()
        .record(&attempt, &record, Next::Delivered, KEEP)
        .await;
    recorded.expect("recorded");
    let until = ground.attribute(&second.key, "un").await;
    let longer = KEEP.until_when_dead(START).millis().to_string();
    assert_eq!(until, Some(longer));
    let ends = ground.ends(&event.id).await;
    assert!(ends.values().all(|end| *end >= ends["A"]), "{ends:?}");
}

#[tokio::test]
async fn a_second_death_of_an_event_reads_how_long_that_stays_and_no_more() {
    let scene = Scene::new().await;
    scene.cause(Cause::Death).await;
    let (to, action) = (&scene.done.key.destination, &scene.done.key.action);
    let key = DeliveryKey::of(&scene.event.id, to.clone(), action.clone(), Run(1));
    let run = [Queued { key, due: START }];
    let replayed = scene.backend.replay(&scene.event.id, Run(1), &run).await;
    assert!(replayed.expect("stored"));
    let proxy = Proxy::start(Emulator::shared().address(), |_| Fate::Passed);
    let clients = clients_at(&proxy.url(), scene.ground.account());
    let backend = scene.ground.open_with(&clients, scene.ground.place.clone());
    let attempt = go(&backend, &run[0]).await;
    let before = proxy.operations().len();
    let record = unanswered(&attempt);
    backend
        .record(&attempt, &record, USED_UP, KEEP)
        .await
        .expect("recorded");
    let mut made = proxy.operations().split_off(before);
    made.retain(|operation| operation != "SendMessage");
    // That the settings know the destination, once in a process; the record; that its ticket is put.
    assert_eq!(made, ["UpdateItem", "UpdateItem", "UpdateItem"]);
}

#[tokio::test]
async fn a_death_is_recorded_by_as_many_calls_as_its_attempt_leaves_time_for() {
    let scene = Scene::new().await;
    let proxy = Proxy::start(Emulator::shared().address(), |_| Fate::Passed);
    let clients = clients_at(&proxy.url(), scene.ground.account());
    let backend = scene.ground.open_with(&clients, scene.ground.place.clone());
    let attempt = go(&backend, &scene.open).await;
    let before = proxy.requests().len();
    let record = unanswered(&attempt);
    backend
        .record(&attempt, &record, USED_UP, KEEP)
        .await
        .expect("recorded");
    let made = proxy.requests().split_off(before);
    let own = format!("D#{}", scene.open.key.id);
    let recorded =
        |request: &Request| request.operation == "UpdateItem" && request.body.contains(&own);
    let calls = made.iter().position(recorded).expect("recorded") + 1;
    let calls = u32::try_from(calls).expect("few");
    assert_eq!(OPERATION * calls, RECORDING, "{calls} calls");
}

#[tokio::test]
async fn what_dies_without_a_record_stays_no_longer_than_its_event_needs() {
    let ground = Ground::new().await;
    let backend = ground.open();
    let event = event("1001", 100);
    let planned = plan(&event, 2, START);
    backend
        .accept(&event, &planned, KEEP)
        .await
        .expect("stored");
    let dying = go(&backend, &planned[0]).await;
    let record = unanswered(&dying);
    backend
        .record(&dying, &record, USED_UP, KEEP)
        .await
        .expect("recorded");
    let gone = DeathReason::NoDestination;
    let to = &planned[1].key.destination;
    let buried = backend.bury(to, gone, START, KEEP, 10).await;
    assert_eq!(buried.expect("buried").done, 1);
    let ends = ground.ends(&event.id).await;
    let own = ends[&format!("D#{}", planned[1].key.id)];
    assert_eq!(own, ends[&format!("D#{}", planned[0].key.id)], "{ends:?}");
}
