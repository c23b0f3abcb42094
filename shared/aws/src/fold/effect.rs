//! What one record of the table's stream does to the totals: what its new image counts for, less what its old one did.
//! An item that is removed takes nothing with it; a dead letter expired then.

use switchboard_core::delivery::State;
use switchboard_core::names::{DestinationName, SourceName};
use switchboard_core::ports::SameBody;
use switchboard_core::time::Timestamp;
use switchboard_core::views::LastFailure;

use super::buckets::Buckets;
use super::counters::{Counters, OfSource};
use super::image::Image;

/// What a record, or many, change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Effect {
    pub(crate) counters: Counters,
    pub(crate) buckets: Buckets,
}

impl Effect {
    /// What a change from one image to another does.
    pub(crate) fn of(old: Option<&Image>, new: Option<&Image>) -> Self {
        let mut effect = Self::default();
        if let Some(Image::Delivery {
            life,
            destination,
            state: State::Dead,
            ..
        }) = old
            && !matches!(new, Some(Image::Delivery { life: now, .. }) if now == life)
        {
            effect.counters.expired(destination);
        }
        match new {
            Some(Image::Event {
                life,
                source,
                at,
                plan,
            }) => {
                if !matches!(old, Some(Image::Event { life: before, .. }) if before == life) {
                    effect.event(source, *at, plan);
                }
            }
            Some(Image::Run { life, plan }) => {
                if !matches!(old, Some(Image::Run { life: before, .. }) if before == life) {
                    effect.plan(plan);
                }
            }
            Some(Image::Delivery {
                life,
                destination,
                state,
                log,
            }) => {
                let (before, logged) = match old {
                    Some(Image::Delivery {
                        life: of,
                        state,
                        log,
                        ..
                    }) if of == life => (*state, log.as_slice()),
                    // Its plan counted it as waiting.
                    _ => (State::Waiting, [].as_slice()),
                };
                effect.counters.destination(destination, before, -1);
                effect.counters.destination(destination, *state, 1);
                for record in log.iter().filter(|record| !logged.contains(record)) {
                    effect.buckets.attempt(destination, record);
                    let latest = &mut effect.counters.latest;
                    match LastFailure::of(record) {
                        Some(failure) => latest.failure(destination, &failure),
                        None => latest.delivered(destination, record.ended()),
                    }
                }
            }
            Some(Image::Repeat { source, body }) if old.is_none() => {
                let other_bodies = match body {
                    SameBody::Yes => 0,
                    SameBody::No => 1,
                };
                let of = OfSource {
                    repeats: 1,
                    other_bodies,
                    ..OfSource::default()
                };
                effect.counters.source(source, of);
            }
            Some(Image::Journal(counts)) if old.is_none() => effect.counters.add(counts),
            Some(Image::Repeat { .. } | Image::Journal(_) | Image::Nothing) | None => {}
        }
        effect
    }

    /// Adds another's changes to these.
    pub(crate) fn add(&mut self, other: Self) {
        self.counters.add(&other.counters);
        self.buckets.merge(other.buckets);
    }

    /// Whether nothing changes.
    pub(crate) fn is_empty(&self) -> bool {
        self.counters.is_empty() && self.buckets.iter().next().is_none()
    }

    fn event(&mut self, source: &SourceName, at: Timestamp, plan: &[DestinationName]) {
        // A copy to your endpoint is no route's doing.
        let is_routed = plan.iter().any(|to| !to.is_your_endpoint());
        let of = OfSource {
            stored: 1,
            unrouted: i64::from(!is_routed),
            ..OfSource::default()
        };
        self.counters.source(source, of);
        self.counters.latest.event(source, at);
        self.buckets.event(source, at);
        self.plan(plan);
    }

