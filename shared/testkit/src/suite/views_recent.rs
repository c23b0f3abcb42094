//! `Views::recent`: the last hour by minutes, how each destination does, and when something last came from each source.
//!
//! Taken to mean: what happened belongs to the minute in which an event was received, or an attempt ended. `in_flight` and
//! `oldest_due` may not be known; when they are, they are right. A source or destination of which nothing is known may
//! stand with nothing or not at all. Where the hour begins, a destination's counts may lag by ten minutes.

use std::time::Duration;

use switchboard_core::attempt::Attempt;
use switchboard_core::delivery::{AttemptRecord, DeathReason, Next, Outcome};
use switchboard_core::names::DestinationName;
use switchboard_core::piece::Piece;
use switchboard_core::ports::{Note, Recorded};
use switchboard_core::refusal::Cause;
use switchboard_core::time::Timestamp;
use switchboard_core::views::{
    Bound, Health, LastFailure, MINUTES, Minute, Recent, SourceHealth, minute_of,
};

use super::fixture::Fixture;
use super::sample::{
    START, after, again_at, delivered, destination, event, refusal, rejected, source, unanswered,
};
use super::stage::Stage;

const DEAD: Next = Next::Dead(DeathReason::AttemptsUsedUp);

/// An attempt that was answered with 200 after so many milliseconds.
fn answered_in(attempt: &Attempt, at: Timestamp, millis: u64) -> AttemptRecord {
    let outcome = Outcome::Answered {
        status: 200,
        piece: Piece::default(),
    };
    AttemptRecord::new(attempt.number, at, Duration::from_millis(millis), &outcome)
}

fn health<'a>(recent: &'a Recent, to: &str) -> &'a Health {
    let found = recent.destinations.get(&destination(to));
    found.expect("a destination with attempts is known")
}

fn source_of(recent: &Recent, from: &str) -> SourceHealth {
    let found = recent.sources.get(&source(from)).copied();
    found.unwrap_or_default()
}

/// What happened in the minute of a moment.
fn minute(recent: &Recent, at: Timestamp) -> Minute {
    let mut recent = recent.clone();
    *recent.minute_mut(minute_of(at)).expect("it is shown")
}

fn sum(recent: &Recent) -> (u64, u64, u64) {
    let of = |part: fn(&Minute) -> u64| recent.minutes.iter().map(part).sum();
    (of(|m| m.events), of(|m| m.deliveries), of(|m| m.failures))
}

pub async fn a_backend_that_holds_nothing_had_a_quiet_hour<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let recent = stage.recent(START).await;
    let quiet = Recent::quiet(START);
    assert_eq!(
        (recent.since, recent.minutes),
        (quiet.since, quiet.minutes),
        "sixty minutes without anything"
    );
    let nothing = |name: &DestinationName, health: &Health| {
        assert_eq!((health.delivered, health.failed), (0, 0), "{name}");
        assert_eq!((health.p50_ms, &health.last_failure), (None, &None));
    };
    for (name, health) in &recent.destinations {
        nothing(name, health);
    }
}

pub async fn each_minute_has_what_happened_in_it<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    // Received in the first minute; one is attempted in the first, one in the third.
    let early = stage.one("shop", "1", "chat", after(1)).await;
    let late = stage.one("code", "1", "crm", after(120)).await;
    stage
        .fail(&early.key, after(1), Next::Waiting(after(180)))
        .await;
    stage.deliver(&late, after(120)).await;
    stage.deliver(&early, after(180)).await;
    let last = event("shop", "2", after(300));
    stage.accept(&last, &[]).await;
    // A repeat is no event more.
    stage.accept(&again_at(&last, after(301)), &[]).await;

    let recent = stage.recent(after(310)).await;
    assert_eq!(recent.minutes.len(), MINUTES);
    assert_eq!(minute_of(recent.since), minute_of(after(310)) - 59);
    for (at, events, deliveries, failures) in [
        (0, 2, 0, 1),
        (60, 0, 0, 0),
        (120, 0, 1, 0),
        (180, 0, 1, 0),
        (300, 1, 0, 0),
    ] {
        let expected = Minute {
            events,
            deliveries,
            failures,
        };
        assert_eq!(minute(&recent, after(at)), expected, "after {at} s");
    }
    assert_eq!(sum(&recent), (3, 2, 1));
}

