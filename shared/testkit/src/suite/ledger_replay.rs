//! `Ledger::replay`: a further run of a stored event, with a plan and deliveries of its own, once.
//!
//! Taken to mean: run 0 is stored from the first receipt on. `unrouted` counts how an event was accepted; a replay
//! does not change it. Nothing is asked about a further run with an empty plan.

use switchboard_core::delivery::State;
use switchboard_core::identity::Run;
use switchboard_core::ports::{Accepted, Ledger, Queued};
use switchboard_core::views::DELIVERIES_SHOWN;

use super::fixture::Fixture;
use super::sample::{MANY, START, after, event, plan};
use super::stage::{Followed, Stage, sure};

pub async fn a_replay_gives_new_deliveries_by_its_own_plan<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let followed = stage.one("shop", "1001", "chat", START).await;
    stage.deliver(&followed, START).await;
    let before = stage.view(&followed).await;
    let event = &followed.event;
    let todays = plan(event, Run(1), &["chat", "crm"], after(9));
    assert!(stage.replay(&event.id, Run(1), &todays).await);

    let view = stage.stored(&event.id).await;
    assert_eq!(view.deliveries.len(), 3);
    for Queued { key, due } in &todays {
        assert_ne!(key.id, followed.key.id, "an idempotency key of its own");
        let found = stage.stands(&event.id, key).await;
        assert_eq!((found.state, found.due), (State::Waiting, Some(*due)));
        assert_eq!((found.run, found.attempts), (Run(1), 0));
        let attempt = stage.go(key, *due).await;
        assert_eq!((attempt.number, attempt.in_round), (1, 1));
        assert_eq!(*attempt.event, *event);
    }
    assert_eq!(stage.view(&followed).await, before, "run 0 stays as it is");
    let totals = stage.totals().await;
    assert_eq!((totals.stored, totals.received), (1, 1));
    assert_eq!((totals.delivered, totals.waiting), (1, 2));
}

pub async fn a_run_that_is_stored_changes_nothing<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let followed = stage.one("shop", "1001", "chat", START).await;
    let event = &followed.event;
    let first = plan(event, Run(1), &["chat", "crm"], after(9));
    assert!(stage.replay(&event.id, Run(1), &first).await);
    let [chat, crm] = first.as_slice() else {
        panic!("two planned");
    };
    stage.go(&chat.key, after(9)).await;
    let follow = |key| Followed {
        key,
        ..followed.clone()
    };
    stage.deliver(&follow(chat.key.clone()), after(9)).await;
    stage.die(&follow(crm.key.clone()), after(9)).await;
    let before = (stage.stored(&event.id).await, stage.overview().await);
    let other = plan(event, Run(1), &["chat", "warehouse"], after(20));
    for again in [&first, &other] {
        assert!(stage.replay(&event.id, Run(1), again).await, "it is stored");
        let now = (stage.stored(&event.id).await, stage.overview().await);
        assert_eq!(now, before);
    }
    let accepted = plan(event, Run(0), &["crm"], after(20));
    assert!(stage.replay(&event.id, Run(0), &accepted).await);
    assert_eq!(stage.stored(&event.id).await, before.0, "run 0 is stored");
}

pub async fn an_unknown_event_cannot_be_replayed<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let unknown = event("shop", "1001", START);
    let run = plan(&unknown, Run(1), &["chat"], START);
    assert!(!stage.replay(&unknown.id, Run(1), &run).await);
    assert_eq!(stage.event(&unknown.id).await, None);
    assert_eq!(stage.totals().await.waiting, 0);
}

pub async fn every_run_has_its_own_deliveries<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let followed = stage.one("shop", "1001", "chat", START).await;
    let event = &followed.event;
    for run in 1..=4 {
        let plan = plan(event, Run(run), &["chat"], after(u64::from(run)));
        assert!(stage.replay(&event.id, Run(run), &plan).await);
    }
    let view = stage.stored(&event.id).await;
    let mut runs: Vec<_> = view.deliveries.iter().map(|d| d.run.0).collect();
    runs.sort_unstable();
    assert_eq!(runs, [0, 1, 2, 3, 4]);
    assert_eq!(stage.totals().await.waiting, 5);
}

