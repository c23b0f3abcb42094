//! `backup`: a copy of the store while a Switchboard serves from it.

use std::os::unix::fs::PermissionsExt;

use http::StatusCode;
use switchboard_tests::run::Run;
use switchboard_tests::setting::{running, sender, start};
use switchboard_tests::switchboard::Switchboard;

#[tokio::test]
async fn a_switchboard_over_the_copy_knows_everything_that_the_first_one_did() {
    let (sink, switchboard) = running().await;
    sink.answer(|received, _| {
        if received.path == "/warehouse" {
            StatusCode::FORBIDDEN
        } else {
            StatusCode::OK
        }
    });
    let shop = sender(&switchboard, "shop");
    let wrong = shop.headers("1", "orders/create", b"another body");
    assert_eq!(shop.post(wrong, "{}").await.status, 401);
    for id in ["1", "2", "2"] {
        shop.send(id, "orders/create", "{}").await;
    }
    switchboard.wait_total("delivered", 2).await;
    switchboard.wait_total("dead", 2).await;
    let (code, printed) = switchboard
        .run(&["backup", "copy.sqlite", "--data", "data"])
        .await;
    assert_eq!(code, 0, "{printed}");
    assert!(printed.contains("copy.sqlite"), "{printed}");
    let copy = switchboard.folder().join("copy.sqlite");
    let mode = std::fs::metadata(&copy)
        .expect("the copy")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600, "for its owner only");
    // Bodies and all: what comes in now is not in the copy.
    let overview = switchboard.get("/api/overview").await;
    shop.send("3", "orders/create", "{}").await;
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("data")).expect("a folder");
    std::fs::copy(&copy, folder.path().join("data/switchboard.sqlite")).expect("restored");
    let text =
        std::fs::read_to_string(switchboard.folder().join("switchboard.toml")).expect("text");
    let restored = Switchboard::start_in(folder, start(&text)).await;
    for part in ["totals", "sources", "destinations"] {
        assert_eq!(
            restored.get("/api/overview").await[part],
            overview[part],
            "{part}"
        );
    }
    let letters = restored.get("/api/dead-letters").await;
    assert_eq!(letters["items"].as_array().map(Vec::len), Some(2));
    let again = sender(&restored, "shop")
        .send("1", "orders/create", "{}")
        .await;
    assert_eq!(again.body["status"], "repeat", "it knows what was accepted");
    sink.answer(|_, _| StatusCode::OK);
    let (code, printed) = restored.run(&["redrive", "--all"]).await;
    assert_eq!((code, &*printed), (0, "2 sent again, 0 left\n"));
    restored.wait_total("delivered", 4).await;
}

#[tokio::test]
async fn a_file_that_is_there_is_left_as_it_is() {
    let (_sink, switchboard) = running().await;
    let file = switchboard.folder().join("mine");
    std::fs::write(&file, "mine").expect("a file");
    let (code, printed) = switchboard.run(&["backup", "mine", "--data", "data"]).await;
    assert_eq!((code, printed.lines().count()), (1, 1), "{printed}");
    assert_eq!(
        printed,
        "switchboard: mine exists already; a backup never replaces a file\n"
    );
    assert_eq!(std::fs::read_to_string(&file).expect("text"), "mine");
}

#[tokio::test]
async fn a_folder_without_a_store_ends_with_1_and_one_line_and_nothing_is_made() {
    let folder = tempfile::tempdir().expect("a folder");
    let ended = Run::of(folder.path(), &["backup", "copy", "--data", "elsewhere"])
        .ended()
        .await;
    assert_eq!((ended.code, ended.lines().len()), (1, 1), "{ended:?}");
    assert!(ended.err.contains("no store in elsewhere"), "{}", ended.err);
    assert_eq!(
        std::fs::read_dir(folder.path()).expect("a folder").count(),
        0
    );
}

#[tokio::test]
async fn a_place_that_cannot_be_written_ends_with_1_and_one_line() {
    let (_sink, switchboard) = running().await;
    let (code, printed) = switchboard
        .run(&["backup", "not-there/copy", "--data", "data"])
        .await;
    assert_eq!((code, printed.lines().count()), (1, 1), "{printed}");
    assert!(printed.contains("not-there/copy"), "{printed}");
}
