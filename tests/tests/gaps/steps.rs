//! More dead letters than one step of a redrive moves, and a status function that dies between two steps.

use std::time::Duration;

use serde_json::{Value, json};
use switchboard_core::delivery::{DeathReason, DeliveryKey};
use switchboard_core::event::Event;
use switchboard_core::forward::KeptHeaders;
use switchboard_core::identity::{EventId, Run};
use switchboard_core::names::{ActionName, DestinationName, Kind, SenderId, SourceName};
use switchboard_core::operate::STEP;
use switchboard_core::ports::{Keep, Ledger, Queued, Views};
use switchboard_tests::board::Board;
use switchboard_tests::sender::now;

use crate::kept::{self, Kept};
use crate::mapping;
use crate::operated::{ask, operators};
use crate::scene::{board, event};

/// So many more than a step moves.
const MORE: u32 = 5;
const KEEP: Keep = Keep { days: 30 };

/// An event with that many deliveries, all of them dead, and no hint of any.
async fn dead_letters(board: &Board, number: u32) {
    let source = SourceName::parse("code").expect("a name");
    let sender_id = SenderId::new("1").expect("an id");
    let event = Event {
        id: EventId::of(&source, &sender_id),
        source,
        sender_id,
        kind: Kind::default(),
        received_at: now(),
        headers: KeptHeaders::from_lines(b""),
        body: b"{}".to_vec().into(),
    };
    let good = DestinationName::parse("good").expect("a name");
    let plan: Vec<Queued> = (0..number)
        .map(|nth| {
            let action = ActionName::parse(&format!("line-{nth}")).expect("a name");
            Queued {
                key: DeliveryKey::of(&event.id, good.clone(), action, Run(0)),
                due: event.received_at,
            }
        })
        .collect();
    board.aws.accept(&event, &plan, KEEP).await.expect("stored");
    mapping::lose(board).await;
    let reason = DeathReason::NoDestination;
    let mut left = number;
    while left > 0 {
        let buried = board.aws.bury(&good, reason, now(), KEEP, left).await;
        left -= buried.expect("buried").done;
    }
}

#[tokio::test]
async fn a_redrive_that_dies_between_two_steps_is_ended_by_the_same_call_again() {
    let board = board(&["good"]).await;
    let all = STEP + MORE;
    dead_letters(&board, all).await;
    let mut dying = operators(&board, None).await;
    dying.set("SWITCHBOARD_FAIL", "between-steps=stop");
    let redrive = json!({ "all": true });
    let redrive = ("POST", "/admin/redrive", &redrive);
    let died = dying.invoke(&crate::operated::request(redrive)).await;
    assert_eq!(died, switchboard_tests::lambda::Invoked::Died);
    let totals = board.aws.overview().await.expect("totals").totals;
    let (step, more) = (u64::from(STEP), u64::from(MORE));
    assert_eq!((totals.waiting, totals.dead), (step, more), "{totals:?}");

    let mut status = operators(&board, None).await;
    let said = ask(&mut status, redrive, |said: &Value| said["left"] == 0).await;
    assert_eq!(said["redriven"], MORE, "{said}");
    let totals = board.aws.overview().await.expect("totals").totals;
    assert_eq!((totals.waiting, totals.dead), (step + more, 0));
    // Every one of them has its hint: the queue holds as many, and the keeper finds nothing to be queued.
    let hints = mapping::waiting(&board, &board.place.deliveries).await;
    assert_eq!(hints as u64, step + more);
    let stored = event(&board, "1").await.expect("it is stored");
    assert_eq!(stored.deliveries.len() as u64, step + more);
    let kept = kept::a_run_from_now(&board, Duration::ZERO).await;
    assert_eq!(kept, Kept::NOTHING);
}