pub async fn an_attempt_belongs_to_the_minute_in_which_it_ended<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let followed = stage.one("shop", "1", "chat", START).await;
    // The start is a quarter of a second into its minute.
    let slow = after(58);
    stage
        .keep(&followed, START, |a| unanswered(a, slow), DEAD)
        .await;
    let recent = stage.recent(after(70)).await;
    assert_eq!(minute(&recent, START).failures, 0);
    assert_eq!(minute(&recent, after(61)).failures, 1);
}

pub async fn what_is_more_than_an_hour_ago_or_to_come_is_not_counted<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let first = stage.one("shop", "1", "chat", START).await;
    stage.fail(&first.key, START, DEAD).await;
    let second = stage.one("shop", "2", "chat", after(2 * 3600)).await;
    stage.deliver(&second, after(2 * 3600)).await;
    let later = event("shop", "3", after(2 * 3600));
    stage.accept(&later, &[]).await;

    let recent = stage.recent(after(59 * 60)).await;
    assert_eq!(sum(&recent), (2, 0, 1), "the first minute is still shown");
    let recent = stage.recent(after(60 * 60)).await;
    assert_eq!(sum(&recent), (0, 0, 0), "it is no more");
    let recent = stage.recent(after(2 * 3600 + 30)).await;
    assert_eq!(sum(&recent), (1, 1, 0));
    let chat = health(&recent, "chat");
    assert_eq!((chat.delivered, chat.failed), (1, 0));
}

pub async fn a_destinations_attempts_and_answer_times_are_its_own<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    for (n, millis) in (0_u64..).zip([4, 18, 18, 18, 18, 90, 90, 90, 90, 2500]) {
        let to = stage.one("shop", &n.to_string(), "chat", START).await;
        let next = Next::Delivered;
        stage
            .keep(&to, START, |a| answered_in(a, START, millis), next)
            .await;
    }
    let silent = stage.one("shop", "silent", "crm", START).await;
    stage
        .keep(&silent, START, |a| unanswered(a, START), DEAD)
        .await;
    let slow = stage.one("shop", "slow", "warehouse", START).await;
    stage
        .keep(
            &slow,
            START,
            |a| answered_in(a, START, 12_000),
            Next::Delivered,
        )
        .await;

    let recent = stage.recent(after(15)).await;
    let within = |ms| Some(Bound { ms, or_more: false });
    let chat = health(&recent, "chat");
    assert_eq!((chat.delivered, chat.failed), (10, 0));
    assert_eq!((chat.p50_ms, chat.p95_ms), (within(20), within(3000)));
    let crm = health(&recent, "crm");
    assert_eq!((crm.delivered, crm.failed), (0, 1));
    assert_eq!(crm.p50_ms, None, "nobody answered");
    let more = Some(Bound {
        ms: 10_000,
        or_more: true,
    });
    assert_eq!(health(&recent, "warehouse").p95_ms, more);
}

pub async fn an_attempt_that_is_recorded_twice_counts_once<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let followed = stage.one("shop", "1", "chat", START).await;
    let first = stage
        .fail(&followed.key, START, Next::Waiting(after(2)))
        .await;
    let again = rejected(&first, START);
    let recorded = stage.record(&first, &again, Next::Waiting(after(2))).await;
    assert_eq!(recorded, Recorded::Stale);
    let second = stage.deliver(&followed, after(2)).await;
    let again = delivered(&second, after(2));
    let recorded = stage.record(&second, &again, Next::Delivered).await;
    assert_eq!(recorded, Recorded::Stale);
    let recent = stage.recent(after(9)).await;
    assert_eq!(sum(&recent), (1, 1, 1));
}

