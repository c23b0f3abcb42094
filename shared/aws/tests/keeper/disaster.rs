//! Everything that the keeper mends, at once.

use std::time::Duration;

use switchboard_core::delivery::DeliveryKey;

use crate::scene::{Scene, minutes};

/// What went wrong.
pub(crate) struct Disaster {
    pub(crate) scene: Scene,
    /// The deliveries that are to be attempted in the end.
    open: Vec<DeliveryKey>,
    /// The one whose hint came back.
    back: DeliveryKey,
    /// The one that is dead and stays so.
    dead: DeliveryKey,
}

impl Disaster {
    pub(crate) async fn new() -> Self {
        let scene = Scene::new().await;
        let lost = scene
            .accept_cut(&scene.event("lost"), &["chat", "crm"])
            .await;
        let mut open: Vec<DeliveryKey> = lost.into_iter().map(|queued| queued.key).collect();

        let overdue = scene
            .accept(&scene.event("overdue"), &["chat"])
            .await
            .remove(0);
        let attempt = scene.go(&overdue.key, overdue.due).await;
        scene
            .record_cut(&attempt, scene.now().plus(Duration::from_secs(2)))
            .await;
        open.push(overdue.key);

        let dead = scene.die("dead").await;
        let redriven = scene.die("redriven").await;
        open.push(scene.hold_and_cut("held", "slow").await);
        scene.advance(minutes(4));
        scene.release("slow").await;
        scene.redrive(&redriven).await;
        open.push(redriven);

        // Young, so that only its return tells of it.
        let back = scene
            .accept(&scene.event("back"), &["crm"])
            .await
            .remove(0)
            .key;
        let (mut moved, mut stays) = (0, Vec::new());
        for hint in scene.drain_hints().await {
            if hint.key == back {
                moved += 1;
                scene.put(&scene.ground.place.returned, &hint.text()).await;
            } else {
                stays.push(hint.text());
            }
        }
        for text in stays {
            scene.put(&scene.ground.place.deliveries, &text).await;
        }
        assert_eq!(moved, 1);
        open.push(back.clone());
        Self {
            scene,
            open,
            back,
            dead,
        }
    }

    /// All is mended, and nothing was done twice that must not be.
    pub(crate) async fn is_mended(&self, after: &str) {
        let (scene, place) = (&self.scene, &self.scene.ground.place);
        assert_eq!(scene.count(&place.returned).await, (0, 0), "{after}");
        let returns = scene.attribute(&self.back, "rt").await;
        assert_eq!(returns.as_deref(), Some("1"), "counted once, {after}");
        let tickets = scene.drain(&place.dead_letters).await;
        let [ticket] = tickets.as_slice() else {
            panic!("one ticket stays, not {tickets:?}, {after}");
        };
        assert!(ticket.contains(self.dead.id.as_str()));
        scene.follow(&self.open, after).await;
    }
}
