//! What the worker keeps from being attempted: a delivery of a held destination is held, one without a destination dies.

use switchboard_core::delivery::State;
use switchboard_core::endpoint::Change;
use switchboard_core::names::DestinationName;
use switchboard_core::ports::SettingsStore;

use crate::attempted::assert_end;
use crate::call::{Call, Plan};
use crate::mapping;
use crate::promises::End;
use crate::scene::{Patience, board, configuration, send};
use crate::stories::tell_all;
use crate::watched::Watched;

fn end_of(destination: &str) -> End {
    match destination {
        "gone" => (State::Dead, 0),
        _ => (State::Held, 0),
    }
}

async fn story(plan: Option<Plan>) -> Vec<Call> {
    let board = board(&["good", "gone"]).await;
    let mut ingress = Watched::new(&board, "ingress", None);
    let told = send(&mut ingress, "1", Patience::Patient).await;
    let good = DestinationName::parse("good").expect("a name");
    board.aws.change(Change::Hold(good)).await.expect("held");
    let without = configuration(&board, &["good"]);
    board.apply(Some(1), &without).await;
    let mut worker = Watched::new(&board, "worker", plan.clone());
    mapping::run(&board, &mut worker, 1).await;
    worker.assert_hit();
    assert_end(&board, told, plan.as_ref(), end_of).await;
    worker.calls()
}

#[tokio::test]
async fn whatever_a_call_of_the_worker_suffers_what_is_held_is_held_and_what_has_nowhere_to_go_is_dead()
 {
    let calls = story(None).await;
    tell_all(Plan::all_of_worker(&calls), |plan| async {
        story(Some(plan)).await;
    })
    .await;
}
