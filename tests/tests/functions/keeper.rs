//! What the keeper finds, by a clock that is moved by hand; and one minute of the real one.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use switchboard_aws::Aws;
use switchboard_aws::keeper::{Distances, Keeper, Kept};
use switchboard_aws::message::Message;
use switchboard_core::attempt::Attempt;
use switchboard_core::delivery::{AttemptRecord, DeliveryKey, Next, Outcome, Unanswered};
use switchboard_core::endpoint::Change;
use switchboard_core::event::Event;
use switchboard_core::forward::KeptHeaders;
use switchboard_core::identity::{EventId, Run};
use switchboard_core::names::{ActionName, DestinationName, Kind, SenderId, SourceName};
use switchboard_core::ports::{
    Begun, Keep, Ledger, Queued, Selection, SettingsStore, Spread, Views,
};
use switchboard_core::time::Clock;
use switchboard_testkit::clock::HandClock;
use switchboard_tests::sender::now;

use crate::setting::Board;

const KEEP: Keep = Keep { days: 30 };
const MINUTE: Duration = Duration::from_mins(1);

/// A table with an event whose one delivery is queued, and a clock.
struct Night {
    board: Board,
    aws: Aws,
    clock: Arc<HandClock>,
    event: EventId,
}

fn chat() -> DestinationName {
    DestinationName::parse("chat").expect("a name")
}

impl Night {
    async fn begin() -> Self {
        let board = Board::bare().await;
        let clock = Arc::new(HandClock::at(now()));
        let aws = board.open(clock.clone());
        let source = SourceName::parse("code").expect("a name");
        let sender_id = SenderId::new("1").expect("an id");
        let event = Event {
            id: EventId::of(&source, &sender_id),
            source,
            sender_id,
            kind: Kind::default(),
            received_at: clock.now(),
            headers: KeptHeaders::from_lines(b""),
            body: "{}".into(),
        };
        let plan = [Queued {
            key: DeliveryKey::of(&event.id, chat(), ActionName::deliver(), Run(0)),
            due: clock.now(),
        }];
        aws.accept(&event, &plan, KEEP).await.expect("stored");
        let event = event.id;
        Self {
            board,
            aws,
            clock,
            event,
        }
    }

    /// One run of the keeper, some time later.
    async fn after(&self, pause: Duration) -> Kept {
        self.clock.advance(pause);
        self.run().await
    }

    async fn run(&self) -> Kept {
        let ends = self.clock.now().plus(MINUTE);
        let returned = self.board.returned();
        let kept = Keeper::new(&self.aws, returned, Distances::default(), KEEP, ends);
        let kept = kept.run().await;
        assert_eq!(kept.failed, 0, "{kept:?}");
        kept
    }

    /// The one hint in the queue; it is gone then.
    async fn hint(&self) -> Message {
        let received = self.board.hints(1).await;
        assert_eq!(received.len(), 1, "one hint");
        Message::read(&received[0].body).expect("a hint")
    }

    async fn no_hint(&self) {
        let received = self.board.hints(0).await;
        assert!(received.is_empty(), "{received:?}");
    }

    async fn state(&self) -> &'static str {
        let seen = self.board.event(self.event.as_str()).await;
        seen.deliveries[0].state.as_str()
    }

    async fn attempt(&self, hint: &Message) -> Attempt {
        let begun = self.aws.begin_message(hint, 2, self.clock.now()).await;
        match begun.expect("read") {
            Begun::Go(attempt) => *attempt,
            other => panic!("it may be attempted: {other:?}"),
        }
    }

    /// An attempt by that hint fails, and `next` follows.
    async fn fails(&self, hint: &Message, next: Next) {
        let attempt = self.attempt(hint).await;
        let outcome = Outcome::Unanswered(Unanswered::TimeLimit);
        let at = self.clock.now();
        let record = AttemptRecord::new(attempt.number, at, Duration::ZERO, &outcome);
        let recorded = self.aws.record(&attempt, &record, next, KEEP).await;
        recorded.expect("recorded");
    }

    /// It waits for its second attempt, and the hint of that is lost.
    async fn waits(&self) -> Message {
        let hint = self.hint().await;
        let due = self.clock.now().plus(Duration::from_secs(2));
        self.fails(&hint, Next::Waiting(due)).await;
        self.clock.advance(Duration::from_secs(3));
        switchboard_tests::wait::until("the next hint comes", async || {
            let received = self.board.hints(0).await;
            let next = received.first()?;
            Some(Message::read(&next.body).expect("a hint"))
        })
        .await
    }
}

