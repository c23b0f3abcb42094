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

/// What is needed only after a crash, when a message cannot be read or comes back, or when an event comes again after its
/// life: function, action and what it is on. The
/// story has none of that.
const AFTER_A_CRASH: [(&str, &str, &str); 8] = [
    // What an earlier life of an event left is removed.
    ("Ingress", "dynamodb:DeleteItem", "Table.Arn"),
    ("Status", "dynamodb:DeleteItem", "Table.Arn"),
    // Events without records, and deliveries that are overdue, are queued.
    ("Keeper", "sqs:SendMessage", "Deliveries.Arn"),
    // What the platform gave up is looked at, and dies after its third return; a death that owes its ticket gets it.
    ("Keeper", "sqs:DeleteMessage", "Returned.Arn"),
    ("Keeper", "sqs:ChangeMessageVisibility", "Returned.Arn"),
    ("Keeper", "sqs:SendMessage", "DeadLetters.Arn"),
    // A ticket that stays is shown again.
    ("Keeper", "sqs:ChangeMessageVisibility", "DeadLetters.Arn"),
    // What cannot be read is laid aside.
    ("Worker", "sqs:SendMessage", "Returned.Arn"),
];

/// Whether the story need not take this right.
fn is_elsewhere(function: &str, (action, on): &Right) -> bool {
    let is_the_platforms = function == "Worker"
        && on == "Deliveries.Arn"
        && BY_THE_PLATFORM.contains(&action.as_str());
    is_the_platforms || AFTER_A_CRASH.contains(&(function, action, on))
}

#[tokio::test]
async fn the_story_holds_with_the_rights_of_the_template_and_takes_each_but_those_for_a_crash() {
    let mut told = Told::default();
    let setting = Setting {
        ears: Ears::Open,
        ..Setting::with(Rights::Enforced)
    };
    let deployed = Deployed::start(setting, &mut told).await;
    story::tell(&deployed, &mut told).await;
    let (mut beyond, mut unused) = (BTreeSet::new(), BTreeSet::new());
    for (function, _) in FUNCTIONS {
        let (granted, taken) = (granted(&template(), function), deployed.taken(function));
        let of = |right: &Right| (function, right.clone());
        beyond.extend(taken.difference(&granted).map(of));
        let unused_of = granted.difference(&taken);
        unused.extend(
            unused_of
                .filter(|right| !is_elsewhere(function, right))
                .map(of),
        );
    }
    assert!(
        beyond.is_empty() && unused.is_empty(),
        "asked for without a right: {beyond:#?}; granted and never needed: {unused:#?}"
    );
}
