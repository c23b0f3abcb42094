//! `Ledger::record`: an attempt and its consequence are kept once, whoever records them again.
//!
//! Taken to mean: a failure recorded again is `Stale` also when it differs from the first, and is not listed. A
//! first failure that comes while its delivery is held leaves it open (held or waiting), unless it is the round's last;
//! one that comes while it is dead is not asked about.
//! A log lists attempts from the oldest to the newest.

use switchboard_core::attempt::Attempt;
use switchboard_core::delivery::{AttemptRecord, DeathReason, KEPT_ATTEMPTS, Next, State, Verdict};
use switchboard_core::ports::{Begun, Hint, Ledger, Recorded, Selection};
use switchboard_core::time::Timestamp;
use switchboard_core::views::death_line;

use super::fixture::Fixture;
use super::sample::{KEEP, START, after, delivered, event, hint, rejected, unanswered};
use super::stage::{Followed, Stage, sure};

const DEAD: Next = Next::Dead(DeathReason::AttemptsUsedUp);

pub async fn a_failure_waits_for_its_due_time<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let followed = stage.one("shop", "1001", "chat", START).await;
    let due = Timestamp::from_millis(START.millis() + 2_391);
    let first = stage.go(&followed.key, START).await;
    let record = unanswered(&first, after(1));
    let recorded = stage.record(&first, &record, Next::Waiting(due)).await;
    assert_eq!(recorded, Recorded::First);
    let view = stage.view(&followed).await;
    assert_eq!((view.state, view.due), (State::Waiting, Some(due)));
    assert_eq!((view.attempts, view.reason), (1, None));
    assert_eq!(view.log, [record], "the attempt as it was recorded");
    let begun = stage.begin(&hint(&followed.key, due), after(2)).await;
    assert_eq!(begun, Begun::Later(due));
    let totals = stage.totals().await;
    assert_eq!((totals.waiting, totals.delivered, totals.dead), (1, 0, 0));
}

pub async fn a_success_is_delivered<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let followed = stage.one("shop", "1001", "chat", START).await;
    stage
        .fail(&followed.key, START, Next::Waiting(after(2)))
        .await;
    stage.deliver(&followed, after(2)).await;
    let view = stage.view(&followed).await;
    assert_eq!((view.state, view.due), (State::Delivered, None));
    assert_eq!((view.attempts, view.reason), (2, None));
    let verdicts: Vec<_> = view.log.iter().map(|r| (r.number, r.outcome)).collect();
    assert_eq!(verdicts, [(1, Verdict::Rejected), (2, Verdict::Delivered)]);
    let totals = stage.totals().await;
    assert_eq!((totals.waiting, totals.delivered), (0, 1));
}

pub async fn the_last_failure_of_a_round_makes_a_dead_letter<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let followed = stage.one("shop", "1001", "chat", START).await;
    let died = stage.use_up(&followed, START).await;
    let view = stage.view(&followed).await;
    assert_eq!(
        (view.state, view.due, view.attempts),
        (State::Dead, None, 6)
    );
    let reason = view.reason.expect("a dead letter has a reason");
    assert!(reason.starts_with("attempts used up"), "{reason}");

    let letters = stage.dead_letters().await;
    let [letter] = letters.as_slice() else {
        panic!("one dead letter, not {letters:?}");
    };
    assert_eq!(letter.delivery, followed.key.id);
    assert_eq!(letter.event, followed.event.id);
    assert_eq!(letter.source, followed.event.source);
    assert_eq!(letter.kind, followed.event.kind);
    assert_eq!(letter.destination, followed.key.destination);
    assert_eq!(letter.action, followed.key.action);
    assert_eq!(letter.attempts, 6);
    let line = death_line(DeathReason::AttemptsUsedUp, view.log.last());
    assert_eq!(letter.reason, line);
    assert!(letter.at >= died && letter.at <= died.plus(std::time::Duration::from_secs(1)));
    assert_eq!(letter.kept_until, KEEP.until_when_dead(START));
    let totals = stage.totals().await;
    assert_eq!((totals.waiting, totals.dead), (0, 1));
}

