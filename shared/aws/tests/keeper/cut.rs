//! A keeper that dies between any two of its calls, or goes on behind any call that fails.

use std::time::Duration;

use futures_util::future::join_all;
use switchboard_aws::keeper::KeeperIntervals;

use crate::disaster::Disaster;
use crate::fuse::{Fuse, Then};
use crate::scene::{PLENTY, minutes};

/// More calls than a run makes.
const MOST: u32 = 304;
/// Cut runs that are looked at at once, each in an account of its own.
const AT_ONCE: u32 = 8;

/// Cuts a run behind so many calls and lets others mend what is left; whether there was anything to cut.
async fn cut_behind(made: u32, then: Then) -> bool {
    let after = format!("{then:?} behind {made} calls");
    let intervals = KeeperIntervals {
        hide_taken: Duration::from_secs(1),
        ..KeeperIntervals::default()
    };
    let disaster = Disaster::new().await;
    let scene = &disaster.scene;
    let fuse = Fuse::at(made, then);
    let dying = scene.keeper_with(&fuse.over(&scene.ground.clients), intervals);
    let kept = dying.run(scene.now(), PLENTY).await;
    if fuse.is_blown() {
        assert!(!kept.failed.is_empty(), "a step that fails is told of");
    }
    let place = &scene.ground.place;
    for queue in [&place.returned, &place.dead_letters] {
        scene.wait_until_shown(queue).await;
    }
    // What was moved on and not queued waits for its next look.
    for pause in [0, 11] {
        scene.advance(minutes(pause));
        let keeper = scene.keeper(&scene.ground.clients);
        let healed = keeper.run(scene.now(), PLENTY).await;
        assert_eq!(healed.failed, [], "{after}");
    }
    disaster.is_mended(&after).await;
    fuse.is_blown()
}

async fn cut_everywhere(then: Then) {
    for first in (0..MOST).step_by(AT_ONCE as usize) {
        let some = (first..first + AT_ONCE).map(|made| cut_behind(made, then));
        if join_all(some).await.contains(&false) {
            assert!(first > 40, "a run makes many calls, not {first}");
            return;
        }
    }
    panic!("a run makes less than {MOST} calls");
}

#[tokio::test]
async fn wherever_a_run_is_cut_the_next_ones_mend_all_of_it() {
    cut_everywhere(Then::Death).await;
}

#[tokio::test]
async fn whichever_call_fails_the_other_steps_go_on_and_the_next_runs_mend_the_rest() {
    cut_everywhere(Then::Life).await;
}
