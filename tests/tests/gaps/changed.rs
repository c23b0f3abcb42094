//! What an operator sets, asked for again until it is answered: a hold and its release, your endpoint, the configuration; and
//! a test delivery, of which nothing is kept.

use std::ops::RangeInclusive;
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_core::delivery::State;
use switchboard_core::names::DestinationName;
use switchboard_core::ports::{SettingsStore, Views};
use switchboard_core::views::Totals;
use switchboard_tests::board::Board;

use crate::call::Plan;
use crate::fault::Fault;
use crate::kept::{self, Kept};
use crate::mapping;
use crate::operated::{ask, operators};
use crate::promises::{
    assert_ended, assert_ended_beside_others, assert_totals, end_of, unfinished,
};
use crate::scene::{Patience, board, configuration, event, send};
use crate::stories::tell_all;
use crate::watched::{Heard, Watched};

/// When the keeper looks at a delivery that was put back just now.
const PAST_THE_LOOK: Duration = Duration::from_mins(4);

/// How many released deliveries may wait and have no hint, when a call of the status function suffered this.
fn left_without_hint(plan: Option<&Plan>) -> RangeInclusive<usize> {
    let is_lost = |plan: &Plan| match plan.fault {
        Fault::Lost | Fault::Away | Fault::Broken | Fault::Throttled | Fault::DiesBefore => {
            plan.is("SendMessageBatch", "board-deliveries")
        }
        Fault::EntriesFailed => true,
        Fault::DiesBehind => plan.is_before("SendMessageBatch", "board-deliveries"),
        // It is not known that it was moved, so nobody sends its hint.
        Fault::AnswersLost => plan.is("UpdateItem", "E/D"),
        Fault::AnswerLost
        | Fault::Doubled
        | Fault::Late
        | Fault::EntryFailed
        | Fault::KeysUnprocessed => false,
    };
    let left = usize::from(plan.is_some_and(is_lost));
    left..=left
}

/// A destination is held, gets an event, and is released.
pub(crate) async fn held(plan: Option<Plan>) -> Heard {
    let board = board(&["good"]).await;
    let good = json!({ "destination": "good" });
    let mut status = operators(&board, plan.clone()).await;
    let hold = ("POST", "/admin/hold", &good);
    ask(&mut status, hold, |said| said["held"] == "good").await;
    let mut ingress = Watched::new(&board, "ingress", None);
    let told = send(&mut ingress, "1", Patience::Patient).await;
    let mut worker = Watched::new(&board, "worker", None);
    mapping::run(&board, &mut worker, 1).await;
    let stored = event(&board, "1").await.expect("it is stored");
    assert_ended(&board, &stored, |_| (State::Held, 0));

    let release = ("POST", "/admin/release", &good);
    ask(&mut status, release, |said| said["left"] == 0).await;
    status.quiet().await;
    status.assert_hit();
    mapping::run(&board, &mut worker, 1).await;
    let left = unfinished(event(&board, "1").await.as_ref());
    let may_be_left = left_without_hint(plan.as_ref());
    assert!(may_be_left.contains(&left), "{left} without the keeper");
    if left > 0 {
        let kept = kept::a_run_from_now(&board, PAST_THE_LOOK).await;
        let expected = Kept {
            overdue: left as u64,
            ..Kept::NOTHING
        };
        assert_eq!(kept, expected);
        mapping::run(&board, &mut worker, 1).await;
    }
    let stored = event(&board, "1").await.expect("it is stored");
    assert_ended(&board, &stored, end_of);
    assert_totals(&board, vec!["1"], told).await;
    let settings = board.aws.settings().await.expect("settings");
    assert!(settings.held.is_empty(), "{settings:?}");
    status.heard()
}

