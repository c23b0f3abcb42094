//! The built-in sample, whose secrets are public, and the token that guards everything else.

use serde_json::Value;
use switchboard_tests::run::Run;
use switchboard_tests::switchboard::{Start, Switchboard, TOKEN};

const VARIABLE: &str = "SWITCHBOARD_ADMIN_TOKEN";

#[tokio::test]
async fn the_built_in_sample_listens_on_loopback_only() {
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:3000"] {
        let folder = tempfile::tempdir().expect("a folder");
        let arguments = [
            "serve",
            "--listen",
            address,
            "--receivers",
            "127.0.0.1:0",
            "--data",
            "data",
        ];
        let ended = Run::of(folder.path(), &arguments).ended().await;
        assert_eq!(
            (ended.code, ended.lines().len(), &*ended.out),
            (64, 1, ""),
            "{ended:?}"
        );
        for word in [address, "loopback", "switchboard init", "--config"] {
            assert!(ended.err.contains(word), "it says {word}: {}", ended.err);
        }
        assert!(!folder.path().join("data").exists(), "nothing is made");
    }
}

#[tokio::test]
async fn its_secrets_are_of_no_use_in_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let sample = switchboard_tests::switchboard::SAMPLE;
    std::fs::write(folder.path().join("copy.toml"), sample).expect("a file");
    let ended = Run::of(folder.path(), &["check", "--config", "copy.toml"])
        .ended()
        .await;
    assert_eq!(
        (ended.code, ended.lines().len()),
        (64, 4),
        "a line for each source: {}",
        ended.err
    );
    assert!(
        ended
            .lines()
            .iter()
            .all(|line| line.contains("sample: secrets are public")),
        "{}",
        ended.err
    );
}

#[tokio::test]
async fn an_admin_token_that_no_header_can_hold_ends_with_64_and_is_not_shown() {
    let token = "sixteen letters but ünlike ASCII";
    let folder = tempfile::tempdir().expect("a folder");
    let arguments = [
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--receivers",
        "off",
        "--data",
        "data",
    ];
    let ended = Run::of(folder.path(), &arguments)
        .set("SWITCHBOARD_ADMIN_TOKEN", token)
        .ended()
        .await;
    assert_eq!((ended.code, ended.lines().len()), (64, 1), "{ended:?}");
    assert!(
        ended.err.contains("SWITCHBOARD_ADMIN_TOKEN"),
        "{}",
        ended.err
    );
    assert!(!ended.err.contains(token), "{}", ended.err);
    assert!(!folder.path().join("data").exists(), "nothing is made");
}

#[tokio::test]
async fn an_admin_token_that_can_be_guessed_is_warned_of_in_the_log_and_not_shown() {
    let start = Start::sample()
        .flag("--receivers=off")
        .flag("--log=json")
        .set(VARIABLE, "hunter2");
    let switchboard = Switchboard::start(start).await;
    let (code, printed) = switchboard.run(&["hold", "chat"]).await;
    assert_eq!(code, 0, "it counts: {printed}");
    let log = switchboard.log_with(VARIABLE).await;
    let warning = log
        .lines()
        .find(|line| line.contains(VARIABLE))
        .expect("a warning");
    let warning: Value = serde_json::from_str(warning).expect("JSON like every other line");
    assert_eq!(warning["level"], "WARN");
    assert!(
        !log.contains("hunter2") && !switchboard.printed.concat().contains("hunter2"),
        "{log}"
    );
}

#[tokio::test]
async fn an_empty_admin_token_is_none_and_one_is_made() {
    for empty in ["", "  "] {
        let start = Start::sample().flag("--receivers=off").set(VARIABLE, empty);
        let switchboard = Switchboard::start(start).await;
        assert!(switchboard.folder().join("data/admin-token").exists());
        let (code, printed) = switchboard.run(&["hold", "chat"]).await;
        assert_eq!(
            code, 0,
            "a command that is given an empty one finds that one: {printed}"
        );
        let (code, _) = switchboard.run(&["hold", "chat", "--token", TOKEN]).await;
        assert_eq!(code, 1, "no other counts");
    }
}