pub async fn the_last_failure_is_told_however_long_ago<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let followed = stage.one("shop", "1", "chat", START).await;
    stage
        .fail(&followed.key, START, Next::Waiting(after(2)))
        .await;
    let silent = |attempt: &Attempt| unanswered(attempt, after(2));
    let next = Next::Waiting(after(9));
    stage.keep(&followed, after(2), silent, next).await;
    stage.deliver(&followed, after(9)).await;
    let fine = stage.one("shop", "2", "crm", START).await;
    stage.deliver(&fine, START).await;
    let expected = LastFailure {
        at: after(5),
        why: "no answer in time".to_owned(),
    };
    let recent = stage.recent(after(3 * 86_400)).await;
    let told = health(&recent, "chat").last_failure.clone();
    assert_eq!(told, Some(expected.clone()));
    let crm = recent.destinations.get(&destination("crm"));
    assert_eq!(crm.and_then(|health| health.last_failure.clone()), None);
    let delivered = |to| health(&recent, to).last_delivered;
    let ended = |start: Timestamp| Some(start.plus(Duration::from_millis(7)));
    assert_eq!(delivered("chat"), ended(after(9)));
    assert_eq!(delivered("crm"), ended(START));
    let stage = stage.reopened().await;
    let recent = stage.recent(after(3 * 86_400)).await;
    assert_eq!(health(&recent, "chat").last_failure, Some(expected));
    // One that is recorded late, and was earlier, is not the last.
    let old = stage.one("shop", "3", "chat", START).await;
    stage.fail(&old.key, START, DEAD).await;
    let recent = stage.recent(after(3 * 86_400)).await;
    let last = health(&recent, "chat").last_failure.clone();
    assert_eq!(last.map(|failure| failure.at), Some(after(5)));
    // What a clock told that was ahead does not hide what comes.
    let wrong = after(400 * 86_400);
    let ahead = stage.one("shop", "ahead", "chat", wrong).await;
    stage.fail(&ahead.key, wrong, DEAD).await;
    let recent = stage.recent(after(60)).await;
    let shown = health(&recent, "chat").last_failure.clone();
    assert!(shown.is_none_or(|failure| failure.at < after(60)));
    // A status stands for the answer, whose words are the destination's.
    let next = stage.one("shop", "4", "chat", after(60)).await;
    stage.fail(&next.key, after(60), DEAD).await;
    let recent = stage.recent(after(61)).await;
    let last = health(&recent, "chat").last_failure.clone();
    let last = last.expect("one");
    assert_eq!(last.why, "answer 500");
    assert!(last.at < after(61), "{}", last.at);
}

pub async fn when_something_last_came_from_a_source_is_told<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let first = event("shop", "1", START);
    stage.accept(&first, &[]).await;
    stage.accept(&event("shop", "2", after(7)), &[]).await;
    stage.accept(&event("shop", "3", after(5)), &[]).await;
    stage.accept(&again_at(&first, after(50)), &[]).await;
    stage.accept(&event("code", "1", after(1)), &[]).await;
    for (at, listed) in [(3, true), (8, false), (6, true)] {
        let note = Note::Refused {
            source: source("shop"),
            listed: listed.then(|| refusal("wrong")),
        };
        stage.note(after(at), note).await;
    }
    let note = Note::Declined {
        source: Some(source("code")),
        cause: Cause::TooLarge,
        listed: None,
    };
    stage.note(after(9), note).await;
    let mut stage = stage;
    for _ in 0..2 {
        let recent = stage.recent(after(86_400)).await;
        let shop = source_of(&recent, "shop");
        assert_eq!(shop.last_event, Some(after(7)), "not the repeat");
        assert_eq!(shop.last_refusal, Some(after(8)), "listed or not");
        let code = source_of(&recent, "code");
        assert_eq!(code.last_event, Some(after(1)));
        assert_eq!(code.last_refusal, None, "declined is not refused");
        assert_eq!(source_of(&recent, "forms"), SourceHealth::default());
        stage = stage.reopened().await;
    }
}

pub async fn the_oldest_that_waits_is_told_where_it_is_known<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let first = stage.one("shop", "1", "chat", START).await;
    stage
        .fail(&first.key, START, Next::Waiting(after(40)))
        .await;
    let second = stage.one("shop", "2", "chat", START).await;
    stage
        .fail(&second.key, START, Next::Waiting(after(20)))
        .await;
    let recent = stage.recent(after(60)).await;
    let chat = health(&recent, "chat");
    let known = chat.oldest_due;
    assert!(known.is_none_or(|due| due == after(20)), "{known:?}");
    assert!(chat.in_flight.is_none_or(|count| count == 0));
    stage.deliver(&second, after(20)).await;
    stage.deliver(&first, after(40)).await;
    let recent = stage.recent(after(60)).await;
    assert_eq!(health(&recent, "chat").oldest_due, None, "nothing waits");
}

pub async fn the_hour_survives_reopening<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let followed = stage.one("shop", "1", "chat", START).await;
    stage
        .fail(&followed.key, START, Next::Waiting(after(70)))
        .await;
    stage.deliver(&followed, after(70)).await;
    let before = stage.recent(after(80)).await;
    assert_eq!(sum(&before), (1, 1, 1));
    let stage = stage.reopened().await;
    assert_eq!(stage.recent(after(80)).await, before);
}
