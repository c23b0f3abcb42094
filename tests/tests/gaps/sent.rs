//! An event is sent: whatever becomes of any call that the ingress makes, what was answered 200 is delivered or listed.

use std::time::Duration;

use switchboard_tests::board::Board;

use crate::call::{Call, Plan};
use crate::fault::Fault;
use crate::kept::{self, Kept};
use crate::mapping;
use crate::promises::{assert_ended, assert_totals, end_of, unfinished};
use crate::scene::{Patience, Told, board, event, send};
use crate::stories::tell_all;
use crate::watched::Watched;

/// The queue of deliveries, as its calls name it.
const DELIVERIES: &str = "board-deliveries";
const TO: [&str; 3] = ["good", "flaky", "bad"];
/// When the keeper walks past an event that was stored just now.
const PAST_THE_WALK: Duration = Duration::from_mins(4);

/// How many deliveries no hint is left of, when a call of the ingress suffered this: only then is the keeper needed.
fn left_without_hint(plan: Option<&Plan>) -> u64 {
    let Some(plan) = plan else {
        return 0;
    };
    let all = TO.len() as u64;
    if plan.is("SendMessageBatch", DELIVERIES) {
        return match plan.fault {
            Fault::Lost | Fault::Away | Fault::Broken | Fault::Throttled | Fault::DiesBefore => all,
            Fault::EntriesFailed => 1,
            Fault::AnswersLost
            | Fault::AnswerLost
            | Fault::Doubled
            | Fault::Late
            | Fault::EntryFailed
            | Fault::KeysUnprocessed
            | Fault::DiesBehind => 0,
        };
    }
    // The event is stored, and nobody who knows that comes to its hints.
    let is_stored = matches!(plan.fault, Fault::AnswersLost | Fault::DiesBehind);
    if plan.is_before("SendMessageBatch", DELIVERIES) && is_stored {
        return all;
    }
    0
}

/// An event is posted, and posted once more when its sender knows that it is stored; all is delivered, and the keeper comes
/// only where it has to.
async fn story(patience: Patience, plan: Option<Plan>) -> Vec<Call> {
    let board = board(&TO).await;
    let mut ingress = Watched::new(&board, "ingress", plan.clone());
    let mut told = send(&mut ingress, "1", patience).await;
    if told.is_promised() {
        let again = send(&mut ingress, "1", patience).await;
        assert_eq!(again.accepted, 0, "it was stored before");
        told = Told {
            posts: told.posts + again.posts,
            repeats: told.repeats + again.repeats,
            ..told
        };
    }
    ingress.quiet().await;
    ingress.assert_hit();
    let mut worker = Watched::new(&board, "worker", None);
    mapping::run(&board, &mut worker, 1).await;
    let left = left_without_hint(plan.as_ref());
    let stored = event(&board, "1").await;
    assert_eq!(
        unfinished(stored.as_ref()) as u64,
        left,
        "without the keeper"
    );
    if left > 0 {
        let kept = kept::a_run_from_now(&board, PAST_THE_WALK).await;
        let expected = Kept {
            without_record: left,
            ..Kept::NOTHING
        };
        assert_eq!(kept, expected);
        mapping::run(&board, &mut worker, 1).await;
    }
    end(&board, told).await;
    ingress.calls()
}

async fn end(board: &Board, told: Told) {
    let stored = event(board, "1").await;
    if let Some(stored) = &stored {
        assert_ended(board, stored, end_of);
    } else {
        assert!(!told.is_promised(), "what is answered 200 is stored");
        assert!(board.sink.received().is_empty(), "nothing is sent of it");
    }
    assert_totals(board, vec!["1"], told).await;
}

#[tokio::test]
async fn whatever_a_call_of_the_ingress_suffers_a_patient_senders_event_is_delivered_or_listed() {
    let calls = story(Patience::Patient, None).await;
    tell_all(Plan::all_of(&calls), |plan| async {
        story(Patience::Patient, Some(plan)).await;
    })
    .await;
}

#[tokio::test]
async fn whatever_a_call_of_the_ingress_suffers_what_is_stored_is_delivered_though_nobody_posts_it_again()
 {
    let calls = story(Patience::Careless, None).await;
    tell_all(Plan::all_of(&calls), |plan| async {
        story(Patience::Careless, Some(plan)).await;
    })
    .await;
}
