//! A backup that cannot be finished leaves no file that looks like one.

use std::process::Stdio;

use switchboard_tests::setting::{running, sender};
use switchboard_tests::switchboard::{Start, Switchboard, binary};
use switchboard_tests::wait::DEADLINE;
use tempfile::TempDir;
use tokio::process::Command;
use tokio::time::timeout;

use crate::setting::{backup, backup_named, names, restart};

/// A data folder with two megabytes in it that nobody serves.
async fn folder() -> (TempDir, Start) {
    let (_sink, switchboard) = running().await;
    for id in ["1", "2"] {
        let body = "x".repeat(1_000_000);
        sender(&switchboard, "shop").send(id, "none", body).await;
    }
    switchboard.kill().await
}

/// Makes a backup that may write `kilobytes` at most; what follows from more is the shell's `beyond` to say.
async fn limited(folder: &TempDir, beyond: &str, kilobytes: u32) -> std::process::Output {
    let mut shell = Command::new("sh");
    shell
        .current_dir(folder.path())
        .env_clear()
        .kill_on_drop(true);
    let script = format!(
        "ulimit -c 0; ulimit -f {}; {beyond} exec \"$0\" \"$@\"",
        kilobytes * 2
    );
    shell
        .args(["-c", &script])
        .arg(binary())
        .args(["backup", "copy", "--data", "data"])
        .stdin(Stdio::null());
    timeout(DEADLINE, shell.output())
        .await
        .expect("it ends")
        .expect("sh")
}

#[tokio::test]
async fn one_that_dies_in_the_middle_leaves_a_part_that_the_next_one_replaces() {
    let (folder, start) = folder().await;
    // More than that ends it by a signal, in the middle of a write.
    let ended = limited(&folder, "", 500).await;
    assert_eq!(ended.status.code(), None, "it died: {ended:?}");
    let left = names(folder.path());
    assert!(left.contains(&"copy.part".to_owned()), "{left:?}");
    assert!(!left.contains(&"copy".to_owned()), "{left:?}");
    let copy = backup(folder.path()).await;
    assert!(!names(folder.path()).contains(&"copy.part".to_owned()));
    assert_eq!(restart(&copy, start).await.total("stored").await, 2);
}

#[tokio::test]
async fn one_that_finds_no_room_says_so_and_leaves_nothing() {
    let (folder, start) = folder().await;
    let before = names(folder.path());
    let ended = limited(&folder, "trap '' XFSZ;", 500).await;
    assert_eq!(ended.status.code(), Some(1), "{ended:?}");
    let error = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(error.lines().count(), 1, "{error}");
    assert!(error.contains("cannot be copied"), "{error}");
    assert_eq!(names(folder.path()), before);
    let goes_on = Switchboard::start_in(folder, start).await;
    assert_eq!(goes_on.total("stored").await, 2, "the store is as it was");
}

#[tokio::test]
async fn a_name_that_looks_like_an_address_is_a_name() {
    let (folder, start) = folder().await;
    let before = names(folder.path());
    let copy = backup_named(folder.path(), "file:copy").await;
    let mut after = names(folder.path());
    after.retain(|name| !before.contains(name));
    assert_eq!(after, ["file:copy"]);
    assert_eq!(restart(&copy, start).await.total("stored").await, 2);
}
