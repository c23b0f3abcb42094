//! Whether a backend holds what the model does.

use std::collections::{BTreeMap, BTreeSet};

use switchboard_core::delivery::{AttemptRecord, KEPT_ATTEMPTS, State};
use switchboard_core::views::{
    DeadLetter, DeliveryView, DestinationTotals, EventSearch, EventView, Overview,
};

use super::super::fixture::Fixture;
use super::super::stage::Stage;
use super::super::views_events::by_state;
use super::super::views_overview::agreed;
use super::{Kept, Life, Model, Standing};

impl Model {
    /// Compares the totals, and the events that the last step touched.
    pub(super) async fn agrees<F: Fixture>(&mut self, stage: &Stage<F>, step: &str) {
        let overview = agreed(stage.overview().await);
        let totals = overview.totals;
        let planned = totals.delivered + totals.waiting + totals.held + totals.dead;
        assert_eq!(planned, self.planned, "{step}: deliveries planned");
        assert_eq!(sorted(overview), sorted(self.overview()), "{step}");
        for id in std::mem::take(&mut self.touched) {
            let view = stage.event(&id).await;
            let Some(kept) = self.events.get(&id) else {
                assert_eq!(view, None, "{step}: the event is gone");
                continue;
            };
            match view {
                Some(view) => same_event(kept, &view, step),
                None => assert_ne!(kept.life(self.now), Life::Lasts, "{step}"),
            }
        }
    }

    /// Compares everything.
    pub(super) async fn agrees_whole<F: Fixture>(&mut self, stage: &Stage<F>) {
        self.touched.extend(self.events.keys().cloned());
        self.agrees(stage, "the whole").await;
        let listed = stage.search(&EventSearch::default()).await;
        let listed: BTreeSet<_> = listed.into_iter().map(|row| row.event).collect();
        let lasts = self
            .events
            .iter()
            .filter(|(_, kept)| kept.life(self.now) == Life::Lasts);
        let lasts: BTreeSet<_> = lasts.map(|(id, _)| id.clone()).collect();
        assert!(listed.is_superset(&lasts), "every event is listed");
        assert!(listed.iter().all(|id| self.events.contains_key(id)));

        let letters = stage.dead_letters().await;
        let dead: BTreeSet<_> = letters.iter().map(|l| l.delivery.clone()).collect();
        assert_eq!(dead.len(), letters.len(), "each dead letter is listed once");
        let expected = self.find(|d| d.state == State::Dead);
        let expected: BTreeSet<_> = expected.into_iter().map(|(_, id)| id).collect();
        assert_eq!(dead, expected, "every dead letter is listed");
        for letter in &letters {
            let kept = self.events.get(&letter.event).expect("its event is there");
            let standing = kept.deliveries.get(&letter.delivery).expect("it is there");
            same_letter(standing, letter);
        }
        let settings = stage.settings().await;
        assert_eq!(settings.held, self.held);
    }

    /// The totals as they should be.
    fn overview(&self) -> Overview {
        let mut overview = self.counted.clone();
        for standing in self
            .events
            .values()
            .flat_map(|kept| kept.deliveries.values())
        {
            let part = overview
                .destinations
                .entry(standing.key.destination.clone());
            add(part.or_default(), standing.state);
        }
        for part in overview.sources.values() {
            let totals = &mut overview.totals;
            totals.stored += part.stored;
            totals.repeats += part.repeats;
            totals.repeats_with_other_body += part.repeats_with_other_body;
            totals.refused += part.refused;
            totals.unrouted += part.unrouted;
            totals.received += part.stored + part.repeats;
        }
        for part in overview.destinations.values() {
            overview.totals.delivered += part.delivered;
            overview.totals.waiting += part.waiting;
            overview.totals.held += part.held;
            overview.totals.dead += part.dead;
            overview.totals.expired += part.expired;
        }
        overview.totals.declined = overview.declined.iter().map(|part| part.count).sum();
        agreed(overview)
    }
}

/// Counts one delivery by its state.
pub(super) fn add(part: &mut DestinationTotals, state: State) {
    match state {
        State::Waiting => part.waiting += 1,
        State::Held => part.held += 1,
        State::Delivered => part.delivered += 1,
        State::Dead => part.dead += 1,
    }
}

/// Causes come in any order.
fn sorted(mut overview: Overview) -> Overview {
    overview
        .declined
        .sort_by_key(|part| (part.source.clone(), part.cause.clone()));
    overview
}

fn same_event(kept: &Kept, view: &EventView, step: &str) {
    let (event, row) = (&kept.event, &view.row);
    assert_eq!(row.event, event.id, "{step}");
    assert_eq!(row.source, event.source, "{step}");
    assert_eq!(row.sender_id, event.sender_id.as_str(), "{step}");
    assert_eq!(row.kind, event.kind, "{step}");
    assert_eq!(row.at, event.received_at, "{step}");
    assert_eq!(row.body_length, event.body.len() as u64, "{step}");
    let repeats = (row.repeats, view.repeats_with_other_body);
    assert_eq!(repeats, (kept.repeats, kept.other_bodies), "{step}");
    let mut states: BTreeMap<&'static str, u64> = BTreeMap::new();
    for standing in kept.deliveries.values() {
        *states.entry(standing.state.as_str()).or_default() += 1;
    }
    assert_eq!(by_state(row), states, "{step}");
    assert_eq!(view.deliveries.len(), kept.deliveries.len(), "{step}");
    for found in &view.deliveries {
        let standing = kept.deliveries.get(&found.delivery);
        same_delivery(standing.expect("it was planned"), found, step);
    }
}

fn same_delivery(standing: &Standing, view: &DeliveryView, step: &str) {
    let key = (&view.destination, &view.action, view.run);
    let expected = &standing.key;
    assert_eq!(
        key,
        (&expected.destination, &expected.action, expected.run),
        "{step}"
    );
    let due = (standing.state == State::Waiting).then_some(standing.due);
    assert_eq!((view.state, view.due), (standing.state, due), "{step}");
    assert_eq!(view.attempts, standing.attempts, "{step}: attempts");
    match (&view.reason, standing.reason) {
        (Some(text), Some(reason)) => {
            assert!(text.starts_with(&reason.to_string()), "{step}: {text}");
        }
        (None, None) => {}
        (found, expected) => panic!("{step}: the reason is {found:?}, not {expected:?}"),
    }
    same_log(&standing.log, &view.log, step);
}

/// Beyond what is kept, the newest must be there and nothing may be made up.
fn same_log(expected: &[AttemptRecord], found: &[AttemptRecord], step: &str) {
    if expected.len() <= KEPT_ATTEMPTS {
        let sorted = |log: &[AttemptRecord]| {
            let mut log = log.to_vec();
            log.sort_by_key(|record| (record.number, record.at, record.status));
            log
        };
        assert_eq!(sorted(found), sorted(expected), "{step}: the log");
        return;
    }
    assert_eq!(
        found.len(),
        KEPT_ATTEMPTS,
        "{step}: the last attempts are kept"
    );
    assert!(
        found.iter().all(|record| expected.contains(record)),
        "{step}"
    );
    let newest = expected.last().expect("a log that is full");
    assert!(found.contains(newest), "{step}: the newest is kept");
}

fn same_letter(standing: &Standing, letter: &DeadLetter) {
    assert_eq!(letter.attempts, standing.attempts);
    assert_eq!(letter.destination, standing.key.destination);
    assert_eq!(letter.action, standing.key.action);
    let reason = standing.reason.expect("a dead letter has a reason");
    assert!(
        letter.reason.starts_with(&reason.to_string()),
        "{}",
        letter.reason
    );
}
