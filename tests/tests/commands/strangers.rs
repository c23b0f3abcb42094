//! What the commands say when something else than a Switchboard answers, and what a configuration of one's own keeps
//! of the built-in sample.

use switchboard_tests::setting;
use switchboard_tests::sink::Sink;
use switchboard_tests::switchboard::{Start, Switchboard};

use switchboard_tests::run::Run;

#[tokio::test]
async fn whoever_answers_200_without_saying_what_was_done_is_not_believed() {
    let sink = Sink::start().await;
    let folder = tempfile::tempdir().expect("a folder");
    let url = sink.url("/");
    for arguments in [
        &["redrive", "--all"][..],
        &["hold", "chat"],
        &["release", "chat"],
        &["endpoint", "set", "https://example.com/"],
        &["endpoint", "rotate"],
        &["endpoint", "clear"],
    ] {
        let arguments = [arguments, &["--url", &url]].concat();
        let ended = Run::of(folder.path(), &arguments).ended().await;
        assert_eq!(ended.code, 1, "{arguments:?}: {ended:?}");
        assert!(
            ended.err.contains("not a Switchboard's answer"),
            "{arguments:?}: {}",
            ended.err
        );
    }
}

#[tokio::test]
async fn the_samples_stand_in_is_not_kept_by_a_configuration_of_ones_own() {
    let switchboard = Switchboard::start(Start::sample()).await;
    assert_eq!(
        switchboard.get("/api/overview").await["your_endpoint"]["set"],
        true
    );
    let (_, folder) = switchboard.stop().await;
    let sink = Sink::start().await;
    let own = setting::start(&setting::configuration(&sink));
    let switchboard = Switchboard::start_in(folder, own.clone()).await;
    assert_eq!(
        switchboard.get("/api/overview").await["your_endpoint"]["set"],
        false
    );

    let mine = sink.url("/mine");
    let (code, printed) = switchboard.run(&["endpoint", "set", &mine]).await;
    assert_eq!(code, 0, "{printed}");
    let (_, folder) = switchboard.stop().await;
    let switchboard = Switchboard::start_in(folder, own).await;
    assert_eq!(
        switchboard.get("/api/overview").await["your_endpoint"]["set"],
        true
    );
}
