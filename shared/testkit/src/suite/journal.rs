//! `Journal`: what was not accepted is counted exactly and listed within bounds.
//!
//! Taken to mean: at least the newest `LISTED` of each list stay, and not many more. Refused and declined requests
//! are no part of `received`. Those of one moment are listed in any order.

use switchboard_core::ports::{Journal, Note, Views};
use switchboard_core::refusal::{Cause, Unreadable};
use switchboard_core::time::Timestamp;
use switchboard_core::views::{Declined, RefusalRow, Totals};

use super::fixture::Fixture;
use super::sample::{START, after, refusal, source};
use super::stage::{Stage, sure, walk};

/// How many of a list are kept at least.
const LISTED: usize = 1000;

fn refused(from: &str, reason: Option<&str>) -> Note {
    Note::Refused {
        source: source(from),
        listed: reason.map(refusal),
    }
}

fn declined(from: Option<&str>, cause: Cause, listed: Option<&str>) -> Note {
    Note::Declined {
        source: from.map(source),
        cause,
        listed: listed.map(str::to_owned),
    }
}

async fn refusals<F: Fixture>(stage: &Stage<F>) -> Vec<RefusalRow> {
    stage.settled().await;
    let backend = stage.backend();
    walk(90, |ask| async move { backend.refusals(&ask).await }).await
}

async fn declines<F: Fixture>(stage: &Stage<F>) -> Vec<Declined> {
    stage.settled().await;
    let backend = stage.backend();
    walk(90, |ask| async move { backend.declined(&ask).await }).await
}

pub async fn refused_requests_are_counted_with_and_without_a_listing<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    for n in 0..7 {
        let reason = format!("reason {n}");
        let listed = (n < 3).then_some(reason.as_str());
        stage.note(after(n), refused("shop", listed)).await;
    }
    stage.note(after(9), refused("code", None)).await;
    let overview = stage.overview().await;
    let expected = Totals {
        refused: 8,
        ..Totals::default()
    };
    assert_eq!(overview.totals, expected);
    let of = |from| overview.sources.get(&source(from)).map(|t| t.refused);
    assert_eq!((of("shop"), of("code")), (Some(7), Some(1)));
    assert_eq!(refusals(&stage).await.len(), 3);
    assert_eq!(declines(&stage).await, []);
}

pub async fn refusals_are_listed_in_full_and_newest_first<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let mut expected = Vec::new();
    for n in 0..5 {
        let reason = format!("reason {n}, \"größer\" \u{fffd}");
        let at = Timestamp::from_millis(START.millis() + n * 7);
        stage.note(at, refused("shop", Some(&reason))).await;
        let row = RefusalRow {
            at,
            source: source("shop"),
            refusal: refusal(&reason),
        };
        expected.insert(0, row);
    }
    let mut bare = refusal("nothing more is known");
    bare.clock_distance_s = None;
    bare.near_miss = None;
    let note = Note::Refused {
        source: source("code"),
        listed: Some(bare.clone()),
    };
    stage.note(after(1), note).await;
    let row = RefusalRow {
        at: after(1),
        source: source("code"),
        refusal: bare,
    };
    expected.insert(0, row);
    assert_eq!(refusals(&stage).await, expected);
}

/// Makes 50 notes at each of 50 moments.
async fn flood<F: Fixture>(stage: &Stage<F>, note: fn(u64) -> Note) {
    for moment in 0..50_u64 {
        stage
            .at_once(50, move |backend, n| async move {
                let note = note(moment * 50 + u64::from(n));
                sure(backend.note(after(moment), note).await);
            })
            .await;
    }
}

/// Checks the moments of a list after a flood.
fn bounded(moments: &[Timestamp]) {
    assert!(moments.is_sorted_by(|a, b| a >= b), "newest first");
    assert!(
        (LISTED..=2 * LISTED).contains(&moments.len()),
        "the newest {LISTED} are kept, and not many more: {}",
        moments.len()
    );
    for moment in 30..50 {
        let listed = moments.iter().filter(|at| **at == after(moment)).count();
        assert_eq!(listed, 50, "all of the newest {LISTED} are listed");
    }
}

