//! Events past their life are removed while it dies.

use switchboard_tests::setting::sender;
use switchboard_tests::switchboard::Switchboard;
use switchboard_tests::wait;

use super::Scene;
use crate::book::Manner;
use crate::death::Death;
use crate::stored;

/// More than two steps remove.
const PAST: u32 = 450;

/// In the end what is past its life is gone, what is not stays, and the totals tell what happened.
pub(super) async fn expiring(death: Death) {
    let scene = Scene::new(Manner::Well).await;
    let folder = stored::past_events(PAST).await;
    let folder = death.at_start(folder, scene.start.clone()).await;
    let switchboard = Switchboard::start_in(folder, scene.start.clone()).await;
    let shop = sender(&switchboard, "shop");
    let event = shop.send("fresh", "other", "{}").await.event();
    let kept = wait::until("what is past its life is gone", async || {
        let events = switchboard.list("/api/events").await;
        (events.len() == 1).then_some(events)
    });
    assert_eq!(kept.await[0]["event"], event);
    assert_eq!(switchboard.total("stored").await, u64::from(PAST) + 1);
    switchboard.wait_total("delivered", 1).await;
}
