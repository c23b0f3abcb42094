//! Random steps that move many deliveries at once. Which of them a limited step moves is the backend's choice: the
//! model asks, checks how many, and takes it over.

use std::collections::BTreeMap;

use rand::RngExt;
use switchboard_core::delivery::{DeathReason, State};
use switchboard_core::endpoint::Change;
use switchboard_core::identity::{DeliveryId, EventId};
use switchboard_core::names::DestinationName;
use switchboard_core::ports::{Ledger, Moved, Selection, Spread};
use switchboard_core::release::Release;
use switchboard_core::time::Timestamp;

use super::super::fixture::Fixture;
use super::super::sample::{MANY, destination};
use super::super::stage::{Stage, sure};
use super::Model;
use super::step::DESTINATIONS;

type At = (EventId, DeliveryId);

impl Model {
    fn draw_destination(&mut self) -> DestinationName {
        let n = self.draw(DESTINATIONS.len()).expect("there are some");
        destination(DESTINATIONS.get(n).expect("drawn from them"))
    }

    fn draw_limit(&mut self) -> u32 {
        if self.rng.random_bool(0.5) {
            self.rng.random_range(1..6)
        } else {
            MANY
        }
    }

    /// Those of `candidates` that are `to` now, with their due times; as many as the answer says.
    async fn moved<F: Fixture>(
        &mut self,
        stage: &Stage<F>,
        candidates: Vec<At>,
        to: State,
        (answer, limit): (Moved, u32),
        step: &str,
    ) -> Vec<(At, Option<Timestamp>)> {
        let mut moved = Vec::new();
        let count = u32::try_from(candidates.len()).expect("a small number");
        for at in candidates {
            let key = self.standing(&at).key.clone();
            let view = stage.stands(&at.0, &key).await;
            if view.state == to {
                moved.push((at, view.due));
            }
        }
        assert_eq!(answer.done, count.min(limit), "{step}: of {count}");
        assert_eq!(answer.left, count - answer.done, "{step}: left of {count}");
        assert_eq!(
            moved.len(),
            answer.done as usize,
            "{step}: as many as it says"
        );
        moved
    }

    pub(super) async fn hold<F: Fixture>(&mut self, stage: &Stage<F>) -> String {
        let to = self.draw_destination();
        stage.change(Change::Hold(to.clone())).await;
        self.held.insert(to.clone());
        let (limit, now) = (self.draw_limit(), self.now);
        let step = format!("{to} is held, at most {limit}");
        let candidates =
            self.find(|d| d.state == State::Waiting && d.key.destination == to && d.due <= now);
        let answer = stage.shelve(to.as_str(), now, limit).await;
        let moved = self
            .moved(stage, candidates, State::Held, (answer, limit), &step)
            .await;
        for (at, _) in moved {
            self.standing(&at).state = State::Held;
            if let Some(kept) = self.events.get_mut(&at.0) {
                kept.was_dead_or_held = true;
            }
        }
        step
    }

    /// Releases a destination; now and then only in the settings, so that recovery finds the rest.
    pub(super) async fn release<F: Fixture>(&mut self, stage: &Stage<F>) -> String {
        let to = self.draw_destination();
        let spread = Spread {
            start: self.now,
            per_second: self.rng.random_range(0..20),
        };
        stage.change(Change::Release(to.clone(), spread)).await;
        self.held.remove(&to);
        let before = self.releases.get(&to);
        let release = before.map_or(Release::new(spread), |before| before.again(spread));
        self.releases.insert(to.clone(), release);
        if self.rng.random_bool(0.3) {
            return format!("{to} is released in the settings");
        }
        let candidates = self.find(|d| d.state == State::Held && d.key.destination == to);
        let limit = self.draw_limit();
        let step = format!("{to} is released for {spread:?}, at most {limit}");
        let answer = stage.release(to.as_str(), self.now, limit).await;
        let moved = self
            .moved(stage, candidates, State::Waiting, (answer, limit), &step)
            .await;
        self.put_back(moved, &step);
        step
    }