/// Records `record` again, which must change nothing.
async fn stays<F: Fixture>(
    stage: &Stage<F>,
    followed: &Followed,
    attempt: &Attempt,
    record: &AttemptRecord,
    next: Next,
) {
    let before = (stage.view(followed).await, stage.totals().await);
    let recorded = stage.record(attempt, record, next).await;
    assert_eq!(recorded, Recorded::Stale, "attempt {}", attempt.number);
    let now = (stage.view(followed).await, stage.totals().await);
    assert_eq!(now, before, "a stale record moves nothing");
}

pub async fn the_same_attempt_recorded_again_is_stale<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let followed = stage.one("shop", "1001", "chat", START).await;
    let waiting = Next::Waiting(after(2));
    let first = stage.fail(&followed.key, START, waiting).await;
    stays(&stage, &followed, &first, &rejected(&first, START), waiting).await;
    let other = unanswered(&first, after(1));
    stays(&stage, &followed, &first, &other, Next::Waiting(after(3))).await;
    stays(&stage, &followed, &first, &other, DEAD).await;

    let second = stage.fail(&followed.key, after(2), DEAD).await;
    stays(
        &stage,
        &followed,
        &second,
        &rejected(&second, after(2)),
        DEAD,
    )
    .await;
    stays(
        &stage,
        &followed,
        &second,
        &unanswered(&second, after(2)),
        Next::Waiting(after(9)),
    )
    .await;

    let good = stage.one("shop", "1002", "chat", START).await;
    let only = stage.deliver(&good, START).await;
    stays(
        &stage,
        &good,
        &only,
        &delivered(&only, START),
        Next::Delivered,
    )
    .await;
    stays(&stage, &good, &only, &rejected(&only, START), waiting).await;
    stays(&stage, &good, &only, &rejected(&only, START), DEAD).await;
}

pub async fn a_failure_of_an_older_attempt_is_stale<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let followed = stage.one("shop", "1001", "chat", START).await;
    let first = stage
        .fail(&followed.key, START, Next::Waiting(after(2)))
        .await;
    let second = stage
        .fail(&followed.key, after(2), Next::Waiting(after(6)))
        .await;
    let late = unanswered(&first, after(3));
    stays(&stage, &followed, &first, &late, Next::Waiting(after(4))).await;
    stays(&stage, &followed, &first, &late, DEAD).await;
    let third = stage.fail(&followed.key, after(6), DEAD).await;
    stage.requeue(&Selection::AllDead, after(50), 9).await;
    for (attempt, old) in [(&first, START), (&second, after(2)), (&third, after(6))] {
        stays(&stage, &followed, attempt, &rejected(attempt, old), DEAD).await;
        let next = Next::Waiting(after(60));
        stays(&stage, &followed, attempt, &rejected(attempt, old), next).await;
    }
    assert_eq!(stage.go(&followed.key, after(50)).await.number, 4);
}

/// Records attempt 1 twenty times at once; how many of them were the first.
async fn twenty_at_once<F: Fixture>(stage: &Stage<F>, followed: &Followed, next: Next) -> usize {
    let attempt = stage.go(&followed.key, START).await;
    let answers = stage
        .at_once(20, move |backend, n| {
            let attempt = attempt.clone();
            async move {
                let at = after(u64::from(n));
                let record = match next {
                    Next::Delivered => delivered(&attempt, at),
                    Next::Waiting(_) | Next::Dead(_) => rejected(&attempt, at),
                };
                sure(backend.record(&attempt, &record, next, KEEP).await)
            }
        })
        .await;
    answers.iter().filter(|a| **a == Recorded::First).count()
}

