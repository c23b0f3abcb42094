//! Every step cut at each of its requests, as the end of its process would, and called again by another process: together
//! they are the step once.

use std::time::Duration;

use switchboard_aws::Aws;
use switchboard_core::delivery::{DeathReason, DeliveryKey, Next};
use switchboard_core::endpoint::Change;
use switchboard_core::identity::Run;
use switchboard_core::names::DestinationName;
use switchboard_core::ports::{Accepted, Ledger, Queued, Selection, SettingsStore, Spread};

use crate::ground::{Cut, Ground};
use crate::sample::{KEEP, delivered, event, go, hints, plan, received, unanswered};
use crate::support::START;

/// More requests than any step here makes.
const MOST: usize = 60;
const USED_UP: Next = Next::Dead(DeathReason::AttemptsUsedUp);

/// A table with one event of two deliveries, and a backend that nothing cuts.
struct Scene {
    ground: Ground,
    whole: Aws,
    plan: Vec<Queued>,
}

impl Scene {
    async fn new() -> Self {
        let ground = Ground::new().await;
        let whole = ground.open();
        let event = event("1001", 10);
        let plan = plan(&event, 2, START);
        whole.accept(&event, &plan, KEEP).await.expect("stored");
        let scene = Self {
            ground,
            whole,
            plan,
        };
        scene.empty_queues().await;
        scene
    }

    /// A backend of another process, of whose requests `count` get through and none after them.
    fn cut_after(&self, count: usize) -> Cut {
        self.ground.cut_after(count)
    }

    async fn empty_queues(&self) {
        let place = &self.ground.place;
        for queue in [&place.deliveries, &place.dead_letters] {
            received(&self.ground.clients, queue).await;
        }
    }

    fn first(&self) -> &DeliveryKey {
        &self.plan.first().expect("planned").key
    }

    fn destination(&self) -> &DestinationName {
        &self.first().destination
    }

    /// An attribute of the first delivery's record.
    async fn found(&self, name: &str) -> String {
        let value = self.ground.attribute(self.first(), name).await;
        value.unwrap_or_else(|| "none".to_owned())
    }

    /// Attempts every delivery and records that it failed for the last time, or was delivered.
    async fn end_all(&self, next: Next) {
        for queued in &self.plan {
            let attempt = go(&self.whole, queued).await;
            let record = match next {
                Next::Delivered => delivered(&attempt),
                Next::Waiting(_) | Next::Dead(_) => unanswered(&attempt),
            };
            let recorded = self.whole.record(&attempt, &record, next, KEEP).await;
            recorded.expect("recorded");
        }
        self.empty_queues().await;
    }

    async fn change(&self, change: Change) {
        self.whole.change(change).await.expect("changed");
    }
}

/// Makes a step on a scene that is `ready`, cut after no request, after one, and so on until it comes to its end; called
/// again where it was cut, and checked each time.
macro_rules! wherever_it_is_cut {
    ($scene:ident, $told:ident, ready: { $($ready:tt)* }, step: |$backend:ident| $step:expr, check: |$answer:ident| $check:block) => {{
        let mut ended = false;
        for count in 0..MOST {
            let $scene = Scene::new().await;
            $($ready)*
            let $told = format!("cut after {count} requests");
            let cut = $scene.cut_after(count);
            let $backend = &*cut;
            let first = $step.await;
            ended = first.is_ok();
            let $answer = match first {
                Ok(answer) => answer,
                Err(_) => {
                    let $backend = &$scene.whole;
                    $step.await.expect("completed")
                }
            };
            $check
            if ended {
                assert!(count > 0, "the step makes no request");
                break;
            }
        }
        assert!(ended, "the step never comes to its end");
    }};
}

#[tokio::test]
async fn an_event_is_stored_once_with_its_plan() {
    let event = event("1002", 400_000);
    let planned = plan(&event, 2, START);
    wherever_it_is_cut!(scene, told,
        ready: {},
        step: |backend| backend.accept(&event, &planned, KEEP),
        check: |answer| {
            let again = scene.whole.accept(&event, &planned, KEEP).await;
            assert_ne!(again.expect("counted"), Accepted::New, "{told}: {answer:?}");
            for queued in &planned {
                let attempt = go(&scene.whole, queued).await;
                assert!(attempt.event.body == event.body, "{told}");
            }
        }
    );
}

#[tokio::test]
async fn a_failed_attempt_is_kept_once_and_its_hint_sent() {
    wherever_it_is_cut!(scene, told,
        ready: {
            let attempt = go(&scene.whole, scene.plan.first().expect("planned")).await;
            let record = unanswered(&attempt);
        },
        step: |backend| backend.record(&attempt, &record, Next::Waiting(START), KEEP),
        check: |_answer| {
            assert_eq!(scene.found("n").await, "1", "{told}");
            let log = scene.found("log").await;
            assert_eq!(log.matches("duration_ms").count(), 1, "{told}");
            let hints = received(&scene.ground.clients, &scene.ground.place.deliveries).await;
            assert!(!hints.is_empty(), "{told}: it goes on");
        }
    );
}

