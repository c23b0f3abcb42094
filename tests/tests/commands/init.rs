//! `init`: a configuration of one's own to start from.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use switchboard_tests::receivers::{self, Receivers};
use switchboard_tests::run::{Ended, Run};
use switchboard_tests::switchboard::{Start, Switchboard};
use switchboard_tests::wait;

async fn init(folder: &Path, into: &str) -> Ended {
    Run::of(folder, &["init", into]).ended().await
}

fn read(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[tokio::test]
async fn what_it_writes_holds_and_its_secret_is_for_its_owner_only() {
    let folder = tempfile::tempdir().expect("a folder");
    let ended = init(folder.path(), "mine").await;
    assert_eq!(ended.code, 0, "{}", ended.err);
    let mode = |name: &str| {
        let metadata = std::fs::metadata(folder.path().join(name)).expect("it is there");
        metadata.permissions().mode() & 0o777
    };
    assert_eq!(
        (mode("mine/secrets/my-app"), mode("mine/secrets")),
        (0o600, 0o700)
    );
    let secret = read(folder.path(), "mine/secrets/my-app");
    assert!(secret.starts_with("whsec_"), "a Standard Webhooks secret");
    assert!(!ended.out.contains(&secret), "the secret is not printed");
    assert!(!read(folder.path(), "mine/switchboard.toml").contains(&secret));
    let check = ["check", "--config", "mine/switchboard.toml"];
    let ended = Run::of(folder.path(), &check).ended().await;
    assert_eq!((ended.code, &*ended.err), (0, ""), "not even a warning");
    assert!(
        ended.out.contains("1 source, 1 destination, 1 route"),
        "{}",
        ended.out
    );
}

#[tokio::test]
async fn a_switchboard_with_it_accepts_what_send_posts_and_delivers_it_to_the_sample_receiver() {
    let receivers = Receivers::start().await;
    let folder = tempfile::tempdir().expect("a folder");
    let ended = init(folder.path(), ".").await;
    assert_eq!(ended.code, 0, "{}", ended.err);
    // The one change: these receivers are on a free port rather than on the usual one.
    let usual = "http://127.0.0.1:3001/";
    let text = read(folder.path(), "switchboard.toml");
    assert!(text.contains(&format!("url = \"{usual}chat\"")));
    let start = Start::with(&text.replace(usual, receivers.url.as_str()));
    let switchboard = Switchboard::start_in(folder, start).await;
    assert!(
        switchboard
            .printed
            .iter()
            .any(|line| line.contains("/in/my-app"))
    );
    let send = [
        "send",
        "my-app",
        "something.happened",
        "--config",
        "switchboard.toml",
    ];
    let (code, printed) = switchboard.run(&send).await;
    assert!(code == 0 && printed.contains("accepted"), "{printed}");
    let lines = wait::until("the chat has its line", async || {
        let books = receivers::books(&receivers.url).await;
        (books["chat"]["total"] == 1).then(|| books["chat"]["lines"].clone())
    })
    .await;
    assert_eq!(lines[0]["line"], "my-app: something.happened");
    switchboard.wait_total("delivered", 1).await;
}

#[tokio::test]
async fn it_prints_how_to_run_it_and_how_to_send_to_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let ended = init(folder.path(), "mine").await;
    for (command, flag) in [
        (" serve --config ", " --receivers 127.0.0.1:3001"),
        (" send my-app something.happened --config ", ""),
    ] {
        let line = ended.out.lines().find(|line| line.contains(command));
        let line = line.unwrap_or_else(|| panic!("no line with {command:?}: {}", ended.out));
        assert!(line.ends_with(flag), "{line}");
    }
    assert!(ended.out.contains("mine/switchboard.toml"), "{}", ended.out);
}

#[tokio::test]
async fn again_it_overwrites_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    assert_eq!(init(folder.path(), "mine").await.code, 0);
    let before =
        ["mine/switchboard.toml", "mine/secrets/my-app"].map(|name| read(folder.path(), name));
    let ended = init(folder.path(), "mine").await;
    assert_eq!((ended.code, ended.lines().len()), (1, 1), "{ended:?}");
    assert!(
        ended.err.contains("mine/switchboard.toml exists already"),
        "{}",
        ended.err
    );
    let after =
        ["mine/switchboard.toml", "mine/secrets/my-app"].map(|name| read(folder.path(), name));
    assert_eq!(before, after);
}

#[tokio::test]
async fn a_configuration_of_ones_own_is_left_alone_and_nothing_is_made() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("switchboard.toml"), "mine").expect("a file");
    let ended = init(folder.path(), ".").await;
    assert_eq!((ended.code, ended.lines().len()), (1, 1), "{ended:?}");
    assert_eq!(read(folder.path(), "switchboard.toml"), "mine");
    assert!(!folder.path().join("secrets").exists(), "nothing is made");
}

#[tokio::test]
async fn a_secret_that_is_there_is_kept_and_the_configuration_written() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("secrets")).expect("a folder");
    std::fs::write(folder.path().join("secrets/my-app"), "mine").expect("a file");
    let ended = init(folder.path(), ".").await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.out.contains("kept: "), "{}", ended.out);
    assert_eq!(read(folder.path(), "secrets/my-app"), "mine");
    assert!(read(folder.path(), "switchboard.toml").contains("[[source]]"));
    assert_eq!(read(folder.path(), "secrets/.gitignore"), "*\n");
}

#[tokio::test]
async fn two_have_different_secrets() {
    let folder = tempfile::tempdir().expect("a folder");
    for into in ["one", "two"] {
        assert_eq!(init(folder.path(), into).await.code, 0);
    }
    assert_ne!(
        read(folder.path(), "one/secrets/my-app"),
        read(folder.path(), "two/secrets/my-app")
    );
}

#[tokio::test]
async fn a_folder_that_cannot_be_made_ends_with_1_and_one_line() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("file"), "").expect("a file");
    let ended = init(folder.path(), "file/below").await;
    assert_eq!((ended.code, ended.lines().len()), (1, 1), "{ended:?}");
    assert!(ended.err.contains("file/below"), "{}", ended.err);
}
