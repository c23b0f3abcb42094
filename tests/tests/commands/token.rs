//! Which admin token counts for a command, and what it is told without the right one.

use std::os::unix::fs::PermissionsExt;

use switchboard_tests::run::Run;
use switchboard_tests::setting;
use switchboard_tests::sink::Sink;
use switchboard_tests::switchboard::{Start, Switchboard, TOKEN};

const VARIABLE: &str = "SWITCHBOARD_ADMIN_TOKEN";

#[tokio::test]
async fn the_wrong_token_ends_with_1_and_one_clear_line() {
    let switchboard = Switchboard::start(Start::sample().flag("--receivers=off")).await;
    let wrong = "another-token-entirely";
    for arguments in [
        &["redrive", "--all"][..],
        &["hold", "chat"],
        &["release", "chat"],
        &["endpoint", "set", "http://127.0.0.1:9/"],
        &["endpoint", "rotate"],
        &["endpoint", "clear"],
    ] {
        let arguments = [arguments, &["--token", wrong]].concat();
        let (code, printed) = switchboard.run(&arguments).await;
        assert_eq!(code, 1, "{arguments:?}: {printed}");
        assert_eq!(
            printed, "switchboard: the admin token is not the one of that Switchboard\n",
            "{arguments:?}"
        );
    }
    let overview = switchboard.get("/api/overview").await;
    assert_eq!(overview["held"].as_array().map(Vec::len), Some(0));
    assert_eq!(overview["your_endpoint"]["set"], false);
}

#[tokio::test]
async fn without_a_token_it_says_where_it_looked_and_how_to_give_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let ended = Run::of(folder.path(), &["redrive", "--all", "--data", "elsewhere"])
        .unset(VARIABLE)
        .ended()
        .await;
    assert_eq!((ended.code, ended.lines().len()), (1, 1), "{ended:?}");
    for word in ["--token", VARIABLE, "--data", "elsewhere"] {
        assert!(ended.err.contains(word), "it says {word}: {}", ended.err);
    }
}

#[tokio::test]
async fn the_token_that_a_switchboard_made_itself_is_private_stays_and_works_from_its_file() {
    let start = Start::sample().flag("--receivers=off").unset(VARIABLE);
    let switchboard = Switchboard::start(start.clone()).await;
    let file = switchboard.folder().join("data/admin-token");
    let token = std::fs::read_to_string(&file).expect("the token");
    let mode = std::fs::metadata(&file)
        .expect("the file")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600, "for its owner only");
    assert!(token.len() >= 32, "long enough not to be guessed");
    assert!(!switchboard.log().contains(&token) && !switchboard.printed.concat().contains(&token));
    let (code, printed) = switchboard.run(&["hold", "chat", "--data", "data"]).await;
    assert_eq!(code, 0, "{printed}");
    let (code, printed) = switchboard
        .run(&["release", "chat", "--token", token.trim()])
        .await;
    assert_eq!(code, 0, "{printed}");
    let (code, printed) = switchboard.run(&["hold", "chat", "--token", TOKEN]).await;
    assert_eq!(code, 1, "no other does: {printed}");
    let (_, folder) = switchboard.stop().await;
    let switchboard = Switchboard::start_in(folder, start).await;
    assert_eq!(
        std::fs::read_to_string(&file).expect("the token"),
        token,
        "it is the same after a restart"
    );
    let (code, printed) = switchboard.run(&["hold", "chat"]).await;
    assert_eq!(
        code, 0,
        "the folder data is where it looks by itself: {printed}"
    );
}

#[tokio::test]
async fn a_token_that_is_given_is_not_written_down() {
    let sink = Sink::start().await;
    let start = setting::start(&setting::configuration(&sink));
    let switchboard = Switchboard::start(start).await;
    assert!(!switchboard.folder().join("data/admin-token").exists());
    let (code, printed) = switchboard.run(&["hold", "accounting"]).await;
    assert_eq!(code, 0, "{printed}");
}

#[tokio::test]
async fn where_nothing_listens_it_ends_with_1_and_says_what_to_do() {
    let folder = tempfile::tempdir().expect("a folder");
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", free.local_addr().expect("an address"));
    drop(free);
    let ended = Run::of(
        folder.path(),
        &["hold", "chat", "--url", &url, "--data", "mine"],
    )
    .ended()
    .await;
    assert_eq!((ended.code, ended.lines().len()), (1, 1), "{ended:?}");
    for word in [&*url, "`switchboard serve --data mine`", "--url"] {
        assert!(ended.err.contains(word), "it says {word}: {}", ended.err);
    }
}
