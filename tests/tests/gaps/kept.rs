//! What the keeper had to do, by its own line.

use std::time::Duration;

use serde_json::{Value, json};
use switchboard_tests::board::Board;
use switchboard_tests::lambda::Invoked;

use crate::call::Plan;
use crate::watched::Watched;

/// What a run of the keeper had to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kept {
    pub(crate) without_record: u64,
    pub(crate) overdue: u64,
    pub(crate) returned: u64,
    pub(crate) dropped: u64,
    pub(crate) died: u64,
    pub(crate) released: u64,
    pub(crate) tickets_put: u64,
    pub(crate) tickets_removed: u64,
    pub(crate) failed: u64,
}

impl Kept {
    /// There was nothing to do.
    pub(crate) const NOTHING: Self = Self {
        without_record: 0,
        overdue: 0,
        returned: 0,
        dropped: 0,
        died: 0,
        released: 0,
        tickets_put: 0,
        tickets_removed: 0,
        failed: 0,
    };

    fn of(line: &Value) -> Self {
        let number = |name: &str| line[name].as_u64().expect("a number");
        Self {
            without_record: number("without_record"),
            overdue: number("overdue"),
            returned: number("returned"),
            dropped: number("dropped"),
            died: number("died"),
            released: number("released"),
            tickets_put: number("tickets_put"),
            tickets_removed: number("tickets_removed"),
            failed: number("failed"),
        }
    }

    /// What all runs came to that a log tells of.
    pub(crate) fn all_of(log: &str) -> Vec<Self> {
        let lines = log
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok());
        let lines = lines.filter(|line: &Value| line["message"] == "kept");
        lines.map(|line| Self::of(&line)).collect()
    }
}

/// How long what a run takes from a queue is hidden, in seconds: longer than a run takes.
const HIDES: &str = "4";

/// The keeper, so far ahead of the present.
pub(crate) async fn keeper(board: &Board, ahead: Duration, plan: Option<Plan>) -> Watched {
    let stream = board.stream().await;
    Watched::made(board, "keeper", plan, |keeper| {
        let keeper = keeper.set("SWITCHBOARD_STREAM", &stream).ahead(ahead);
        keeper.set("SWITCHBOARD_KEEPER_HIDES", HIDES)
    })
}

/// One run of it; what it had to do, unless it died. It answers with a failure if a step failed, and only then.
pub(crate) async fn run(keeper: &mut Watched) -> Option<Kept> {
    let before = Kept::all_of(&keeper.log()).len();
    let invoked = keeper.invoke(&json!({ "source": "aws.events" })).await;
    let has_failed = match invoked {
        Invoked::Answered(_) => false,
        Invoked::Failed(_) => true,
        Invoked::Died => return None,
    };
    let kept = Kept::all_of(&keeper.log());
    assert_eq!(kept.len(), before + 1, "it says so: {}", keeper.log());
    let last = kept.last().copied();
    assert_eq!(last.map(|kept| kept.failed > 0), Some(has_failed));
    last
}

/// What one run some minutes from now has to do.
pub(crate) async fn a_run_from_now(board: &Board, ahead: Duration) -> Kept {
    let mut keeper = keeper(board, ahead, None).await;
    run(&mut keeper).await.expect("it runs to its end")
}