pub async fn of_twenty_records_at_once_one_is_the_first<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let cases = [
        ("a", Next::Waiting(after(2)), State::Waiting),
        ("b", DEAD, State::Dead),
        ("c", Next::Delivered, State::Delivered),
    ];
    for (to, next, state) in cases {
        let followed = stage.one("shop", to, to, START).await;
        let firsts = twenty_at_once(&stage, &followed, next).await;
        assert_eq!(firsts, 1, "{next:?}");
        let view = stage.view(&followed).await;
        assert_eq!((view.state, view.attempts), (state, 1));
        if next != Next::Delivered {
            assert_eq!(view.log.len(), 1, "one attempt was made");
        }
    }
    let totals = stage.totals().await;
    assert_eq!((totals.waiting, totals.dead, totals.delivered), (1, 1, 1));
}

pub async fn the_last_twelve_attempts_are_kept<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let followed = stage.one("shop", "1001", "chat", START).await;
    let mut due = START;
    for round in 1..=3 {
        let died = stage.use_up(&followed, due).await;
        due = died.plus(std::time::Duration::from_mins(1));
        let view = stage.view(&followed).await;
        assert_eq!(view.attempts, round * 6);
        let last = view.attempts;
        let kept = u32::try_from(KEPT_ATTEMPTS).expect("a small number");
        let numbers: Vec<_> = view.log.iter().map(|record| record.number).collect();
        let expected: Vec<_> = (last.saturating_sub(kept) + 1..=last).collect();
        assert_eq!(numbers, expected, "after round {round}");
        stage.requeue(&Selection::AllDead, due, 9).await;
    }
    assert_eq!(stage.go(&followed.key, due).await.number, 19);
}

pub async fn an_attempt_under_way_while_its_delivery_was_held_is_kept<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let cases = [
        (
            "a",
            Next::Waiting(after(2)),
            &[State::Held, State::Waiting][..],
        ),
        ("b", DEAD, &[State::Dead]),
        ("c", Next::Delivered, &[State::Delivered]),
    ];
    for (to, next, states) in cases {
        let followed = stage.one("shop", to, to, START).await;
        let attempt = stage.go(&followed.key, START).await;
        assert_eq!(stage.hold(to, START).await.done, 1);
        let record = match next {
            Next::Delivered => delivered(&attempt, START),
            Next::Waiting(_) | Next::Dead(_) => rejected(&attempt, START),
        };
        let recorded = stage.record(&attempt, &record, next).await;
        assert_eq!(recorded, Recorded::First, "{next:?}");
        let view = stage.view(&followed).await;
        assert!(states.contains(&view.state), "{next:?}: {:?}", view.state);
        assert_eq!((view.attempts, &view.log), (1, &vec![record.clone()]));
        let again = stage.record(&attempt, &record, next).await;
        assert_eq!(again, Recorded::Stale, "{next:?}");
    }
    stage.let_go("a").await;
    stage.release("a", after(9), 9).await;
    let of_a = event("shop", "a", START).id;
    let waiting = stage.stored(&of_a).await.deliveries;
    let [waiting] = waiting.as_slice() else {
        panic!("one planned");
    };
    let due = waiting.due.expect("it goes on");
    let begun = Hint {
        event: of_a,
        delivery: waiting.delivery.clone(),
        due,
    };
    let Begun::Go(second) = stage.begin(&begun, due).await else {
        panic!("it is due");
    };
    assert_eq!((second.number, second.in_round), (2, 2));
}

pub async fn one_delivery_moves_alone<F: Fixture>(fixture: F) {
    let stage = Stage::open(fixture).await;
    let all = stage.several("chat", 3, START).await;
    let [first, second, third] = all.as_slice() else {
        panic!("three");
    };
    stage.deliver(second, START).await;
    assert_eq!(stage.state(first).await, State::Waiting);
    assert_eq!(stage.state(second).await, State::Delivered);
    stage.fail(&first.key, START, Next::Waiting(after(2))).await;
    assert_eq!(stage.view(third).await.due, Some(START));
    assert_eq!(stage.view(third).await.attempts, 0);
}