/// Your endpoint is set, given another secret, and cleared while a copy is open.
pub(crate) async fn endpoint(plan: Option<Plan>) -> Heard {
    let board = board(&["good"]).await;
    let mut status = operators(&board, plan).await;
    let url = json!({ "url": board.sink.url("/yours") });
    let set = ("PUT", "/admin/endpoint", &url);
    ask(&mut status, set, |said| said["url"].is_string()).await;
    let rotate = ("POST", "/admin/endpoint/rotate", &Value::Null);
    let said = ask(&mut status, rotate, |said| said["secret"].is_string()).await;
    status.quiet().await;
    let settings = board.aws.settings().await.expect("settings");
    let endpoint = settings.endpoint.as_ref().expect("it is set");
    let secret = endpoint.secret.expose();
    assert_eq!(said["secret"], secret, "what was shown last counts");

    let mut ingress = Watched::new(&board, "ingress", None);
    send(&mut ingress, "1", Patience::Patient).await;
    let clear = ("DELETE", "/admin/endpoint", &Value::Null);
    ask(&mut status, clear, |said| said["left"] == 0).await;
    status.quiet().await;
    status.assert_hit();
    let settings = board.aws.settings().await.expect("settings");
    assert!(settings.endpoint.is_none(), "it is cleared");
    let mut worker = Watched::new(&board, "worker", None);
    mapping::run(&board, &mut worker, 1).await;
    let stored = event(&board, "1").await.expect("it is stored");
    let yours = DestinationName::your_endpoint();
    let others = assert_ended_beside_others(&board, &stored, |to| {
        if to == yours.as_str() {
            (State::Dead, 0)
        } else {
            end_of(to)
        }
    });
    assert!(others.is_empty(), "no copy was sent: {others:?}");
    status.heard()
}

/// A configuration is read and another one applied.
pub(crate) async fn applied(plan: Option<Plan>) -> Heard {
    let board = board(&["good"]).await;
    let mut status = operators(&board, plan).await;
    let read = ("GET", "/admin/configuration", &Value::Null);
    let said = ask(&mut status, read, |said| said["version"].is_u64()).await;
    assert_eq!(said["version"], 1, "{said}");
    assert_eq!(said["configuration"], configuration(&board, &["good"]));
    let text = configuration(&board, &["good", "flaky"]);
    let body = json!({ "configuration": text, "version": 1 });
    let apply = ("PUT", "/admin/configuration", &body);
    let said = ask(&mut status, apply, |said| said["version"].is_u64()).await;
    assert_eq!(said["version"], 2, "once, however often it was asked for");
    status.quiet().await;
    status.assert_hit();
    let said = ask(&mut status, read, |said| said["version"] == 2).await;
    assert_eq!(said["configuration"], text);
    status.heard()
}

/// A test delivery: every one that is answered was made, and none is kept.
pub(crate) async fn tested(plan: Option<Plan>) -> Heard {
    let board = board(&["good"]).await;
    let mut status = operators(&board, plan).await;
    let good = json!({ "destination": "good" });
    let test = ("POST", "/admin/test", &good);
    let said = ask(&mut status, test, |said| said["outcome"] == "delivered").await;
    assert_eq!(said["status"], 200, "{said}");
    status.assert_hit();
    assert!(!board.sink.received().is_empty(), "it was made");
    assert_nothing_kept(&board).await;
    status.heard()
}

async fn assert_nothing_kept(board: &Board) {
    assert!(board.stored().await.is_empty(), "no event");
    let totals = board.aws.overview().await.expect("totals").totals;
    assert_eq!(totals, Totals::default());
}

#[tokio::test]
async fn whatever_a_call_of_the_status_function_suffers_what_was_held_is_released_by_asking_again()
{
    let calls = Box::pin(held(None)).await.calls;
    tell_all(Plan::all_of(&calls), |plan| async {
        Box::pin(held(Some(plan))).await;
    })
    .await;
}

#[tokio::test]
async fn whatever_a_call_of_the_status_function_suffers_your_endpoint_has_the_secret_shown_last() {
    let calls = Box::pin(endpoint(None)).await.calls;
    tell_all(Plan::all_of(&calls), |plan| async {
        Box::pin(endpoint(Some(plan))).await;
    })
    .await;
}

#[tokio::test]
async fn whatever_a_call_of_the_status_function_suffers_a_configuration_is_applied_once() {
    let calls = Box::pin(applied(None)).await.calls;
    tell_all(Plan::all_of(&calls), |plan| async {
        Box::pin(applied(Some(plan))).await;
    })
    .await;
}

#[tokio::test]
async fn whatever_a_call_of_the_status_function_suffers_a_test_delivery_leaves_nothing() {
    let calls = Box::pin(tested(None)).await.calls;
    tell_all(Plan::all_of(&calls), |plan| async {
        Box::pin(tested(Some(plan))).await;
    })
    .await;
}
