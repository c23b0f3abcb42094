//! Runs in which a step takes all the time it can.

use std::time::Duration;

use switchboard_aws::keeper::{Budget, Step};
use switchboard_testkit::emulator::Emulator;

use crate::disaster::Disaster;
use crate::proxy::{Fate, Proxy, Request};
use crate::scene::{PLENTY, Scene, minutes};

/// A run whose first step has seven seconds, and each other one more time than a busy machine needs.
const SHORT: Budget = Budget {
    time: Duration::from_secs(12),
    ..PLENTY
};

/// Something before the services that never answers what `unanswered` says.
fn silent(mut unanswered: impl FnMut(&Request) -> bool + Send + 'static) -> Proxy {
    Proxy::start(Emulator::shared().address(), move |request| {
        if unanswered(request) {
            Fate::Unanswered
        } else {
            Fate::Passed
        }
    })
}

#[tokio::test]
async fn a_walk_that_takes_all_its_time_keeps_nothing_from_the_other_steps() {
    let disaster = Disaster::new().await;
    let scene = &disaster.scene;
    let proxy = silent(|request| request.body.contains("cursor#near"));
    let keeper = scene.keeper(&scene.clients_through(&proxy));
    let kept = keeper.run(scene.now(), SHORT).await;
    assert_eq!(kept.failed, [Step::Near], "{kept:?}");
    assert!(kept.overdue > 0, "{kept:?}");
    assert_eq!(kept.returned.sent_back, 1, "{kept:?}");
    assert_eq!(kept.released, 1, "{kept:?}");
    assert_eq!(kept.tickets.removed, 1, "{kept:?}");
    assert!(kept.folded > 0, "{kept:?}");
}

#[tokio::test]
async fn walks_that_are_given_up_again_and_again_come_to_the_end() {
    const EVENTS: u32 = 160;
    let scene = Scene::new().await;
    for n in 0..EVENTS {
        scene
            .accept_cut(&scene.event(&n.to_string()), &["chat"])
            .await;
    }
    scene.advance(minutes(4));
    let mut looked_at = 0;
    let proxy = silent(move |request| {
        let of_an_event = request.operation == "Query" && request.body.contains("E#evt_");
        looked_at += u32::from(of_an_event);
        of_an_event && looked_at > 140
    });
    let keeper = scene.keeper(&scene.clients_through(&proxy));
    let kept = keeper.run(scene.now(), SHORT).await;
    assert!(kept.failed.contains(&Step::Near), "{kept:?}");
    let first = kept.near.events;
    let kept = scene.run().await;
    let second = kept.near.events;
    assert!(first + second >= EVENTS, "{first} and {second}");
    assert!(
        second <= 60,
        "it begins where it was given up, not with {second}"
    );
}
