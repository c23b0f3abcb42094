//! `Ledger::requeue` of dead letters: a new round of attempts under the same key, and nothing else moves.
//!
//! Taken to mean: a call's due times are `Spread::due(0)` to `Spread::due(done - 1)`, in no promised order; a further
//! call begins anew at its own start. `left` counts what of the selection is still a dead letter.

use std::collections::BTreeSet;

use switchboard_core::delivery::{DeathReason, Next, State};
use switchboard_core::identity::{DeliveryId, Run};
use switchboard_core::ports::{Ledger, Moved, Selection, Spread};
use switchboard_core::time::Timestamp;

use super::fixture::Fixture;
use super::sample::{MANY, START, after, destination, event, queued};
use super::stage::{Followed, Stage, sure};

const NOTHING: Moved = Moved { done: 0, left: 0 };

/// One delivery in each state, all to `chat`, and dead ones to `chat` and `crm`.
struct Mixed {
    waiting: Followed,
    held: Followed,
    delivered: Followed,
    dead: Vec<Followed>,
    dead_of_crm: Vec<Followed>,
}

async fn mixed<F: Fixture>(stage: &Stage<F>) -> Mixed {
    let held = stage.one("shop", "held", "chat", START).await;
    let delivered = stage.one("shop", "delivered", "chat", START).await;
    stage.deliver(&delivered, START).await;
    let dead = stage.several_dead("chat", 3, START).await;
    let dead_of_crm = stage.several_dead("crm", 2, START).await;
    let waiting = stage.one("shop", "waiting", "chat", after(5)).await;
    assert_eq!(stage.hold("chat", START).await.done, 1);
    Mixed {
        waiting,
        held,
        delivered,
        dead,
        dead_of_crm,
    }
}

impl Mixed {
    async fn only_dead_ones_moved<F: Fixture>(&self, stage: &Stage<F>) {
        let view = stage.view(&self.waiting).await;
        assert_eq!((view.state, view.due), (State::Waiting, Some(after(5))));
        assert_eq!(stage.state(&self.held).await, State::Held);
        assert_eq!(stage.state(&self.delivered).await, State::Delivered);
        let totals = stage.totals().await;
        let planned = totals.waiting + totals.held + totals.delivered + totals.dead;
        assert_eq!(planned, 8, "a redrive adds no delivery");
    }

    async fn dead_left<F: Fixture>(&self, stage: &Stage<F>) -> (usize, usize) {
        let of_chat = stage.in_state(&self.dead, State::Dead).await;
        let of_crm = stage.in_state(&self.dead_of_crm, State::Dead).await;
        (of_chat, of_crm)
    }
}

pub async fn redriving_all_moves_every_dead_letter_and_nothing_else<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let mixed = mixed(&stage).await;
    let moved = stage.requeue(&Selection::AllDead, after(9), MANY).await;
    assert_eq!(moved, Moved { done: 5, left: 0 });
    assert_eq!(mixed.dead_left(&stage).await, (0, 0));
    mixed.only_dead_ones_moved(&stage).await;
    assert_eq!(stage.dead_letters().await, []);
}

pub async fn redriving_a_destination_moves_only_its_dead_letters<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let mixed = mixed(&stage).await;
    let of_chat = Selection::DeadOf(destination("chat"));
    let moved = stage.requeue(&of_chat, after(9), MANY).await;
    assert_eq!(moved, Moved { done: 3, left: 0 });
    assert_eq!(mixed.dead_left(&stage).await, (0, 2));
    mixed.only_dead_ones_moved(&stage).await;
    let of_none = Selection::DeadOf(destination("warehouse"));
    assert_eq!(stage.requeue(&of_none, after(9), MANY).await, NOTHING);
    assert_eq!(stage.dead_letters().await.len(), 2);
}

pub async fn redriving_a_list_moves_what_of_it_is_dead<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let mixed = mixed(&stage).await;
    let unknown = queued(
        &event("shop", "no", START),
        "chat",
        "deliver",
        Run(0),
        START,
    )
    .key
    .id;
    let [first, second, _] = mixed.dead.as_slice() else {
        panic!("three dead");
    };
    let of_crm = mixed.dead_of_crm.first().expect("two dead");
    let list: Vec<DeliveryId> = vec![
        unknown.clone(),
        mixed.waiting.key.id.clone(),
        first.key.id.clone(),
        mixed.held.key.id.clone(),
        first.key.id.clone(),
        mixed.delivered.key.id.clone(),
        second.key.id.clone(),
        of_crm.key.id.clone(),
    ];
    let moved = stage.requeue(&Selection::Dead(list), after(9), MANY).await;
    assert_eq!(moved, Moved { done: 3, left: 0 }, "each once");
    assert_eq!(mixed.dead_left(&stage).await, (1, 1));
    mixed.only_dead_ones_moved(&stage).await;
    for list in [vec![], vec![unknown]] {
        let moved = stage.requeue(&Selection::Dead(list), after(9), MANY).await;
        assert_eq!(moved, NOTHING);
    }
}

async fn dues<F: Fixture>(stage: &Stage<F>, all: &[Followed]) -> Vec<Timestamp> {
    let mut dues = Vec::new();
    for followed in all {
        let view = stage.view(followed).await;
        assert_eq!(view.state, State::Waiting);
        let due = view.due.expect("a waiting delivery is due at some time");
        assert_eq!(stage.go(&followed.key, due).await.in_round, 1);
        dues.push(due);
    }
    dues.sort_unstable();
    dues
}

