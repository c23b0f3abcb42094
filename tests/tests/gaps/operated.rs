//! Dead letters are redriven by an operator who asks again until he is answered that none is left: all of them, those that
//! he names, or those of one destination after the other.

use std::ops::RangeInclusive;
use std::time::Duration;

use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue};
use serde_json::{Value, json};
use switchboard_core::delivery::State;
use switchboard_core::views::EventView;
use switchboard_tests::board::{Board, TOKEN};
use switchboard_tests::gateway::{asked, plain};
use switchboard_tests::wait;

use crate::call::Plan;
use crate::fault::Fault;
use crate::kept::{self, Kept};
use crate::mapping;
use crate::promises::{End, assert_ended, assert_totals, unfinished};
use crate::scene::{Patience, board, event, send, status};
use crate::stories::tell_all;
use crate::watched::{Heard, Watched};

const TO: [&str; 2] = ["mended", "bad"];
/// When the keeper looks at a delivery that was put back just now.
const PAST_THE_LOOK: Duration = Duration::from_mins(4);
/// How often an operator asks, and how long he waits in between.
const ASKS: usize = 40;
const BETWEEN: Duration = Duration::from_millis(250);

/// How an operator says which dead letters he means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Named {
    /// All of them.
    All,
    /// By what they are.
    Each,
    /// By their destinations, one after the other.
    Destinations,
}

impl Named {
    /// What he asks for one after the other.
    fn requests(self, dead: &EventView) -> Vec<Value> {
        match self {
            Self::All => vec![json!({ "all": true })],
            Self::Each => {
                let ids = dead.deliveries.iter();
                let ids: Vec<&str> = ids.map(|one| one.delivery.as_str()).collect();
                vec![json!({ "deliveries": ids })]
            }
            Self::Destinations => TO.map(|name| json!({ "destination": name })).into(),
        }
    }
}

/// The status function of a board.
pub(crate) async fn operators(board: &Board, plan: Option<Plan>) -> Watched {
    let stream = board.stream().await;
    Watched::made(board, "status", plan, |status| {
        status.set("SWITCHBOARD_STREAM", &stream)
    })
}

/// An operator's request, as the gateway hands it over.
pub(crate) fn request((method, path, body): (&str, &str, &Value)) -> Value {
    let mut headers = HeaderMap::new();
    let token = HeaderValue::from_str(&format!("Bearer {TOKEN}")).expect("a value");
    headers.insert(AUTHORIZATION, token);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let mut request = asked(method, path, &headers, &plain(&body.to_string()));
    request["rawQueryString"] = query.into();
    request
}

/// Asks until what is said is `enough`; what that was.
pub(crate) async fn ask(
    operators: &mut Watched,
    what: (&str, &str, &Value),
    enough: impl Fn(&Value) -> bool,
) -> Value {
    let request = request(what);
    for _ in 0..ASKS {
        match status(&operators.invoke(&request).await) {
            Some((200, said)) if enough(&said) => return said,
            Some((200 | 500.., _)) | None => {}
            Some((other, said)) => panic!("an operator is told {other}: {said}"),
        }
        wait::between(BETWEEN).await;
    }
    panic!("an operator never gets on; the log:\n{}", operators.log());
}

/// Redrives dead letters, and looks until the totals show what became of them.
async fn redrive(status: &mut Watched, requests: &[Value]) {
    for request in requests {
        let redrive = ("POST", "/admin/redrive", request);
        ask(status, redrive, |said| said["left"] == 0).await;
    }
    let overview = ("GET", "/api/overview", &Value::Null);
    let are_waiting = |said: &Value| {
        let totals = &said["totals"];
        totals["waiting"] == 2 && totals["dead"] == 0 && totals["stored"] == 1
    };
    ask(status, overview, are_waiting).await;
}

fn end_of(destination: &str) -> End {
    match destination {
        "bad" => (State::Dead, 6),
        _ => (State::Delivered, 4),
    }
}

