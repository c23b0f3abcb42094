//! What these stories share: making a copy, and putting it in place as README tells it.

use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use switchboard_tests::run::Run;
use switchboard_tests::switchboard::{Start, Switchboard};
use tempfile::TempDir;

/// Copies the store of `folder` to the file `copy` in it.
pub(crate) async fn backup(folder: &Path) -> PathBuf {
    backup_named(folder, "copy").await
}

/// The same, to a file of this name.
pub(crate) async fn backup_named(folder: &Path, name: &str) -> PathBuf {
    let ended = Run::of(folder, &["backup", name, "--data", "data"])
        .ended()
        .await;
    assert_eq!((ended.code, &*ended.err), (0, ""), "{ended:?}");
    let copy = folder.join(name);
    let mode = copy.metadata().expect("the copy").permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "for its owner only");
    copy
}

/// A new folder whose `data` holds nothing but the copy.
pub(crate) fn restored(copy: &Path) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    std::fs::DirBuilder::new()
        .mode(0o700)
        .create(&data)
        .expect("a folder");
    std::fs::copy(copy, data.join("switchboard.sqlite")).expect("put in place");
    folder
}

/// A Switchboard over the copy, started like the first one.
pub(crate) async fn restart(copy: &Path, start: Start) -> Switchboard {
    Switchboard::start_in(restored(copy), start).await
}

/// The names in a folder, sorted.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut names: Vec<_> = entries
        .map(|entry| entry.expect("an entry").file_name())
        .map(|name| name.to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}
