//! A folder is opened, or everything ends, while it dies.

use switchboard_tests::setting::sender;
use switchboard_tests::switchboard::Switchboard;

use super::Scene;
use super::posting::post;
use crate::book::Manner;
use crate::death::Death;
use crate::promise::holds;
use crate::stored::{self, data};

/// A first start that was cut anywhere is followed by one that works.
pub(super) async fn opening(death: Death) {
    let scene = Scene::new(Manner::Well).await;
    let folder = tempfile::tempdir().expect("a folder");
    let folder = death.at_start(folder, scene.start.clone()).await;
    let switchboard = Switchboard::start_in(folder, scene.start.clone()).await;
    let answered = post(&switchboard, 3).await.answered;
    assert_eq!(answered.len(), 9);
    holds(&switchboard, &answered, &scene.book).await;
}

/// A folder of the first version is brought to this one, and what waits in it is delivered.
pub(super) async fn upgrading(death: Death) {
    let scene = Scene::new(Manner::Well).await;
    let folder = death
        .at_start(stored::of_first_version(), scene.start.clone())
        .await;
    let switchboard = Switchboard::start_in(folder, scene.start.clone()).await;
    let answered = post(&switchboard, 1).await.answered;
    holds(&switchboard, &answered, &scene.book).await;
    assert_eq!(
        switchboard.total("delivered").await,
        7,
        "two for each order, and the old one"
    );
}

/// A token that was cut while it was made is made anew, whole.
pub(super) async fn token(death: Death) {
    let scene = Scene::new(Manner::Well).await;
    let start = scene.start.clone().unset("SWITCHBOARD_ADMIN_TOKEN");
    let folder = tempfile::tempdir().expect("a folder");
    let folder = death.at_start(folder, start.clone()).await;
    let token = data(folder.path()).join("admin-token");
    assert!(
        !token.exists(),
        "half a token would count as the token ever after"
    );
    let switchboard = Switchboard::start_in(folder, start).await;
    let kept = std::fs::read_to_string(token).expect("a token");
    assert_eq!(kept.len(), 64, "32 bytes in hexadecimal");
    let (code, printed) = switchboard
        .run(&["hold", "accounting", "--data", "data"])
        .await;
    assert_eq!(
        code, 0,
        "the token in the folder is the one that counts: {printed}"
    );
    let names = std::fs::read_dir(data(switchboard.folder())).expect("a folder");
    let part = names
        .filter_map(Result::ok)
        .find(|entry| entry.file_name() == "admin-token.part");
    assert!(part.is_none(), "no part is left");
}

/// It dies although it was asked to end in order.
pub(super) async fn stopping(death: Death) {
    let scene = Scene::new(Manner::Well).await;
    let folder = tempfile::tempdir().expect("a folder");
    let switchboard = death.begun(folder, scene.start.clone()).await;
    let switchboard = switchboard.expect("it serves until it is asked to end");
    let mut answered = post(&switchboard, 5).await.answered;
    switchboard.terminate().await;
    let folder = death.came(switchboard).await;
    let switchboard = Switchboard::start_in(folder, scene.start.clone()).await;
    let shop = sender(&switchboard, "shop");
    answered.push(shop.send("after", "other", "{}").await.event());
    holds(&switchboard, &answered, &scene.book).await;
}