pub async fn redriven_deliveries_are_spread_over_time<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    for (to, per_second) in [("a", 4), ("b", 1), ("c", 0), ("d", 1000), ("e", 3)] {
        let all = stage.several_dead(to, 10, START).await;
        let spread = Spread {
            start: after(20),
            per_second,
        };
        let of = Selection::DeadOf(destination(to));
        let moved = sure(stage.backend().requeue(&of, spread, MANY).await);
        assert_eq!(moved, Moved { done: 10, left: 0 });
        let expected: Vec<_> = (0..10).map(|n| spread.due(n)).collect();
        assert_eq!(dues(&stage, &all).await, expected, "{per_second} a second");
    }
}

pub async fn a_redrive_moves_at_most_its_limit_and_says_what_is_left<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let all = stage.several_dead("chat", 25, START).await;
    let others = stage.several_dead("crm", 3, START).await;
    let list = all.iter().map(|f| f.key.id.clone()).collect();
    let selections = [
        (Selection::DeadOf(destination("chat")), 0),
        (Selection::Dead(list), 0),
        (Selection::AllDead, 3),
    ];
    for (selection, more) in selections {
        let mut steps = Vec::new();
        for (limit, gone) in [(10, 10), (10, 20), (4, 24)] {
            steps.push(stage.requeue(&selection, after(9), limit).await);
            assert_eq!(stage.totals().await.dead, 28 - gone, "{selection:?}");
        }
        let expected = [
            Moved {
                done: 10,
                left: 15 + more,
            },
            Moved {
                done: 10,
                left: 5 + more,
            },
            Moved {
                done: 4,
                left: 1 + more,
            },
        ];
        assert_eq!(steps, expected, "{selection:?}");
        let rest = stage.requeue(&selection, after(9), MANY).await;
        assert_eq!(
            rest,
            Moved {
                done: 1 + more,
                left: 0
            }
        );
        assert_eq!(stage.requeue(&selection, after(9), MANY).await, NOTHING);
        for followed in all.iter().chain(&others) {
            let view = stage.view(followed).await;
            if let Some(due) = view.due {
                stage.die(followed, due).await;
            }
        }
    }
}

pub async fn a_redrive_made_twice_is_made_once<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let all = stage.several_dead("chat", 5, START).await;
    let list = Selection::Dead(all.iter().map(|f| f.key.id.clone()).collect());
    let moved = stage.requeue(&list, after(9), MANY).await;
    assert_eq!(moved, Moved { done: 5, left: 0 });
    let before = dues(&stage, &all).await;
    for selection in [list, Selection::AllDead] {
        assert_eq!(stage.requeue(&selection, after(50), MANY).await, NOTHING);
    }
    assert_eq!(dues(&stage, &all).await, before, "no due time moved");
}

pub async fn redrives_at_once_move_each_dead_letter_once<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let all = stage.several_dead("chat", 40, START).await;
    let answers = stage
        .at_once(10, |backend, _| async move {
            let spread = Spread {
                start: after(9),
                per_second: 10,
            };
            sure(backend.requeue(&Selection::AllDead, spread, 7).await)
        })
        .await;
    let done: u32 = answers.iter().map(|moved| moved.done).sum();
    let left = stage.requeue(&Selection::AllDead, after(9), MANY).await;
    assert_eq!(done + left.done, 40, "each moved by one call");
    assert_eq!(dues(&stage, &all).await.len(), 40);
}

pub async fn each_redrive_gives_six_further_attempts_under_the_same_key<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let followed = stage.one("shop", "1001", "chat", START).await;
    let mut due = START;
    for round in 1..=3 {
        let died = stage.use_up(&followed, due).await;
        let letters = stage.dead_letters().await;
        let found: BTreeSet<_> = letters.iter().map(|l| (&l.delivery, l.attempts)).collect();
        assert_eq!(found, BTreeSet::from([(&followed.key.id, round * 6)]));
        due = died.plus(std::time::Duration::from_mins(5));
        stage.requeue(&Selection::AllDead, due, MANY).await;
    }
    stage.deliver(&followed, due).await;
    let view = stage.view(&followed).await;
    assert_eq!((view.state, view.attempts), (State::Delivered, 19));
    assert_eq!(stage.stored(&followed.event.id).await.deliveries.len(), 1);
    assert_eq!(stage.totals().await.delivered, 1);
}

pub async fn a_buried_delivery_can_be_redriven<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let fresh = stage.one("shop", "1", "chat", START).await;
    let tried = stage.one("shop", "2", "chat", START).await;
    let next = Next::Waiting(after(2));
    stage.fail(&tried.key, START, next).await;
    let reason = DeathReason::NoDestination;
    assert_eq!(stage.bury("chat", reason, after(3), MANY).await.done, 2);
    let spread_start = after(9);
    let moved = stage.requeue(&Selection::AllDead, spread_start, MANY).await;
    assert_eq!(moved, Moved { done: 2, left: 0 });
    for (followed, number) in [(&fresh, 1), (&tried, 2)] {
        let view = stage.view(followed).await;
        assert_eq!((view.state, view.reason), (State::Waiting, None));
        let due = view.due.expect("a due time");
        let attempt = stage.go(&followed.key, due).await;
        assert_eq!((attempt.number, attempt.in_round), (number, 1));
    }
}