/// How many deliveries may wait and have no hint, when a call of the status function suffered this.
fn left_without_hint(named: Named, plan: Option<&Plan>) -> RangeInclusive<usize> {
    let Some(plan) = plan else {
        return 0..=0;
    };
    // How many are moved in one step, and are in one request to the queue.
    let step = match named {
        Named::All | Named::Each => 2,
        Named::Destinations => 1,
    };
    if plan.is("SendMessageBatch", "board-deliveries") {
        return match plan.fault {
            Fault::Lost | Fault::Broken | Fault::Throttled | Fault::DiesBefore => step..=step,
            // Those of the next step suffer it too, where there is one.
            Fault::Away if plan.call.nth == 1 => 2..=2,
            Fault::Away | Fault::EntriesFailed => 1..=1,
            Fault::AnswersLost
            | Fault::AnswerLost
            | Fault::Doubled
            | Fault::Late
            | Fault::EntryFailed
            | Fault::KeysUnprocessed
            | Fault::DiesBehind => 0..=0,
        };
    }
    // Some are moved at once: which of them are, when one of these calls ends the step, nobody knows.
    let is_masked = matches!(plan.fault, Fault::AnswerLost | Fault::Doubled | Fault::Late);
    if plan.is("UpdateItem", "E/D") && !is_masked {
        return 0..=2;
    }
    // The name of one's destination is written while another is moved.
    let dies = matches!(plan.fault, Fault::DiesBefore | Fault::DiesBehind);
    if plan.is("UpdateItem", "S/settings") && dies {
        return 0..=1;
    }
    0..=0
}

pub(crate) async fn story(named: Named, plan: Option<Plan>) -> Heard {
    let board = board(&TO).await;
    let mut ingress = Watched::new(&board, "ingress", None);
    let told = send(&mut ingress, "1", Patience::Patient).await;
    let mut worker = Watched::new(&board, "worker", None);
    mapping::run(&board, &mut worker, 1).await;
    let died = event(&board, "1").await.expect("it is stored");
    assert_ended(&board, &died, |_| (State::Dead, 3));

    let mut status = operators(&board, plan.clone()).await;
    redrive(&mut status, &named.requests(&died)).await;
    status.quiet().await;
    status.assert_hit();
    mapping::run(&board, &mut worker, 1).await;
    let stored = event(&board, "1").await;
    let left = unfinished(stored.as_ref());
    let may_be_left = left_without_hint(named, plan.as_ref());
    assert!(may_be_left.contains(&left), "{left} without the keeper");
    if left > 0 {
        let kept = kept::a_run_from_now(&board, PAST_THE_LOOK).await;
        // The tickets of both deaths are past, unless they were found to be before.
        assert!(kept.tickets_removed <= 2, "{kept:?}");
        let expected = Kept {
            overdue: left as u64,
            tickets_removed: kept.tickets_removed,
            ..Kept::NOTHING
        };
        assert_eq!(kept, expected);
        mapping::run(&board, &mut worker, 1).await;
    }
    let stored = event(&board, "1").await.expect("it is stored");
    assert_ended(&board, &stored, end_of);
    assert_totals(&board, vec!["1"], told).await;
    status.heard()
}

async fn tell(named: Named) {
    let calls = Box::pin(story(named, None)).await.calls;
    tell_all(Plan::all_of(&calls), |plan| async move {
        Box::pin(story(named, Some(plan))).await;
    })
    .await;
}

#[tokio::test]
async fn whatever_a_call_of_the_status_function_suffers_a_redrive_asked_for_again_ends_as_one() {
    tell(Named::All).await;
}

#[tokio::test]
async fn whatever_a_call_of_the_status_function_suffers_a_redrive_of_some_asked_for_again_ends_as_one()
 {
    tell(Named::Each).await;
}

#[tokio::test]
async fn whatever_a_call_of_the_status_function_suffers_a_redrive_of_a_destination_asked_for_again_ends_as_one()
 {
    tell(Named::Destinations).await;
}
