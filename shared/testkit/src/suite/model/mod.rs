//! A small model of the ledger, and random steps that a backend and the model must agree on.
//!
//! The steps are drawn from a seed, so a failing walk can be made again. Where several answers are right (which
//! deliveries a limited step moves, in what order they are spread), the backend's own is checked and taken over.
//! Steps about which the ports promise nothing are not made; the modules of single checks name them.

mod compare;
mod moves;
mod step;

use std::collections::{BTreeMap, BTreeSet};

use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use switchboard_core::attempt::Attempt;
use switchboard_core::delivery::{AttemptRecord, DeathReason, DeliveryKey, Next, State};
use switchboard_core::event::Event;
use switchboard_core::identity::{DeliveryId, EventId};
use switchboard_core::names::DestinationName;
use switchboard_core::release::Release;
use switchboard_core::time::Timestamp;
use switchboard_core::views::{DestinationTotals, Overview};

use super::fixture::Fixture;
use super::sample::{KEEP, START};
use super::stage::Stage;

/// A delivery as the model has it.
#[derive(Clone, Debug)]
struct Standing {
    key: DeliveryKey,
    state: State,
    due: Timestamp,
    attempts: u32,
    in_round: u32,
    reason: Option<DeathReason>,
    log: Vec<AttemptRecord>,
    recorded: Vec<(Attempt, AttemptRecord, Next)>,
}

/// A stored event as the model has it.
#[derive(Clone, Debug)]
struct Kept {
    event: Event,
    repeats: u64,
    other_bodies: u64,
    runs: u32,
    deliveries: BTreeMap<DeliveryId, Standing>,
    was_dead_or_held: bool,
    /// When expiry last found it past its end but needed by a waiting delivery.
    spared: Option<Timestamp>,
}

/// Whether an event may be removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Life {
    /// It must be there.
    Lasts,
    /// Nothing is promised.
    Either,
    /// It must go.
    Past,
}

impl Kept {
    fn life(&self, now: Timestamp) -> Life {
        let any = |state| self.deliveries.values().any(|d| d.state == state);
        let (end, longest) = (
            KEEP.until(self.event.received_at),
            KEEP.until_when_dead(self.event.received_at),
        );
        let needed = any(State::Dead);
        let open = any(State::Waiting) || any(State::Held);
        if now < end || open || (needed && now < longest) {
            Life::Lasts
        } else if (self.was_dead_or_held && now < longest)
            || self.spared.is_some_and(|then| now < then.plus(A_DAY))
        {
            Life::Either
        } else {
            Life::Past
        }
    }
}

/// All that the backend should hold.
struct Model {
    rng: ChaCha8Rng,
    now: Timestamp,
    made: u32,
    events: BTreeMap<EventId, Kept>,
    gone: Vec<Event>,
    held: BTreeSet<DestinationName>,
    releases: BTreeMap<DestinationName, Release>,
    /// What is counted, but for the deliveries of events that are there.
    counted: Overview,
    planned: u64,
    /// Events that the last step may have changed.
    touched: BTreeSet<EventId>,
}

impl Model {
    fn new(seed: u64) -> Self {
        Self {
            rng: ChaCha8Rng::seed_from_u64(seed),
            now: START,
            made: 0,
            events: BTreeMap::new(),
            gone: Vec::new(),
            held: BTreeSet::new(),
            releases: BTreeMap::new(),
            counted: Overview::default(),
            planned: 0,
            touched: BTreeSet::new(),
        }
    }

    fn part(&mut self, to: &DestinationName) -> &mut DestinationTotals {
        self.counted.destinations.entry(to.clone()).or_default()
    }

    /// The deliveries that `wanted` names, each with its event.
    fn find(&self, wanted: impl Fn(&Standing) -> bool) -> Vec<(EventId, DeliveryId)> {
        let of = |(id, kept): (&EventId, &Kept)| {
            let found = kept.deliveries.values().filter(|d| wanted(d));
            let found: Vec<_> = found.map(|d| (id.clone(), d.key.id.clone())).collect();
            found
        };
        self.events.iter().flat_map(of).collect()
    }

    fn standing(&mut self, at: &(EventId, DeliveryId)) -> &mut Standing {
        self.touched.insert(at.0.clone());
        let kept = self.events.get_mut(&at.0).expect("the model has it");
        kept.deliveries.get_mut(&at.1).expect("the model has it")
    }
}

/// How long an event may stay that a delivery still needed when expiry came by.
const A_DAY: std::time::Duration = std::time::Duration::from_hours(25);
/// How many steps a walk makes.
const STEPS: u32 = 400;
/// How often all of it is compared and the backend reopened.
const WHOLE_EVERY: u32 = 80;

async fn walk<F: Fixture>(fixture: F, seed: u64) {
    let mut stage = Stage::open(fixture).await;
    let mut model = Model::new(seed);
    for n in 1..=STEPS {
        let step = model.step(&stage).await;
        model
            .agrees(&stage, &format!("seed {seed}, step {n}: {step}"))
            .await;
        if n % WHOLE_EVERY == 0 {
            model.agrees_whole(&stage).await;
            stage = stage.reopened().await;
            model.agrees_whole(&stage).await;
        }
    }
}

pub async fn the_first_random_walk_agrees_with_the_model<F: Fixture>(fixture: F) {
    walk(fixture, 1).await;
}

pub async fn the_second_random_walk_agrees_with_the_model<F: Fixture>(fixture: F) {
    walk(fixture, 2).await;
}

pub async fn the_third_random_walk_agrees_with_the_model<F: Fixture>(fixture: F) {
    walk(fixture, 3).await;
}
