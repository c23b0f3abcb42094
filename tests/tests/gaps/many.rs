//! An event for more destinations than one request to the queue takes hints: whatever becomes of a call or of single entries of
//! it, what was answered 200 is delivered.

use std::ops::RangeInclusive;
use std::time::Duration;

use crate::call::{Call, Plan};
use crate::fault::Fault;
use crate::kept::{self, Kept};
use crate::mapping;
use crate::promises::{assert_ended, assert_totals, end_of, unfinished};
use crate::scene::{Patience, board, event, send};
use crate::stories::tell_all;
use crate::watched::Watched;

/// Two more than one request takes; all of them take every attempt.
const TO: [&str; 12] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"];
/// What the first request takes, and the second.
const FIRST: usize = 10;
const SECOND: usize = 2;
const PAST_THE_WALK: Duration = Duration::from_mins(4);

/// How many deliveries no hint is left of, when a request to the queue suffered this and nobody posts the event again.
fn left_without_hint(plan: Option<&Plan>) -> RangeInclusive<usize> {
    let Some(plan) = plan else {
        return 0..=0;
    };
    let is_first = plan.call.nth == 1;
    // What comes behind a request that failed is not asked for.
    let (of_it, behind) = if is_first {
        (FIRST, SECOND)
    } else {
        (SECOND, 0)
    };
    let left = match plan.fault {
        Fault::Lost | Fault::Away | Fault::Broken | Fault::Throttled | Fault::DiesBefore => {
            of_it + behind
        }
        // The entry that failed is sent once more, and fails again.
        Fault::EntriesFailed => 1 + behind,
        Fault::AnswersLost | Fault::DiesBehind => behind,
        Fault::AnswerLost
        | Fault::Doubled
        | Fault::Late
        | Fault::EntryFailed
        | Fault::KeysUnprocessed => 0,
    };
    left..=left
}

async fn story(patience: Patience, plan: Option<Plan>) -> Vec<Call> {
    let board = board(&TO).await;
    let mut ingress = Watched::new(&board, "ingress", plan.clone());
    let told = send(&mut ingress, "1", patience).await;
    ingress.quiet().await;
    ingress.assert_hit();
    let mut worker = Watched::new(&board, "worker", None);
    mapping::run(&board, &mut worker, 10).await;
    let stored = event(&board, "1").await;
    let left = unfinished(stored.as_ref());
    let may_be_left = left_without_hint(plan.as_ref());
    assert!(may_be_left.contains(&left), "{left} without the keeper");
    if left > 0 {
        let kept = kept::a_run_from_now(&board, PAST_THE_WALK).await;
        let expected = Kept {
            without_record: left as u64,
            ..Kept::NOTHING
        };
        assert_eq!(kept, expected);
        mapping::run(&board, &mut worker, 10).await;
    }
    let stored = event(&board, "1").await.expect("it is stored");
    assert_ended(&board, &stored, end_of);
    assert_totals(&board, vec!["1"], told).await;
    ingress.calls()
}

#[tokio::test]
async fn whatever_hints_of_an_event_for_many_suffer_every_one_of_them_is_delivered() {
    let calls = Box::pin(story(Patience::Careless, None)).await;
    let mut plans = Plan::all_of(&calls);
    plans.retain(|plan| plan.is("SendMessageBatch", "board-deliveries"));
    let seconds = plans.iter().filter(|plan| plan.call.nth == 2).count();
    assert!(seconds > 0, "there is a second request: {calls:?}");
    tell_all(plans, |plan| async {
        Box::pin(story(Patience::Careless, Some(plan))).await;
    })
    .await;
}
