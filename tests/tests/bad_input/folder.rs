//! Addresses, folders and stores that cannot be used: one clear line each.

use std::path::Path;

use switchboard_tests::run::{Ended, Run};
use switchboard_tests::switchboard::{Start, Switchboard};

const SERVE: [&str; 5] = ["serve", "--listen", "127.0.0.1:0", "--receivers", "off"];

/// One line, and neither success nor a panic.
fn one_line(ended: &Ended, words: &[&str]) {
    assert_eq!(
        (ended.code, ended.lines().len(), &*ended.out),
        (1, 1, ""),
        "{ended:?}"
    );
    assert!(ended.err.starts_with("switchboard: "), "{}", ended.err);
    for word in words {
        assert!(ended.err.contains(word), "it says {word}: {}", ended.err);
    }
}

async fn serve(folder: &Path, data: &str) -> Ended {
    Run::of(folder, &[&SERVE[..], &["--data", data]].concat())
        .ended()
        .await
}

/// A folder whose `data` a Switchboard has used and left in order.
async fn left_behind() -> tempfile::TempDir {
    let switchboard = Switchboard::start(Start::sample().flag("--receivers=off")).await;
    let (ended, folder) = switchboard.stop().await;
    assert_eq!(ended.code(), Some(0));
    folder
}

#[tokio::test]
async fn an_address_that_is_taken_is_named_with_the_flag_that_gives_another() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    let folder = tempfile::tempdir().expect("a folder");
    let arguments = [
        "serve",
        "--listen",
        &address,
        "--receivers",
        "off",
        "--data",
        "data",
    ];
    let ended = Run::of(folder.path(), &arguments).ended().await;
    one_line(&ended, &[&address, "--listen"]);
    assert!(!folder.path().join("data").exists(), "nothing is made");
    let arguments = [
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--receivers",
        &address,
        "--data",
        "data",
    ];
    let ended = Run::of(folder.path(), &arguments).ended().await;
    one_line(&ended, &[&address, "--receivers"]);
    assert!(!folder.path().join("data").exists(), "nothing is made");
}

#[tokio::test]
async fn of_two_that_are_started_alike_the_second_is_told_of_the_folder() {
    let switchboard = Switchboard::start(Start::sample().flag("--receivers=off")).await;
    let port = switchboard.url.port().expect("a port");
    let arguments = [
        "serve",
        "--listen",
        &format!("127.0.0.1:{port}"),
        "--receivers",
        "off",
        "--data",
        "data",
    ];
    let ended = Run::of(switchboard.folder(), &arguments).ended().await;
    one_line(&ended, &["the data folder data is in use"]);
}

#[tokio::test]
async fn a_folder_that_a_running_one_uses_is_left_to_it() {
    let switchboard = Switchboard::start(Start::sample().flag("--receivers=off")).await;
    let ended = serve(switchboard.folder(), "data").await;
    one_line(&ended, &["the data folder data is in use", "--data"]);
    assert_eq!(switchboard.total("stored").await, 0, "the first goes on");
}

#[tokio::test]
async fn a_folder_is_free_again_after_a_crash() {
    let start = Start::sample().flag("--receivers=off");
    let (folder, start) = Switchboard::start(start).await.kill().await;
    let switchboard = Switchboard::start_in(folder, start).await;
    assert_eq!(switchboard.total("stored").await, 0);
}

#[tokio::test]
async fn a_folder_that_cannot_be_made_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("file"), "mine").expect("a file");
    for data in ["file", "file/below"] {
        one_line(
            &serve(folder.path(), data).await,
            &[data, "cannot be written"],
        );
    }
    assert_eq!(
        std::fs::read_to_string(folder.path().join("file")).expect("text"),
        "mine"
    );
}

#[tokio::test]
async fn a_store_of_a_newer_version_is_left_as_it_is() {
    let folder = left_behind().await;
    let file = folder.path().join("data/switchboard.sqlite");
    let mut store = std::fs::read(&file).expect("a store");
    // The user version of a SQLite file: four bytes at 60, the highest first.
    store[60..64].copy_from_slice(&99_u32.to_be_bytes());
    std::fs::write(&file, &store).expect("a store");
    one_line(
        &serve(folder.path(), "data").await,
        &[
            "data/switchboard.sqlite",
            "schema version 99",
            "use a newer switchboard",
        ],
    );
    assert_eq!(
        std::fs::read(&file).expect("a store"),
        store,
        "not one byte of it changed"
    );
}

#[tokio::test]
async fn a_file_that_is_no_store_of_ours_is_left_as_it_is() {
    let folder = left_behind().await;
    let file = folder.path().join("data/switchboard.sqlite");
    let mut foreign = std::fs::read(&file).expect("a store");
    // The application id of a SQLite file.
    foreign[68..72].copy_from_slice(b"else");
    for (content, says) in [
        (foreign, "another program's"),
        (b"no database at all ".repeat(100), "not a database"),
    ] {
        std::fs::write(&file, &content).expect("a store");
        one_line(
            &serve(folder.path(), "data").await,
            &["data/switchboard.sqlite", says],
        );
        assert_eq!(
            std::fs::read(&file).expect("a store"),
            content,
            "not one byte of it changed"
        );
    }
}

#[tokio::test]
async fn receivers_books_of_a_newer_version_are_one_clear_line() {
    let switchboard = Switchboard::start(Start::sample()).await;
    let (_, folder) = switchboard.stop().await;
    let file = folder.path().join("data/receivers.sqlite");
    let mut books = std::fs::read(&file).expect("books");
    books[60..64].copy_from_slice(&99_u32.to_be_bytes());
    std::fs::write(&file, &books).expect("books");
    for arguments in [
        &["receivers", "--listen", "127.0.0.1:0", "--data", "data"][..],
        &["serve", "--listen", "127.0.0.1:0", "--data", "data"],
    ] {
        let ended = Run::of(folder.path(), arguments).ended().await;
        assert_eq!((ended.code, ended.lines().len()), (1, 1), "{ended:?}");
        assert!(ended.err.contains("newer version: 99"), "{}", ended.err);
    }
}
