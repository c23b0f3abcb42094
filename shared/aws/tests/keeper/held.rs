//! Held deliveries of a destination that is not held.

use std::time::Duration;

use switchboard_core::delivery::DeliveryKey;
use switchboard_core::endpoint::Change;
use switchboard_core::names::DestinationName;
use switchboard_core::ports::{Ledger, SettingsStore, Spread};

use crate::scene::{KEEP, PLENTY, Scene, minutes};

impl Scene {
    /// Holds a destination with a delivery that is due; then it is released, and the process dies before that delivery is.
    pub(crate) async fn hold_and_cut(&self, id: &str, to: &str) -> DeliveryKey {
        let planned = self.accept(&self.event(id), &[to]).await;
        let name = DestinationName::parse(to).expect("a name");
        let change = self.backend.change(Change::Hold(name.clone())).await;
        change.expect("held");
        let moved = self.backend.shelve(&name, self.now(), KEEP, 10).await;
        assert_eq!(moved.expect("shelved").done, 1);
        self.drain_hints().await;
        planned[0].key.clone()
    }

    pub(crate) async fn release(&self, to: &str) {
        let spread = Spread {
            start: self.now(),
            per_second: 50,
        };
        let name = DestinationName::parse(to).expect("a name");
        let change = self.backend.change(Change::Release(name, spread)).await;
        change.expect("released");
    }
}

#[tokio::test]
async fn they_are_put_back_once_it_is_not_held() {
    let scene = Scene::new().await;
    let key = scene.hold_and_cut("1001", "chat").await;
    scene.advance(minutes(1));
    assert_eq!(scene.run().await.released, 0, "it is held");
    assert_eq!(scene.attribute(&key, "st").await.as_deref(), Some("1"));
    scene.release("chat").await;
    assert_eq!(scene.run_within(PLENTY).await.released, 1);
    scene.advance(Duration::from_secs(1));
    assert_eq!(scene.run().await.released, 0);
    scene.follow(&[key], "released").await;
}
