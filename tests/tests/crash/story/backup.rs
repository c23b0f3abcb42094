//! A backup dies while a Switchboard serves.

use std::process::ExitStatus;

use switchboard_core::fail::FailPoint;
use switchboard_tests::switchboard::{self, Switchboard};

use super::Scene;
use super::posting::post;
use crate::book::Manner;
use crate::death::Death;
use crate::promise::holds;
use crate::stored::data;

/// Either there is no backup and the next one makes it, or it is whole; what is served from is untouched.
pub(super) async fn backing_up(death: Death) {
    let scene = Scene::new(Manner::Well).await;
    let switchboard = Switchboard::start(scene.start.clone()).await;
    let answered = post(&switchboard, 5).await.answered;
    switchboard.wait_total("waiting", 0).await;
    let copy = switchboard.folder().join("copy.sqlite");
    let backup = ["backup", "copy.sqlite", "--data", "data"];
    death.check(run(&switchboard, &backup, Some(death)).await);
    let named = death.point == FailPoint::BackupNamed;
    assert_eq!(
        copy.exists(),
        named,
        "a backup has its name when it is whole"
    );
    let ended = run(&switchboard, &backup, None).await;
    assert_eq!(
        ended.success(),
        !named,
        "the next backup is made, unless the copy is there: {ended}"
    );
    let part = switchboard.folder().join("copy.sqlite.part");
    assert!(!part.exists(), "what the dead one left is cleared away");
    holds(&switchboard, &answered, &scene.book).await;
    let restored = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(data(restored.path())).expect("a folder");
    std::fs::copy(copy, data(restored.path()).join("switchboard.sqlite")).expect("restored");
    drop(switchboard);
    let switchboard = Switchboard::start_in(restored, scene.start.clone()).await;
    holds(&switchboard, &answered, &scene.book).await;
}

async fn run(switchboard: &Switchboard, arguments: &[&str], death: Option<Death>) -> ExitStatus {
    let mut command = switchboard::command(switchboard.folder());
    command.args(arguments);
    if let Some(death) = death {
        command.env("SWITCHBOARD_FAIL", death.to_string());
    }
    command.output().await.expect("it runs").status
}
