//! Stored events are replayed by an operator who asks again, with the progress that he has, until he is answered that there is
//! no more: each is planned once, whatever becomes of a call or of its answer.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_core::delivery::State;
use switchboard_core::event::Event;
use switchboard_core::forward::KeptHeaders;
use switchboard_core::identity::EventId;
use switchboard_core::names::{Kind, SenderId, SourceName};
use switchboard_core::ports::{Keep, Ledger, Views};
use switchboard_core::views::Totals;
use switchboard_tests::board::Board;
use switchboard_tests::lambda::Invoked;
use switchboard_tests::sender::now;

use crate::call::Plan;
use crate::kept::{self, Kept};
use crate::mapping;
use crate::operated::{ask, operators, request};
use crate::promises::assert_ended_beside_others;
use crate::scene::{board, event};
use crate::stories::tell_all;
use crate::watched::{Heard, Watched};

/// More than are stored at once, and less than twice that.
const EVENTS: usize = 18;
/// The first of its calls alike is told of, and where there is one for each event, the first behind those that are stored at
/// once.
const NEXT: usize = 17;
const REPLAY: &str = "/admin/replay";
const KEEP: Keep = Keep { days: 30 };

fn ids() -> impl Iterator<Item = String> {
    (1..=EVENTS).map(|nth| nth.to_string())
}

/// Events that no route named when they came.
async fn unrouted(board: &Board) {
    let source = SourceName::parse("code").expect("a name");
    for id in ids() {
        let sender_id = SenderId::new(&id).expect("an id");
        let event = Event {
            id: EventId::of(&source, &sender_id),
            source: source.clone(),
            sender_id,
            kind: Kind::default(),
            received_at: now(),
            headers: KeptHeaders::from_lines(b""),
            body: b"{}".to_vec().into(),
        };
        let accepted = board.aws.accept(&event, &[], KEEP).await;
        accepted.expect("stored");
    }
}

async fn totals(board: &Board) -> Totals {
    board.aws.overview().await.expect("totals").totals
}

/// Begins a replay of all there is: what the next call is to say.
async fn begin(board: &Board, status: &mut Watched) -> Value {
    let all = json!({ "from": "2020-01-01T00:00:00Z" });
    let said = ask(status, ("POST", REPLAY, &all), |said| {
        said["progress"].is_string()
    });
    let said = said.await;
    assert_eq!(
        (&said["events"], &said["deliveries"]),
        (&json!(0), &json!(0))
    );
    assert_eq!(totals(board).await.waiting, 0, "nothing is planned yet");
    json!({ "from": all["from"], "progress": said["progress"] })
}

/// Goes on with it until there is no more.
async fn go_on(status: &mut Watched, begun: &Value) {
    let said = ask(status, ("POST", REPLAY, begun), |said| {
        said["progress"].is_null()
    });
    let said = said.await;
    let counted = (&said["events"], &said["deliveries"]);
    assert_eq!(counted, (&json!(EVENTS), &json!(EVENTS)), "{said}");
}

/// Every event has one delivery, which was attempted once, and all of them are counted once.
async fn assert_replayed_once(board: &Board) {
    let mut keys = BTreeSet::new();
    for id in ids() {
        let stored = event(board, &id).await.expect("it is stored");
        assert_eq!(stored.deliveries.len(), 1, "{stored:?}");
        assert_ended_beside_others(board, &stored, |_| (State::Delivered, 1));
        keys.insert(stored.deliveries[0].delivery.to_string());
    }
    let received = board.sink.received();
    let sent: BTreeSet<String> = received.iter().map(|one| one.key().to_owned()).collect();
    assert_eq!(sent, keys, "and nothing else was sent");
    let found = totals(board).await;
    let all = EVENTS as u64;
    assert_eq!((found.delivered, found.waiting), (all, 0), "{found:?}");
    assert_eq!((found.stored, found.unrouted), (all, all), "{found:?}");
}

pub(crate) async fn story(plan: Option<Plan>) -> Heard {
    let board = board(&["good"]).await;
    unrouted(&board).await;
    let mut status = operators(&board, plan).await;
    let begun = begin(&board, &mut status).await;
    go_on(&mut status, &begun).await;
    status.quiet().await;
    status.assert_hit();
    let heard = status.heard();
    assert_eq!(totals(&board).await.waiting, EVENTS as u64);
    let mut worker = Watched::new(&board, "worker", None);
    mapping::run(&board, &mut worker, 10).await;
    assert_replayed_once(&board).await;
    // An operator who did not see the answer asks once more, however late.
    go_on(&mut status, &begun).await;
    mapping::run(&board, &mut worker, 10).await;
    assert_replayed_once(&board).await;
    heard
}

#[tokio::test]
async fn whatever_a_call_of_the_status_function_suffers_a_replay_asked_for_again_plans_each_once() {
    let calls = Box::pin(story(None)).await.calls;
    let mut plans = Plan::all_of(&calls);
    let of_each = |plan: &Plan| calls.iter().filter(|call| call.is_like(&plan.call)).count();
    plans.retain(|plan| match plan.call.nth {
        1 => true,
        NEXT => of_each(plan) >= EVENTS,
        _ => false,
    });
    tell_all(plans, |plan| async {
        Box::pin(story(Some(plan))).await;
    })
    .await;
}

#[tokio::test]
async fn a_replay_that_dies_between_two_parts_is_ended_by_the_same_call_again() {
    let board = board(&["good"]).await;
    unrouted(&board).await;
    let mut status = operators(&board, None).await;
    let begun = begin(&board, &mut status).await;
    status.set("SWITCHBOARD_FAIL", "between-runs=stop");
    let died = status.invoke(&request(("POST", REPLAY, &begun))).await;
    assert_eq!(died, Invoked::Died);
    let waiting = totals(&board).await.waiting;
    assert!((1..EVENTS as u64).contains(&waiting), "{waiting} of them");
    let mut status = operators(&board, None).await;
    go_on(&mut status, &begun).await;
    let mut worker = Watched::new(&board, "worker", None);
    mapping::run(&board, &mut worker, 10).await;
    assert_replayed_once(&board).await;
    let kept = kept::a_run_from_now(&board, Duration::ZERO).await;
    assert_eq!(kept, Kept::NOTHING);
}
