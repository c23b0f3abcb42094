//! Deliveries are attempted: whatever becomes of any call that the worker makes, the queue's own redelivery is enough, but
//! for a hint that was not sent behind its record.

use std::time::Duration;

use switchboard_tests::board::Board;

use crate::call::{Call, Plan};
use crate::fault::Fault;
use crate::kept::{self, Kept};
use crate::mapping;
use crate::promises::{End, assert_ended, assert_totals, end_of, unfinished};
use crate::scene::{Patience, Told, board, event, send};
use crate::stories::tell_all;
use crate::watched::Watched;

const TO: [&str; 3] = ["good", "flaky", "bad"];
/// When the keeper looks at a delivery whose next attempt was due just now.
const PAST_THE_LOOK: Duration = Duration::from_mins(4);

/// Whether a record is written and this is not sent that follows upon it: the worker died in between, or the queue was away.
fn is_not_followed_by(plan: Option<&Plan>, operation: &str, queue: &str) -> bool {
    plan.is_some_and(|plan| match plan.fault {
        // It is tried three times: the fourth lost call is another delivery's.
        Fault::DiesBefore | Fault::Away => plan.is(operation, queue),
        Fault::DiesBehind => plan.is_before(operation, queue),
        Fault::Lost
        | Fault::Broken
        | Fault::Throttled
        | Fault::AnswersLost
        | Fault::AnswerLost
        | Fault::Doubled
        | Fault::Late
        | Fault::EntriesFailed
        | Fault::EntryFailed
        | Fault::KeysUnprocessed => false,
    })
}

async fn story(plan: Option<Plan>) -> Vec<Call> {
    let board = board(&TO).await;
    let mut ingress = Watched::new(&board, "ingress", None);
    let told = send(&mut ingress, "1", Patience::Patient).await;
    let mut worker = Watched::new(&board, "worker", plan.clone());
    mapping::run(&board, &mut worker, 1).await;
    worker.assert_hit();
    let left = is_not_followed_by(plan.as_ref(), "SendMessageBatch", "board-deliveries");
    let stored = event(&board, "1").await;
    assert_eq!(
        unfinished(stored.as_ref()),
        usize::from(left),
        "without the keeper"
    );
    if left {
        let kept = kept::a_run_from_now(&board, PAST_THE_LOOK).await;
        let expected = Kept {
            overdue: 1,
            ..Kept::NOTHING
        };
        assert_eq!(kept, expected);
        mapping::run(&board, &mut worker, 1).await;
    }
    assert_end(&board, told, plan.as_ref(), end_of).await;
    worker.calls()
}

/// All has ended as it should and is counted, and the death has its ticket, unless the worker did not come to it.
pub(crate) async fn assert_end(
    board: &Board,
    told: Told,
    plan: Option<&Plan>,
    end: impl Fn(&str) -> End,
) {
    let stored = event(board, "1").await.expect("it is stored");
    assert_ended(board, &stored, end);
    assert_totals(board, vec!["1"], told).await;
    let tickets = mapping::waiting(board, &board.place.dead_letters).await;
    let is_without = is_not_followed_by(plan, "SendMessage", "board-dead-letters");
    assert_eq!(tickets == 0, is_without, "{tickets} tickets");
}

#[tokio::test]
async fn whatever_a_call_of_the_worker_suffers_every_delivery_ends_with_its_full_number_of_attempts()
 {
    let calls = story(None).await;
    tell_all(Plan::all_of_worker(&calls), |plan| async {
        story(Some(plan)).await;
    })
    .await;
}