pub async fn a_flood_of_refusals_is_counted_exactly_and_listed_in_bounds<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    flood(&stage, |n| refused("shop", Some(&format!("reason {n}")))).await;
    assert_eq!(stage.totals().await.refused, 2500);
    let list = refusals(&stage).await;
    let mut reasons: Vec<_> = list.iter().map(|row| &row.refusal.reason).collect();
    reasons.sort_unstable();
    reasons.dedup();
    assert_eq!(reasons.len(), list.len(), "each is listed once");
    bounded(&list.iter().map(|row| row.at).collect::<Vec<_>>());
}

pub async fn a_flood_of_declined_is_counted_exactly_and_listed_in_bounds<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    flood(&stage, |n| {
        declined(None, Cause::UnknownSource, Some(&format!("in/{n}")))
    })
    .await;
    let overview = stage.overview().await;
    assert_eq!(overview.totals.declined, 2500);
    let counts: Vec<_> = overview.declined.iter().map(|c| c.count).collect();
    assert_eq!(counts, [2500]);
    let list = declines(&stage).await;
    bounded(&list.iter().map(|row| row.at).collect::<Vec<_>>());
}

pub async fn declined_requests_are_counted_by_source_and_cause<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let unreadable = Cause::Unreadable(Unreadable::BodyNotReadable);
    let without_id = Cause::Unreadable(Unreadable::MissingHeader {
        header: "x-shopify-webhook-id",
    });
    let notes = [
        (Some("shop"), unreadable, 3),
        (Some("shop"), without_id, 2),
        (Some("code"), unreadable, 1),
        (Some("shop"), Cause::TooLarge, 1),
        (Some("shop"), Cause::StoreUnavailable, 2),
        (None, Cause::Overloaded, 1),
        (None, Cause::UnknownSource, 4),
    ];
    for (from, cause, count) in notes {
        for n in 0..count {
            let listed = (n > 0).then_some("in/somewhere");
            stage.note(after(n), declined(from, cause, listed)).await;
        }
    }
    let overview = stage.overview().await;
    let expected = Totals {
        declined: 14,
        ..Totals::default()
    };
    assert_eq!(overview.totals, expected);
    assert_eq!(overview.declined.len(), notes.len());
    for (from, cause, count) in notes {
        let (from, text) = (from.map(source), cause.to_string());
        let mut counts = overview.declined.iter();
        let found = counts.find(|c| c.source == from && c.cause == text);
        let found = found.unwrap_or_else(|| panic!("{from:?}: {text} is counted"));
        assert_eq!((found.status, found.count), (cause.status(), count));
    }
}

pub async fn declined_requests_are_listed_apart_and_newest_first<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let rows = [
        (Some("shop"), Cause::TooLarge, "shop"),
        (None, Cause::UnknownSource, "größe 🦀"),
        (None, Cause::UnknownSource, ""),
        (
            Some("code"),
            Cause::Unreadable(Unreadable::BodyWithoutId),
            "code",
        ),
    ];
    let mut expected = Vec::new();
    for (n, (from, cause, path)) in (0..).zip(rows) {
        stage
            .note(after(n), declined(from, cause, Some(path)))
            .await;
        stage.note(after(n), refused("shop", None)).await;
        let row = Declined {
            at: after(n),
            source: from.map(source),
            path: path.to_owned(),
            status: cause.status(),
            cause: cause.to_string(),
        };
        expected.insert(0, row);
    }
    assert_eq!(declines(&stage).await, expected);
    assert_eq!(refusals(&stage).await, []);
}

pub async fn notes_at_once_are_all_counted<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    stage
        .at_once(100, |backend, n| async move {
            let note = match n % 4 {
                0 => refused("shop", Some("at once")),
                1 => refused("shop", None),
                2 => declined(Some("shop"), Cause::TooLarge, None),
                _ => declined(None, Cause::UnknownSource, Some("in/nowhere")),
            };
            sure(backend.note(START, note).await);
        })
        .await;
    let totals = stage.totals().await;
    assert_eq!((totals.refused, totals.declined), (50, 50));
    assert_eq!(
        (refusals(&stage).await.len(), declines(&stage).await.len()),
        (25, 25)
    );
}