    /// What is put back of each destination is as far apart as its releases say.
    fn put_back(&mut self, moved: Vec<(At, Option<Timestamp>)>, step: &str) {
        let mut dues: BTreeMap<DestinationName, Vec<Timestamp>> = BTreeMap::new();
        for (at, due) in moved {
            let due = due.expect("a waiting delivery is due at some time");
            let standing = self.standing(&at);
            standing.state = State::Waiting;
            standing.due = due;
            let of = dues.entry(standing.key.destination.clone());
            of.or_default().push(due);
        }
        for (to, mut dues) in dues {
            dues.sort_unstable();
            let count = u32::try_from(dues.len()).expect("a small number");
            let release = self.releases.get_mut(&to).expect("it was released");
            let expected = release.put_back(self.now, count);
            assert_eq!(dues, expected, "{step}: {to}");
        }
    }

    pub(super) async fn redrive<F: Fixture>(&mut self, stage: &Stage<F>) -> String {
        let mut candidates = self.find(|d| d.state == State::Dead);
        let selection = match self.rng.random_range(0..3) {
            0 => Selection::AllDead,
            1 => {
                let to = self.draw_destination();
                candidates = self.find(|d| d.state == State::Dead && d.key.destination == to);
                Selection::DeadOf(to)
            }
            _ => {
                candidates.truncate(3);
                let others = self.find(|d| d.state != State::Dead);
                let all = candidates.iter().chain(others.iter().take(3));
                Selection::Dead(all.map(|(_, id)| id.clone()).collect())
            }
        };
        self.requeue(stage, selection, candidates).await
    }

    async fn requeue<F: Fixture>(
        &mut self,
        stage: &Stage<F>,
        selection: Selection,
        candidates: Vec<At>,
    ) -> String {
        let limit = self.draw_limit();
        let spread = Spread {
            start: self.now,
            per_second: self.rng.random_range(0..20),
        };
        let step = format!("{selection:?} is requeued, at most {limit}, {spread:?}");
        let answer = sure(stage.backend().requeue(&selection, spread, limit).await);
        let moved = self
            .moved(stage, candidates, State::Waiting, (answer, limit), &step)
            .await;
        let mut dues: Vec<_> = moved.iter().filter_map(|(_, due)| *due).collect();
        dues.sort_unstable();
        let expected: Vec<_> = (0..answer.done).map(|n| spread.due(n)).collect();
        assert_eq!(dues, expected, "{step}: spread");
        for (at, due) in moved {
            let standing = self.standing(&at);
            standing.in_round = 0;
            standing.state = State::Waiting;
            standing.reason = None;
            standing.due = due.expect("a waiting delivery is due at some time");
        }
        step
    }

    pub(super) async fn recover<F: Fixture>(&mut self, stage: &Stage<F>) -> String {
        let limit = self.draw_limit();
        let step = format!("recovery of at most {limit}");
        let held = self.held.clone();
        let candidates =
            self.find(|d| d.state == State::Held && !held.contains(&d.key.destination));
        let answer = stage.recover(self.now, limit).await;
        let moved = self
            .moved(stage, candidates, State::Waiting, (answer, limit), &step)
            .await;
        self.put_back(moved, &step);
        step
    }

    pub(super) async fn bury<F: Fixture>(&mut self, stage: &Stage<F>) -> String {
        let (to, limit) = (self.draw_destination(), self.draw_limit());
        let reason = DeathReason::NoDestination;
        let step = format!("{to} is buried, at most {limit}");
        let candidates = self
            .find(|d| matches!(d.state, State::Waiting | State::Held) && d.key.destination == to);
        let answer = stage.bury(to.as_str(), reason, self.now, limit).await;
        let moved = self
            .moved(stage, candidates, State::Dead, (answer, limit), &step)
            .await;
        for (at, _) in moved {
            self.dies(&at, reason);
        }
        step
    }
}
