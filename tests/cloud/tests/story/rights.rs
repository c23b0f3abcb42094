//! The least that each function needs: the story holds with what the template grants, and what it grants is needed.

use std::collections::BTreeSet;

use switchboard_cloud::deployed::{Deployed, Ears, FUNCTIONS, Setting};
use switchboard_cloud::rights::{Right, granted};
use switchboard_cloud::story;
use switchboard_cloud::template::template;
use switchboard_cloud::told::Told;
use switchboard_testkit::emulator::Rights;

/// What the platform does in the worker's name, to take hints from the queue for it.
const BY_THE_PLATFORM: [&str; 3] = [
    "sqs:DeleteMessage",
    "sqs:GetQueueAttributes",
    "sqs:ReceiveMessage",
];

fn is_the_platforms(function: &str, (action, on): &Right) -> bool {
    function == "Worker" && on == "Deliveries.Arn" && BY_THE_PLATFORM.contains(&action.as_str())
}

#[tokio::test]
async fn the_story_holds_with_the_rights_of_the_template_and_takes_each_of_them() {
    let mut told = Told::default();
    let setting = Setting {
        ears: Ears::Open,
        ..Setting::with(Rights::Enforced)
    };
    let deployed = Deployed::start(setting, &mut told).await;
    story::tell(&deployed, &mut told).await;
    for (function, _) in FUNCTIONS {
        let (granted, taken) = (granted(&template(), function), deployed.taken(function));
        let beyond: BTreeSet<&Right> = taken.difference(&granted).collect();
        assert!(
            beyond.is_empty(),
            "{function} asked for what it may not do: {beyond:?}"
        );
        let unused = granted.difference(&taken);
        let unused: BTreeSet<&Right> = unused
            .filter(|right| !is_the_platforms(function, right))
            .collect();
        assert!(
            unused.is_empty(),
            "{function} may do what it never does: {unused:?}"
        );
    }
}