#[tokio::test]
async fn a_delivery_whose_hint_was_lost_before_any_record_is_queued_once_in_each_walk() {
    let night = Night::begin().await;
    let lost = night.hint().await;
    assert_eq!(night.after(2 * MINUTE).await.recorded, 0, "too soon");
    assert_eq!(night.after(2 * MINUTE).await.recorded, 1);
    let hint = night.hint().await;
    assert_eq!((hint.due, &hint.key), (lost.due, &lost.key));
    night.attempt(&hint).await;
    let again = night.after(MINUTE).await;
    assert_eq!((again.recorded, again.overdue), (0, 0), "once");
    for (walk, minutes) in [("cursor#sooner", 3), ("cursor#later", 60)] {
        let walked = night.clock.now().millis() - minutes * 60_000;
        assert_eq!(night.board.cursor(walk).await, Some(walked), "{walk}");
    }
    night.no_hint().await;
    // An hour later it is looked at, since its record says that it waits still.
    let later = night.after(61 * MINUTE).await;
    assert_eq!((later.recorded, later.overdue), (0, 1));
    assert_eq!(night.hint().await.due, lost.due);
}

#[tokio::test]
async fn the_later_walk_finds_what_the_first_was_not_shown() {
    let night = Night::begin().await;
    night.hint().await;
    // As if the index had shown the event only after the first walk had passed it.
    night.clock.advance(4 * MINUTE);
    let passed = night.clock.now().millis() - 3 * 60_000;
    night.board.put_cursor("cursor#sooner", passed).await;
    assert_eq!(night.run().await.recorded, 0);
    assert_eq!(night.after(58 * MINUTE).await.recorded, 1);
    night.hint().await;
}

#[tokio::test]
async fn a_waiting_delivery_that_nobody_came_for_is_looked_at_later_and_later() {
    let night = Night::begin().await;
    let lost = night.waits().await;
    assert_eq!(
        night.after(MINUTE).await.overdue,
        0,
        "its hint may be on the way"
    );
    for pause in [2, 10, 20, 40] {
        let kept = night.after(pause * MINUTE).await;
        assert_eq!(kept.overdue, 1, "after {pause} minutes");
        assert_eq!(night.hint().await.due, lost.due, "unchanged");
        assert_eq!(night.run().await.overdue, 0);
    }
    assert_eq!(night.after(70 * MINUTE).await.overdue, 0);
    assert_eq!(night.after(10 * MINUTE).await.overdue, 1);
    let hint = night.hint().await;
    night.fails(&hint, Next::Waiting(night.clock.now())).await;
    assert_eq!(
        night.after(3 * MINUTE).await.overdue,
        1,
        "a record sets it back"
    );
}

#[tokio::test]
async fn a_hint_that_came_back_goes_on_and_with_the_third_in_three_hours_its_delivery_dies() {
    let night = Night::begin().await;
    let hint = night.waits().await;
    for (hour, count) in [(0, 1), (0, 1), (1, 1)] {
        night.clock.advance(hour * 60 * MINUTE);
        night.board.return_hint(&hint.text()).await;
        let kept = night.run().await;
        assert_eq!((kept.returned, kept.died), (count, 0), "{kept:?}");
        let hints = night.board.hints(1).await;
        assert!(!hints.is_empty(), "back in its queue");
    }
    night.clock.advance(60 * MINUTE);
    night.board.return_hint(&hint.text()).await;
    assert_eq!(night.run().await.died, 1);
    assert_eq!(night.state().await, "dead");
    let letters = night.aws.dead_letters(&switchboard_core::views::PageAsk {
        after: None,
        limit: 10,
    });
    let letters = letters.await.expect("read").items;
    assert_eq!(letters[0].reason, "its hints came back too often");
    assert_eq!(night.board.tickets(1).await.len(), 1);
    night.board.return_hint(&hint.text()).await;
    let kept = night.run().await;
    assert_eq!(
        (kept.dropped, kept.returned),
        (1, 0),
        "out of date: {kept:?}"
    );
}

