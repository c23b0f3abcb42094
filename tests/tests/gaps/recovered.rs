//! The keeper finds what was left: events without records, deliveries whose hint is lost, hints that the queue gave back,
//! held deliveries of a destination that is not held, and tickets of no death. Whatever becomes of any call that it makes,
//! the runs after it end what it began, and no totals are counted twice.

use std::time::Duration;

use serde_json::json;
use switchboard_core::delivery::State;
use switchboard_core::endpoint::Change;
use switchboard_core::names::DestinationName;
use switchboard_core::ports::{SettingsStore, Spread};
use switchboard_tests::board::Board;
use switchboard_tests::sender::now;
use switchboard_tests::wait::until;

use crate::call::{Call, Plan};
use crate::kept::{self, Kept};
use crate::mapping;
use crate::promises::{assert_ended, assert_ended_beside_others, assert_totals, end_of};
use crate::scene::{Patience, Told, board, event, send};
use crate::stories::tell_all;
use crate::watched::Watched;

/// When the first walk passes events that were stored just now, and their deliveries are looked at.
const PAST_THE_WALK: Duration = Duration::from_mins(4);
/// When what was looked at then is looked at again.
const PAST_THE_NEXT_LOOK: Duration = Duration::from_mins(20);

/// A scene with what a keeper is to find.
pub(crate) struct Left {
    pub(crate) board: Board,
    pub(crate) told: Told,
    pub(crate) worker: Watched,
}

impl Left {
    async fn new(destinations: &[&str]) -> (Self, Watched) {
        let board = board(destinations).await;
        let ingress = Watched::new(&board, "ingress", None);
        let worker = Watched::new(&board, "worker", None);
        let told = Told::default();
        let left = Self {
            board,
            told,
            worker,
        };
        (left, ingress)
    }

    async fn post(&mut self, ingress: &mut Watched, id: &str) {
        let told = send(ingress, id, Patience::Patient).await;
        self.told.posts += told.posts;
        self.told.accepted += told.accepted;
    }

    /// An event of which no hint is left, and one whose first attempt failed and whose next hint is lost.
    pub(crate) async fn without_hints() -> Self {
        let (mut left, mut ingress) = Self::new(&["good", "flaky"]).await;
        left.post(&mut ingress, "1").await;
        mapping::lose(&left.board).await;
        left.post(&mut ingress, "2").await;
        let hints = mapping::receive(&left.board, 10).await;
        let flaky: Vec<_> = hints
            .into_iter()
            .filter(|hint| {
                hint.body
                    .as_ref()
                    .is_some_and(|body| body.contains("flaky"))
            })
            .collect();
        mapping::invoke(&left.board, &mut left.worker, &flaky).await;
        mapping::lose(&left.board).await;
        left
    }

    /// What that comes to for a run: two deliveries of the one event and one of the other have no record.
    pub(crate) const WITHOUT_HINTS: Kept = Kept {
        without_record: 3,
        overdue: 1,
        ..Kept::NOTHING
    };

    /// An event whose hints the platform has moved on as received too often, one of them twice; and a ticket of no death.
    pub(crate) async fn returned() -> Self {
        let (mut left, mut ingress) = Self::new(&["good", "flaky"]).await;
        left.post(&mut ingress, "1").await;
        let hints = mapping::receive(&left.board, 10).await;
        for hint in &hints {
            let body = hint.body.clone().expect("a text");
            // As the queue's policy does it: the text is the same.
            left.put(&left.board.place.returned, &body).await;
            if body.contains("flaky") {
                mapping::invoke(&left.board, &mut left.worker, std::slice::from_ref(hint)).await;
            }
        }
        // The next hint of the other came back too.
        for hint in mapping::receive(&left.board, 10).await {
            let body = hint.body.expect("a text");
            left.put(&left.board.place.returned, &body).await;
        }
        mapping::lose(&left.board).await;
        let stored = event(&left.board, "1").await.expect("it is stored");
        let delivery = stored.deliveries[0].delivery.as_str();
        let ticket = json!({ "v": 1, "e": stored.row.event, "d": delivery, "n": 3 });
        left.put(&left.board.place.dead_letters, &ticket.to_string())
            .await;
        left
    }

    /// What that comes to for a run.
    pub(crate) const RETURNED: Kept = Kept {
        returned: 2,
        dropped: 1,
        tickets_removed: 1,
        ..Kept::NOTHING
    };

    /// An event that was held, and whose destination is not held any more.
    pub(crate) async fn held() -> Self {
        let (mut left, mut ingress) = Self::new(&["good"]).await;
        let good = DestinationName::parse("good").expect("a name");
        let settings = &left.board.aws;
        let change = settings.change(Change::Hold(good.clone())).await;
        change.expect("held");
        left.post(&mut ingress, "1").await;
        mapping::run(&left.board, &mut left.worker, 1).await;
        let stored = event(&left.board, "1").await.expect("it is stored");
        assert_ended(&left.board, &stored, |_| (State::Held, 0));
        let spread = Spread {
            start: now(),
            per_second: 50,
        };
        let change = left.board.aws.change(Change::Release(good, spread)).await;
        change.expect("released");
        // It knows of the hold for some seconds.
        left.worker.end();
        left
    }

    /// What that comes to for a run.
    pub(crate) const HELD: Kept = Kept {
        released: 1,
        ..Kept::NOTHING
    };

