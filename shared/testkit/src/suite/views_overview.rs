//! `Views::overview` and `ready`: the totals, whole and in parts, and whether the store can take events.
//!
//! Taken to mean: a source, destination or cause of which nothing is to be counted may stand with zeros or not at all.

use switchboard_core::delivery::Next;
use switchboard_core::identity::Run;
use switchboard_core::ports::Views;
use switchboard_core::views::{DestinationTotals, Overview, SourceTotals, Totals};

use super::fixture::Fixture;
use super::sample::{START, after, destination, event, plan, queued, source};
use super::stage::{Stage, sure};

/// The totals without parts that count nothing, each part agreeing with the whole.
pub(crate) fn agreed(mut overview: Overview) -> Overview {
    overview
        .sources
        .retain(|_, part| *part != SourceTotals::default());
    overview
        .destinations
        .retain(|_, part| *part != DestinationTotals::default());
    overview.declined.retain(|part| part.count > 0);
    let totals = overview.totals;
    assert_eq!(totals.received, totals.stored + totals.repeats);
    let mut sum = Totals {
        received: totals.received,
        declined: overview.declined.iter().map(|part| part.count).sum(),
        ..Totals::default()
    };
    for part in overview.sources.values() {
        sum.stored += part.stored;
        sum.repeats += part.repeats;
        sum.repeats_with_other_body += part.repeats_with_other_body;
        sum.refused += part.refused;
        sum.unrouted += part.unrouted;
    }
    for part in overview.destinations.values() {
        sum.delivered += part.delivered;
        sum.waiting += part.waiting;
        sum.held += part.held;
        sum.dead += part.dead;
        sum.expired += part.expired;
    }
    assert_eq!(sum, totals, "the parts agree with the whole");
    overview
}

pub async fn a_backend_that_holds_nothing_counts_nothing<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    assert_eq!(agreed(stage.overview().await), Overview::default());
}

pub async fn the_totals_are_counted_by_source_and_destination<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    for (from, id, to) in [
        ("shop", "1", ["accounting", "chat"].as_slice()),
        ("shop", "2", &["accounting"]),
        ("shop", "3", &[]),
        ("code", "1", &["chat"]),
    ] {
        let event = event(from, id, START);
        let plan = plan(&event, Run(0), to, START);
        stage.accept(&event, &plan).await;
        stage.accept(&event, &plan).await;
        for queued in plan
            .iter()
            .filter(|q| q.key.destination.as_str() == "accounting")
        {
            stage
                .fail(&queued.key, START, Next::Waiting(after(2)))
                .await;
        }
    }
    let overview = agreed(stage.overview().await);
    let sources: Vec<_> = overview.sources.into_iter().collect();
    let part = |stored, unrouted| SourceTotals {
        stored,
        repeats: stored,
        unrouted,
        ..SourceTotals::default()
    };
    assert_eq!(
        sources,
        [(source("code"), part(1, 0)), (source("shop"), part(3, 1))]
    );
    let destinations: Vec<_> = overview.destinations.into_iter().collect();
    let waiting = |waiting| DestinationTotals {
        waiting,
        ..DestinationTotals::default()
    };
    let expected = [
        (destination("accounting"), waiting(2)),
        (destination("chat"), waiting(2)),
    ];
    assert_eq!(destinations, expected);
}

pub async fn the_same_destination_for_two_actions_counts_twice<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let event = event("shop", "1", START);
    let plan = [
        queued(&event, "chat", "post-line", Run(0), START),
        queued(&event, "chat", "pin", Run(0), START),
    ];
    stage.accept(&event, &plan).await;
    let overview = agreed(stage.overview().await);
    let chat = overview.destinations.get(&destination("chat"));
    assert_eq!(chat.expect("its totals").waiting, 2);
}

pub async fn a_store_that_can_take_events_is_ready<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    for _ in 0..3 {
        sure(stage.backend().ready().await);
    }
    stage.one("shop", "1", "chat", START).await;
    sure(stage.backend().ready().await);
    let stage = stage.reopened().await;
    sure(stage.backend().ready().await);
    assert_eq!(stage.totals().await.stored, 1, "it leaves no trace");
}