#[tokio::test]
async fn what_nobody_can_read_is_counted_by_its_reason_and_kept() {
    let night = Night::begin().await;
    night.board.return_hint("no JSON").await;
    night.board.return_hint(r#"{"v":2}"#).await;
    let kept = night.run().await;
    let reasons: Vec<_> = kept
        .unreadable
        .iter()
        .map(|(why, n)| (why.as_str(), *n))
        .collect();
    assert_eq!(reasons.len(), 2, "{reasons:?}");
    assert!(
        reasons.contains(&("the message is no hint", 1)),
        "{reasons:?}"
    );
    assert_eq!(night.board.waiting_in_returned().await, 2, "kept");
}

#[tokio::test]
async fn what_is_held_of_a_destination_that_is_not_is_released() {
    let night = Night::begin().await;
    let hint = night.hint().await;
    night.aws.change(Change::Hold(chat())).await.expect("held");
    let now = night.clock.now();
    night
        .aws
        .hold_received(&hint, now, KEEP)
        .await
        .expect("held");
    assert_eq!(night.run().await.released, 0, "it is held");
    assert_eq!(night.state().await, "held");
    let spread = Spread {
        start: now,
        per_second: 50,
    };
    night
        .aws
        .change(Change::Release(chat(), spread))
        .await
        .expect("released");
    assert_eq!(night.run().await.released, 1);
    assert_eq!(night.state().await, "waiting");
    night.hint().await;
}

#[tokio::test]
async fn a_ticket_stays_while_its_letter_is_dead_and_is_removed_then() {
    let night = Night::begin().await;
    let hint = night.hint().await;
    let used_up = switchboard_core::delivery::DeathReason::AttemptsUsedUp;
    night.fails(&hint, Next::Dead(used_up)).await;
    assert_eq!(night.run().await.tickets, 0, "it is dead");
    let spread = Spread {
        start: night.clock.now(),
        per_second: 50,
    };
    let moved = night.aws.requeue(&Selection::AllDead, spread, 10).await;
    assert_eq!(moved.expect("moved").done, 1);
    assert_eq!(night.run().await.tickets, 1);
    assert!(night.board.tickets(0).await.is_empty());
}

#[tokio::test]
async fn two_runs_at_once_record_once_and_fold_once() {
    let night = Night::begin().await;
    night.hint().await;
    night.clock.advance(4 * MINUTE);
    let (one, other) = tokio::join!(night.run(), night.run());
    assert_eq!(one.recorded + other.recorded, 1);
    assert_eq!(night.run().await.totals_behind_s, Some(0));
    let totals = night.aws.overview().await.expect("totals").totals;
    assert_eq!((totals.stored, totals.waiting), (1, 1));
}

#[tokio::test]
async fn a_run_without_time_does_nothing_and_loses_nothing() {
    let night = Night::begin().await;
    night.hint().await;
    night.clock.advance(4 * MINUTE);
    let ends = night.clock.now();
    let returned = night.board.returned();
    let keeper = Keeper::new(&night.aws, returned, Distances::default(), KEEP, ends);
    assert_eq!(keeper.run().await.recorded, 0);
    assert_eq!(night.run().await.recorded, 1);
}

#[tokio::test]
async fn each_minute_ends_with_one_line_that_tells_how_far_the_totals_are_behind() {
    let board = Board::start().await;
    let ingress = board.function("ingress").start().await;
    board.post(&ingress, "1", b"{}").await;
    let keeper = board.function("keeper");
    let keeper = keeper
        .set("SWITCHBOARD_STREAM", &board.stream().await)
        .start()
        .await;
    for _ in 0..2 {
        keeper
            .invoke(&json!({ "source": "aws.events" }))
            .await
            .answer();
    }
    let lines = keeper.lines();
    let kept: Vec<_> = lines
        .iter()
        .filter(|line| line["message"] == "kept")
        .collect();
    assert_eq!(kept.len(), 2, "{lines:?}");
    assert_eq!(kept[0]["totals_behind_s"], 0);
    assert!(kept[0]["folded"].as_u64() > Some(0), "{kept:?}");
    assert_eq!(kept[0]["failed"], 0);
}

#[tokio::test]
async fn without_the_table_a_run_says_so_and_the_next_one_is_made() {
    let board = Board::start().await;
    let keeper = board
        .function_over("keeper", "http://127.0.0.1:9")
        .start()
        .await;
    for _ in 0..2 {
        keeper.invoke(&json!({})).await.answer();
    }
    let lines = keeper.lines();
    let kept: Vec<_> = lines
        .iter()
        .filter(|line| line["message"] == "kept")
        .collect();
    assert_eq!(kept.len(), 2, "{lines:?}");
    assert!(
        kept.iter().all(|line| line["failed"].as_u64() > Some(3)),
        "{kept:?}"
    );
    assert!(
        kept.iter()
            .all(|line| line.get("totals_behind_s").is_none()),
        "{kept:?}"
    );
}