#[tokio::test]
async fn a_last_attempt_makes_one_dead_letter_with_a_ticket() {
    wherever_it_is_cut!(scene, told,
        ready: {
            let attempt = go(&scene.whole, scene.plan.first().expect("planned")).await;
            let record = unanswered(&attempt);
        },
        step: |backend| backend.record(&attempt, &record, USED_UP, KEEP),
        check: |_answer| {
            let stands = (scene.found("st").await, scene.found("n").await);
            assert_eq!(stands, ("3".to_owned(), "1".to_owned()), "{told}");
            let until = KEEP.until_when_dead(START).millis().to_string();
            let event = scene.ground.event_attribute(&scene.first().event, "un").await;
            assert_eq!(event, Some(until), "{told}: its event lives longer");
            let tickets = received(&scene.ground.clients, &scene.ground.place.dead_letters).await;
            assert!(!tickets.is_empty(), "{told}: a ticket");
        }
    );
}

#[tokio::test]
async fn every_dead_letter_is_put_back_and_looked_at() {
    let spread = Spread {
        start: START,
        per_second: 10,
    };
    wherever_it_is_cut!(scene, told,
        ready: { scene.end_all(USED_UP).await; },
        step: |backend| backend.requeue(&Selection::AllDead, spread, 10),
        check: |moved| {
            assert_eq!(moved.left, 0, "{told}");
            for queued in &scene.plan {
                let found = async |name| scene.ground.attribute(&queued.key, name).await;
                let round = (found("st").await, found("bs").await);
                let expected = (Some("0".to_owned()), Some("1".to_owned()));
                assert_eq!(round, expected, "{told}: a new round");
                assert!(found("lk").await.is_some(), "{told}: the keeper finds it");
            }
        }
    );
}

#[tokio::test]
async fn what_is_due_of_a_held_destination_is_held() {
    wherever_it_is_cut!(scene, told,
        ready: { scene.change(Change::Hold(scene.destination().clone())).await; },
        step: |backend| backend.shelve(scene.destination(), START, KEEP, 10),
        check: |_moved| {
            assert_eq!(scene.found("st").await, "1", "{told}");
        }
    );
}

#[tokio::test]
async fn what_is_held_is_put_back_and_looked_at() {
    let spread = Spread {
        start: START,
        per_second: 10,
    };
    wherever_it_is_cut!(scene, told,
        ready: {
            let to = scene.destination();
            scene.change(Change::Hold(to.clone())).await;
            scene.whole.shelve(to, START, KEEP, 10).await.expect("held");
            scene.change(Change::Release(to.clone(), spread)).await;
        },
        step: |backend| backend.release(scene.destination(), START, 10),
        check: |_moved| {
            assert_eq!(scene.found("st").await, "0", "{told}");
            assert_ne!(scene.found("lk").await, "none", "{told}: the keeper finds it");
        }
    );
}

#[tokio::test]
async fn what_is_open_is_buried() {
    wherever_it_is_cut!(scene, told,
        ready: {},
        step: |backend| {
            backend.bury(scene.destination(), DeathReason::NoDestination, START, KEEP, 10)
        },
        check: |_moved| {
            let stands = (scene.found("st").await, scene.found("n").await);
            assert_eq!(stands, ("3".to_owned(), "0".to_owned()), "{told}");
            let until = KEEP.until_when_dead(START).millis().to_string();
            let event = scene.ground.event_attribute(&scene.first().event, "un").await;
            assert_eq!(event, Some(until), "{told}: its event lives longer");
        }
    );
}

#[tokio::test]
async fn a_run_is_stored_with_the_records_of_its_deliveries() {
    wherever_it_is_cut!(scene, told,
        ready: {
            let of = |to: &str| {
                let name = DestinationName::parse(to).expect("a name");
                let first = scene.first();
                let key = DeliveryKey::of(&first.event, name, first.action.clone(), Run(1));
                Queued { key, due: START }
            };
            let run = [of("to-0"), of("crm")];
        },
        step: |backend| backend.replay(&scene.first().event, Run(1), &run),
        check: |stored| {
            assert!(stored, "{told}");
            let runs = scene.ground.sorts(&scene.first().event, "P#").await;
            assert_eq!(runs, ["P#000001"], "{told}");
            for queued in &run {
                let look = scene.ground.attribute(&queued.key, "lk").await;
                assert!(look.is_some(), "{told}: the keeper finds it");
            }
            let sent = hints(&scene.ground.clients, &scene.ground.place.deliveries).await;
            for queued in &run {
                assert!(sent.iter().any(|hint| hint.key == queued.key), "{told}: it is queued");
            }
        }
    );
}

#[tokio::test]
async fn an_event_past_its_life_is_removed_whole() {
    let past = KEEP.until(START).plus(Duration::from_secs(1));
    wherever_it_is_cut!(scene, told,
        ready: { scene.end_all(Next::Delivered).await; },
        step: |backend| backend.expire(past, 10),
        check: |_moved| {
            let left = scene.ground.sorts(&scene.first().event, "").await;
            assert_eq!(left, [""; 0], "{told}");
        }
    );
}