    fn plan(&mut self, plan: &[DestinationName]) {
        for destination in plan {
            self.counters.destination(destination, State::Waiting, 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use switchboard_core::delivery::{AttemptRecord, Outcome, Unanswered};
    use switchboard_core::piece::Piece;
    use switchboard_core::views::{DestinationTotals, SourceTotals};

    use super::*;
    use crate::fold::buckets::Count;
    use crate::token::Token;

    const AT: Timestamp = Timestamp::from_millis(3_600_000 * 500_000 + 60_000 * 7);

    fn source(name: &str) -> SourceName {
        SourceName::parse(name).expect("a name")
    }

    fn destination(name: &str) -> DestinationName {
        DestinationName::parse(name).expect("a name")
    }

    fn event(life: &str, plan: &[&str]) -> Image {
        Image::Event {
            life: Token::stored(life),
            source: source("shop"),
            at: AT,
            plan: plan.iter().map(|to| destination(to)).collect(),
        }
    }

    fn delivery(life: &str, state: State, log: &[AttemptRecord]) -> Image {
        Image::Delivery {
            life: Token::stored(life),
            destination: destination("chat"),
            state,
            log: log.to_vec(),
        }
    }

    fn attempt(number: u32, took: u64, outcome: &Outcome) -> AttemptRecord {
        AttemptRecord::new(number, AT, Duration::from_millis(took), outcome)
    }

    fn answered(number: u32, took: u64, status: u16) -> AttemptRecord {
        let piece = Piece::default();
        attempt(number, took, &Outcome::Answered { status, piece })
    }

    fn unanswered(number: u32) -> AttemptRecord {
        let outcome = Outcome::Unanswered(Unanswered::TimeLimit);
        attempt(number, 3000, &outcome)
    }

    /// The effect of a walk through images of one item.
    fn walk(images: &[Image]) -> Effect {
        let mut effect = Effect::default();
        let mut old = None;
        for image in images {
            effect.add(Effect::of(old, Some(image)));
            old = Some(image);
        }
        effect
    }

    fn of_source(effect: &Effect) -> SourceTotals {
        let overview = effect.counters.overview();
        overview
            .sources
            .get(&source("shop"))
            .copied()
            .unwrap_or_default()
    }

    fn of_chat(effect: &Effect) -> DestinationTotals {
        let overview = effect.counters.overview();
        let of = overview.destinations.get(&destination("chat"));
        of.copied().unwrap_or_default()
    }

    /// What is added to the item of the only hour.
    fn minutes(effect: &Effect, name: &str) -> Vec<(String, i64)> {
        let of =
            |((hour, of), counts): (&(i64, String), &std::collections::BTreeMap<Count, i64>)| {
                assert_eq!(*hour, 500_000);
                let counts = counts.iter();
                let counts = counts.map(|(what, count)| (what.attribute(), *count));
                (of == name).then(|| counts.collect())
            };
        effect.buckets.iter().find_map(of).unwrap_or_default()
    }

    #[test]
    fn an_event_counts_once_in_each_life_and_its_plan_waits() {
        let effect = walk(&[event("a", &["chat", "chat"]), event("a", &["chat", "chat"])]);
        let once = SourceTotals {
            stored: 1,
            ..SourceTotals::default()
        };
        assert_eq!(of_source(&effect), once);
        assert_eq!(of_chat(&effect).waiting, 2);
        assert_eq!(minutes(&effect, "shop"), [("e7".to_owned(), 1)]);
        let again = walk(&[event("a", &["chat"]), event("b", &["chat"])]);
        assert_eq!(of_source(&again).stored, 2, "another life is another event");
        assert_eq!(of_chat(&again).waiting, 2);
    }

    #[test]
    fn an_event_that_no_route_names_is_unrouted_also_with_a_copy() {
        for (plan, unrouted) in [
            (&[][..], 1),
            (&["your-endpoint"], 1),
            (&["your-endpoint", "chat"], 0),
        ] {
            assert_eq!(
                of_source(&walk(&[event("a", plan)])).unrouted,
                unrouted,
                "{plan:?}"
            );
        }
    }

    #[test]
    fn a_run_counts_its_plan_once() {
        let run = |life: &str| Image::Run {
            life: Token::stored(life),
            plan: vec![destination("chat")],
        };
        assert_eq!(of_chat(&walk(&[run("a"), run("a")])).waiting, 1);
        assert_eq!(of_chat(&walk(&[run("a"), run("b")])).waiting, 2);
    }

    #[test]
    fn a_delivery_leaves_one_state_for_another_and_the_sum_stays() {
        let fail = [unanswered(1)];
        let mut effect = walk(&[
            delivery("a", State::Waiting, &fail),
            delivery("a", State::Dead, &[unanswered(1), answered(2, 5, 500)]),
            delivery("a", State::Waiting, &[unanswered(1), answered(2, 5, 500)]),
            delivery("a", State::Held, &[unanswered(1), answered(2, 5, 500)]),
        ]);
        effect.add(walk(&[event("a", &["chat"])]));
        let held = DestinationTotals {
            held: 1,
            ..DestinationTotals::default()
        };
        assert_eq!(of_chat(&effect), held);
    }

    #[test]
    fn a_record_of_an_earlier_life_is_as_good_as_none() {
        let mut effect = walk(&[event("a", &["chat"]), event("b", &["chat"])]);
        effect.add(walk(&[
            delivery("a", State::Dead, &[unanswered(1)]),
            delivery("b", State::Delivered, &[answered(1, 7, 200)]),
        ]));
        let both = DestinationTotals {
            dead: 1,
            expired: 1,
            delivered: 1,
            ..DestinationTotals::default()
        };
        assert_eq!(of_chat(&effect), both);
    }

    #[test]
    fn attempts_are_counted_in_the_minute_they_ended_and_by_their_answer_time() {
        let first = answered(1, 10, 500);
        let second = unanswered(2);
        let late = answered(2, 11, 200);
        let slow = answered(3, 70_000, 200);
        let effect = walk(&[
            delivery("a", State::Waiting, std::slice::from_ref(&first)),
            delivery("a", State::Waiting, &[first.clone(), second.clone()]),
            delivery(
                "a",
                State::Delivered,
                &[first, second.clone(), late.clone()],
            ),
            // The oldest give way.
            delivery("a", State::Delivered, &[second, late, slow]),
        ]);
        let expected = [
            ("d7", 1),
            ("d8", 1),
            ("f7", 2),
            ("t01", 1),
            ("t02", 1),
            ("t0f", 1),
        ];
        let expected = expected.map(|(name, count)| (name.to_owned(), count));
        assert_eq!(minutes(&effect, "chat"), expected);
        let last = effect.counters.latest.failures.get(&destination("chat"));
        let expected = LastFailure {
            at: AT.plus(Duration::from_secs(3)),
            why: "no answer in time".to_owned(),
        };
        assert_eq!(last, Some(&expected));
    }

    #[test]
    fn repeats_and_notes_count_when_they_appear() {
        let repeat = |body| Image::Repeat {
            source: source("shop"),
            body,
        };
        let mut effect = walk(&[repeat(SameBody::Yes), repeat(SameBody::Yes)]);
        effect.add(walk(&[repeat(SameBody::No)]));
        let mut counts = Counters::default();
        let refused = OfSource {
            refused: 3,
            ..OfSource::default()
        };
        counts.source(&source("shop"), refused);
        effect.add(walk(&[
            Image::Journal(counts.clone()),
            Image::Journal(counts),
        ]));
        let expected = SourceTotals {
            repeats: 2,
            repeats_with_other_body: 1,
            refused: 3,
            ..SourceTotals::default()
        };
        assert_eq!(of_source(&effect), expected);
    }

    #[test]
    fn a_dead_letter_that_is_removed_expired_and_else_nothing_changes() {
        let dead = delivery("a", State::Dead, &[unanswered(1)]);
        let expired = DestinationTotals {
            expired: 1,
            ..DestinationTotals::default()
        };
        assert_eq!(of_chat(&Effect::of(Some(&dead), None)), expired);
        let fail = [unanswered(1)];
        for image in [
            event("a", &["chat"]),
            delivery("a", State::Waiting, &fail),
            Image::Repeat {
                source: source("shop"),
                body: SameBody::Yes,
            },
            Image::Nothing,
        ] {
            assert!(Effect::of(Some(&image), None).is_empty(), "{image:?}");
        }
        assert!(walk(&[Image::Nothing, Image::Nothing]).is_empty());
    }
}