    async fn put(&self, queue: &str, text: &str) {
        let send = self.board.clients.sqs.send_message().queue_url(queue);
        send.message_body(text).send().await.expect("sent");
    }

    /// The first run of a keeper, which suffers something or finds the whole of what is left; its calls.
    async fn found(
        &self,
        ahead: Duration,
        plan: Option<&Plan>,
        whole: Kept,
    ) -> (Watched, Vec<Call>) {
        let mut keeper = kept::keeper(&self.board, ahead, plan.cloned()).await;
        let first = kept::run(&mut keeper).await;
        keeper.quiet().await;
        keeper.assert_hit();
        if plan.is_none() {
            assert_eq!(first, Some(whole));
        }
        let calls = keeper.calls();
        (keeper, calls)
    }

    /// Everything was delivered as it should, and counted once.
    pub(crate) async fn assert_all_ended(&mut self, ids: Vec<&'static str>) {
        mapping::run(&self.board, &mut self.worker, 1).await;
        for id in &ids {
            let stored = event(&self.board, id).await.expect("it is stored");
            assert_ended_beside_others(&self.board, &stored, end_of);
        }
        assert_totals(&self.board, ids, self.told).await;
    }
}

/// A run that suffers something, and one of another process later; then nothing is left to be done.
async fn overdue(plan: Option<Plan>) -> Vec<Call> {
    let mut left = Left::without_hints().await;
    let (_, calls) = left
        .found(PAST_THE_WALK, plan.as_ref(), Left::WITHOUT_HINTS)
        .await;
    if plan.is_some() {
        let mut later = kept::keeper(&left.board, PAST_THE_NEXT_LOOK, None).await;
        let second = kept::run(&mut later).await.expect("it runs to its end");
        assert_eq!(second.failed, 0, "{second:?}");
        assert!(
            second.without_record <= 3 && second.overdue <= 4,
            "{second:?}"
        );
        left.assert_all_ended(vec!["1", "2"]).await;
        let third = kept::run(&mut later).await;
        assert_eq!(third, Some(Kept::NOTHING), "nothing is left");
    }
    left.assert_all_ended(vec!["1", "2"]).await;
    calls
}

#[tokio::test]
async fn whatever_a_call_of_the_keeper_suffers_what_has_no_hint_is_queued_by_the_next_run() {
    let calls = Box::pin(overdue(None)).await;
    tell_all(Plan::all_of(&calls), |plan| async {
        Box::pin(overdue(Some(plan))).await;
    })
    .await;
}

/// Runs until the queue of what came back is empty: what a run has taken from it is hidden for a while.
async fn returned(plan: Option<Plan>) -> Vec<Call> {
    let mut left = Left::returned().await;
    let (mut keeper, calls) = left
        .found(Duration::ZERO, plan.as_ref(), Left::RETURNED)
        .await;
    let queue = left.board.place.returned.clone();
    let tickets = left.board.place.dead_letters.clone();
    until("nothing is left in the queues", async || {
        let kept = kept::run(&mut keeper).await;
        assert!(kept.is_none_or(|kept| kept.died == 0), "{kept:?}");
        let returned = mapping::waiting(&left.board, &queue).await;
        let tickets = mapping::waiting(&left.board, &tickets).await;
        (returned + tickets == 0).then_some(())
    })
    .await;
    left.assert_all_ended(vec!["1"]).await;
    calls
}

#[tokio::test]
async fn whatever_a_call_of_the_keeper_suffers_what_the_queue_gave_back_goes_on() {
    let calls = Box::pin(returned(None)).await;
    let queues = ["board-returned", "board-dead-letters", "board-deliveries"];
    let of_queues = |plan: &Plan| queues.contains(&plan.call.of.as_str()) || plan.call.of == "E/D";
    let mut plans = Plan::all_of(&calls);
    // All else that a run does is told of where it finds what has no hint.
    plans.retain(of_queues);
    tell_all(plans, |plan| async {
        Box::pin(returned(Some(plan))).await;
    })
    .await;
}

async fn released(plan: Option<Plan>) -> Vec<Call> {
    let mut left = Left::held().await;
    let (_, calls) = left.found(Duration::ZERO, plan.as_ref(), Left::HELD).await;
    if plan.is_some() {
        // What was put back and has no hint is found when it is overdue.
        let mut later = kept::keeper(&left.board, Duration::ZERO, None).await;
        let second = kept::run(&mut later).await.expect("it runs to its end");
        assert!(second.released <= 1 && second.failed == 0, "{second:?}");
        let mut later = kept::keeper(&left.board, PAST_THE_WALK, None).await;
        let third = kept::run(&mut later).await.expect("it runs to its end");
        assert!(third.overdue <= 1, "{third:?}");
        let expected = Kept {
            overdue: third.overdue,
            ..Kept::NOTHING
        };
        assert_eq!(third, expected);
    }
    left.assert_all_ended(vec!["1"]).await;
    calls
}

#[tokio::test]
async fn whatever_a_call_of_the_keeper_suffers_what_was_released_goes_on() {
    let calls = Box::pin(released(None)).await;
    let mut plans = Plan::all_of(&calls);
    let writes = |plan: &Plan| {
        let of = plan.call.of.as_str();
        !plan.call.reads() && matches!(of, "E/D" | "E/A" | "S/settings" | "board-deliveries")
    };
    plans.retain(writes);
    tell_all(plans, |plan| async {
        Box::pin(released(Some(plan))).await;
    })
    .await;
}
