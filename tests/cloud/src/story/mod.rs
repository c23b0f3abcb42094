//! The story of a deployed Switchboard, told through its outside alone: senders post, destinations are delivered to, and an
//! operator asks and does. Each part is a step; the numbers at the end are those of all parts together.

mod attempts;
mod copies;
mod events;
mod hold;
mod looks;
mod many;
mod page;
mod replays;
mod setting;
mod stray;

use crate::deployed::Deployed;
use crate::told::Told;
use setting::Scene;

/// Tells all of it. It fails by panicking, with what was expected.
pub async fn tell(deployed: &Deployed, told: &mut Told) {
    let scene = told
        .step("the configuration is applied", Scene::set(deployed))
        .await;
    told.step(
        "a message that is not ours is in the queue",
        stray::put(&scene),
    )
    .await;
    // It takes a minute until its attempts are used up, in which the other parts are told.
    let failing = told
        .step("a destination begins to fail", attempts::begin(&scene))
        .await;
    told.step(
        "an event of each source is delivered",
        events::of_each_source(&scene),
    )
    .await;
    told.step("a repeat changes nothing", events::a_repeat(&scene, 4))
        .await;
    told.step(
        "what is signed with another secret is refused",
        events::a_refusal(&scene),
    )
    .await;
    told.step("your endpoint gets a signed copy", copies::signed(&scene))
        .await;
    told.step(
        "a held destination waits and is released",
        hold::and_release(&scene),
    )
    .await;
    told.step(
        "a dead letter is redriven with six more attempts",
        attempts::redriven(&scene),
    )
    .await;
    told.step(
        "the usual six attempts, with their pauses",
        attempts::used_up(&scene, &failing),
    )
    .await;
    told.step(
        "a stored event is delivered again on purpose",
        replays::once_more(&scene),
    )
    .await;
    // By now it is looked whether something of the event is missing.
    told.step(
        "a late repeat changes nothing either",
        events::a_repeat(&scene, 8),
    )
    .await;
    told.step(
        "300 events at once, none lost and none applied twice",
        many::at_once(&scene),
    )
    .await;
    told.step("the totals are exact", events::add_up(&scene))
        .await;
    told.step(
        "the last hour tells all of it",
        looks::at_the_last_hour(&scene),
    )
    .await;
    told.step("one event is found among all", looks::at_one_event(&scene))
        .await;
    told.step(
        "the keeper removes the tickets of what was delivered",
        attempts::tickets_go(&scene),
    )
    .await;
    told.step("what is not ours has held up nothing", stray::waits(&scene))
        .await;
    told.step("the page shows what the server holds", page::shows(&scene))
        .await;
}
