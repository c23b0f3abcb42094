//! Two keepers at once.

use futures_util::future::join_all;

use crate::disaster::Disaster;
use crate::scene::{PLENTY, minutes};

#[tokio::test]
async fn two_keepers_at_once_come_to_what_one_comes_to() {
    for keepers in [1, 2, 2, 3] {
        let disaster = Disaster::new().await;
        let scene = &disaster.scene;
        let runs = (0..keepers).map(async |_| {
            let keeper = scene.keeper(&scene.ground.clients);
            keeper.run(scene.now(), PLENTY).await
        });
        let kept = join_all(runs).await;
        for kept in &kept {
            assert_eq!(kept.failed, []);
        }
        let sum = |of: fn(&switchboard_aws::keeper::Kept) -> u32| kept.iter().map(of).sum::<u32>();
        assert_eq!(sum(|kept| kept.overdue), 1, "moved by one of them");
        assert_eq!(sum(|kept| kept.released), 1, "released by one of them");
        assert!(sum(|kept| kept.near.queued) >= 2);
        scene.advance(minutes(1));
        disaster.is_mended(&format!("{keepers} at once")).await;
        let after = scene.keeper(&scene.ground.clients);
        let after = after.run(scene.now(), PLENTY).await;
        assert_eq!((after.near.queued, after.far.queued), (0, 0), "walked");
    }
}
