//! Every fail point has a story that reaches it: there the process dies, is started again on the same folder, and
//! everything promised holds.

use std::sync::Arc;

use switchboard_core::fail::FailPoint;
use tokio::sync::Semaphore;
use tokio::task::{JoinSet, LocalSet};

use crate::death::Death;
use crate::story::{Story, Wish, tell};

/// How many stories are told at once: most of their time they wait for a process.
const AT_ONCE: usize = 6;

/// The stories that reach a point, each with the hit that it is to die at. Matched whole: a point without a story does
/// not compile.
fn stories(point: FailPoint) -> &'static [(u64, Story)] {
    match point {
        FailPoint::BeforeAccept | FailPoint::BeforeAnswer => {
            &[(1, Story::Posting), (7, Story::Posting)]
        }
        // The first commits are those of the start.
        FailPoint::BeforeCommit | FailPoint::AfterCommit | FailPoint::BeforeTelling => &[
            (1, Story::Posting),
            (2, Story::Posting),
            (5, Story::Posting),
            (20, Story::Posting),
        ],
        FailPoint::BeforeEarlierCounts => &[(1, Story::Counting)],
        FailPoint::BeforeNote | FailPoint::AfterNote => &[(1, Story::Refused), (4, Story::Refused)],
        FailPoint::BeforeSending
        | FailPoint::AfterSending
        | FailPoint::BeforeRecord
        | FailPoint::AfterRecord => &[(1, Story::Posting), (9, Story::Posting)],
        // More than one step moves.
        FailPoint::BeforeBury | FailPoint::AfterBury => &[(1, Story::Burying), (2, Story::Burying)],
        FailPoint::BeforeShelve | FailPoint::AfterShelve => &[
            (1, Story::Holding),
            (1, Story::Shelving),
            (2, Story::Shelving),
        ],
        FailPoint::AfterSetting => &[
            // The sample sets your endpoint to its stand-in at the start.
            (1, Story::Sample),
            (1, Story::Wishing(Wish::Hold)),
            (1, Story::Wishing(Wish::Release)),
            (1, Story::Wishing(Wish::SetEndpoint)),
            (1, Story::Wishing(Wish::RotateEndpoint)),
            (1, Story::Wishing(Wish::ClearEndpoint)),
        ],
        FailPoint::InRelease => &[(1, Story::Wishing(Wish::Release))],
        FailPoint::InClearing => &[(1, Story::Wishing(Wish::ClearEndpoint))],
        FailPoint::BeforeRedrive | FailPoint::AfterRedrive => &[(1, Story::Redriving(20))],
        FailPoint::BetweenSteps => &[
            (1, Story::Redriving(510)),
            (1, Story::Releasing(510)),
            (1, Story::Clearing(510)),
        ],
        FailPoint::BetweenRuns => &[(3, Story::Replaying(60))],
        FailPoint::BeforeRecover | FailPoint::AfterRecover => {
            &[(1, Story::Recovering(20)), (2, Story::Recovering(510))]
        }
        FailPoint::BeforeExpiry | FailPoint::AfterExpiry => {
            &[(1, Story::Expiring), (2, Story::Expiring)]
        }
        FailPoint::BeforeMigration | FailPoint::InMigration | FailPoint::AfterMigration => {
            &[(1, Story::Opening), (1, Story::Upgrading)]
        }
        FailPoint::FolderClaimed | FailPoint::StoreOpen | FailPoint::BeforeServing => {
            &[(1, Story::Opening)]
        }
        FailPoint::TokenWritten => &[(1, Story::Token)],
        FailPoint::BeforeLastWrite => &[(1, Story::Stopping)],
        FailPoint::BackupBegun | FailPoint::BackupCopied | FailPoint::BackupNamed => {
            &[(1, Story::BackingUp)]
        }
        FailPoint::ReceiversClaimed => &[(1, Story::Sample)],
        FailPoint::ReceiverBeforeCommit | FailPoint::ReceiverAfterCommit => {
            &[(1, Story::Sample), (3, Story::Sample)]
        }
        FailPoint::ReceiverBeforeCount => &[(1, Story::SampleCopy)],
    }
}

#[tokio::test]
async fn at_every_fail_point_a_crash_breaks_no_promise() {
    let all = LocalSet::new();
    let broken = all.run_until(tell_all()).await;
    assert!(
        broken.is_empty(),
        "a promise was broken, said above: {broken:#?}"
    );
}

/// Tells every story; which of them failed.
async fn tell_all() -> Vec<String> {
    let places = Arc::new(Semaphore::new(AT_ONCE));
    let mut telling = JoinSet::new();
    for &point in FailPoint::ALL {
        let stories = stories(point);
        assert!(!stories.is_empty(), "{} has no story", point.as_str());
        for &(hit, story) in stories {
            let (places, death) = (Arc::clone(&places), Death { point, hit });
            telling.spawn_local(async move {
                let _place = places.acquire_owned().await.expect("a place");
                let told = tokio::task::spawn_local(tell(story, death)).await;
                told.err().map(|_| format!("{death} in {story:?}"))
            });
        }
    }
    telling.join_all().await.into_iter().flatten().collect()
}