pub async fn of_many_runs_the_newest_deliveries_are_shown_and_all_are_counted<F: Fixture>(
    fixture: F,
) {
    let stage = Stage::open(fixture).await;
    let followed = stage.one("shop", "1001", "chat", START).await;
    let event = &followed.event;
    let all = u32::try_from(DELIVERIES_SHOWN).expect("a number") + 1;
    for run in (1..all).map(Run) {
        let plan = plan(event, run, &["chat"], after(9));
        assert!(stage.replay(&event.id, run, &plan).await);
    }
    let view = stage.stored(&event.id).await;
    let runs: Vec<_> = view.deliveries.iter().map(|shown| shown.run).collect();
    assert_eq!(runs, (1..all).map(Run).collect::<Vec<_>>(), "not the first");
    let counted = view.row.deliveries.get(State::Waiting.as_str());
    assert_eq!(counted, Some(&u64::from(all)));
    // The newest run is shown whole.
    let names: Vec<_> = (0..=all).map(|n| format!("to-{n:03}")).collect();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let wide = plan(event, Run(all), &names, after(9));
    assert!(stage.replay(&event.id, Run(all), &wide).await);
    let view = stage.stored(&event.id).await;
    assert_eq!(view.deliveries.len(), names.len());
    assert!(view.deliveries.iter().all(|shown| shown.run == Run(all)));
}

pub async fn the_same_run_at_once_is_stored_once<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let followed = stage.one("shop", "1001", "chat", START).await;
    let event = followed.event.clone();
    let run = plan(&event, Run(1), &["chat", "crm"], after(9));
    let id = event.id.clone();
    let answers = stage
        .at_once(20, move |backend, _| {
            let (id, run) = (id.clone(), run.clone());
            async move { sure(backend.replay(&id, Run(1), &run).await) }
        })
        .await;
    assert!(answers.into_iter().all(|stored| stored));
    assert_eq!(stage.stored(&event.id).await.deliveries.len(), 3);
    assert_eq!(stage.totals().await.waiting, 3);
}

pub async fn an_event_that_no_route_named_can_be_replayed<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let event = event("shop", "1001", START);
    assert_eq!(stage.accept(&event, &[]).await, Accepted::New);
    let run = plan(&event, Run(1), &["chat"], after(9));
    assert!(stage.replay(&event.id, Run(1), &run).await);
    let key = &run.first().expect("planned").key;
    assert_eq!(*stage.go(key, after(9)).await.event, event);
    let totals = stage.totals().await;
    assert_eq!((totals.unrouted, totals.waiting), (1, 1));
    assert_eq!(stage.expire(after(40 * 86_400), MANY).await, 0, "it waits");
}

pub async fn a_run_may_have_any_number_and_several_are_stored_at_once<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let followed = stage.one("shop", "1001", "chat", START).await;
    let event = followed.event.clone();
    // Replays are numbered by the second in which they began.
    let runs = [1, 999_999, 1_000_000, 1_800_000_000, u32::MAX];
    let shared = event.clone();
    let answers = stage
        .at_once(5, move |backend, n| {
            let run = Run(runs.get(n as usize).copied().expect("five"));
            let run_plan = plan(&shared, run, &["chat"], after(9));
            let id = shared.id.clone();
            async move { sure(backend.replay(&id, run, &run_plan).await) }
        })
        .await;
    assert!(answers.into_iter().all(|stored| stored));
    let stage = stage.reopened().await;
    let view = stage.stored(&event.id).await;
    let mut found: Vec<_> = view.deliveries.iter().map(|d| d.run.0).collect();
    found.sort_unstable();
    assert_eq!(found, [0, 1, 999_999, 1_000_000, 1_800_000_000, u32::MAX]);
    for run in runs {
        let again = plan(&event, Run(run), &["chat"], after(9));
        assert!(stage.replay(&event.id, Run(run), &again).await);
        let key = &again.first().expect("planned").key;
        let attempt = stage.go(key, after(9)).await;
        assert_eq!((attempt.key.run, attempt.number), (Run(run), 1));
    }
    assert_eq!(stage.totals().await.waiting, 6);
}
