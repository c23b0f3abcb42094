//! `--help` on every command.

use switchboard_tests::run::Run;

#[tokio::test]
async fn every_command_names_its_flags_and_ends_with_0() {
    let serving: &[&str] = &["--config", "--data", "--listen", "--receivers", "--log"];
    let reaching = ["--url", "--token", "--data"];
    let reached = |more: &[&'static str]| [more, &reaching].concat();
    let commands: [(&str, Vec<&str>); 16] = [
        (
            "",
            [
                serving,
                &[
                    "serve", "init", "check", "send", "verify", "redrive", "hold", "release",
                    "apply",
                ],
            ]
            .concat(),
        ),
        ("serve", serving.to_vec()),
        ("init", vec!["FOLDER"]),
        ("check", vec!["--config", "--deployed"]),
        (
            "send",
            vec!["SOURCE", "KIND", "--body", "--config", "--url"],
        ),
        (
            "verify",
            vec!["--config", "--source", "--header", "--body", "--at"],
        ),
        ("redrive", reached(&["--all", "--destination", "DELIVERY"])),
        ("hold", reached(&["DESTINATION"])),
        ("release", reached(&["DESTINATION", "--per-second"])),
        ("endpoint", vec!["set", "clear", "rotate"]),
        ("endpoint set", reached(&["ADDRESS"])),
        ("endpoint clear", reached(&[])),
        ("endpoint rotate", reached(&[])),
        (
            "apply",
            vec!["--config", "--url", "--token", "--dry-run", "--over"],
        ),
        ("backup", vec!["FILE", "--data"]),
        ("receivers", vec!["--listen", "--data"]),
    ];
    let folder = tempfile::tempdir().expect("a folder");
    for (command, named) in commands {
        let arguments: Vec<&str> = command.split_whitespace().chain(["--help"]).collect();
        let ended = Run::of(folder.path(), &arguments).ended().await;
        assert_eq!((ended.code, &*ended.err), (0, ""), "{command} --help");
        for word in named {
            assert!(
                ended.out.contains(word),
                "{command} --help names {word}:\n{}",
                ended.out
            );
        }
        assert!(
            !ended.out.contains(switchboard_tests::switchboard::TOKEN),
            "{command} --help shows no token"
        );
    }
}

#[tokio::test]
async fn its_version_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let ended = Run::of(folder.path(), &["--version"]).ended().await;
    assert_eq!(ended.code, 0);
    assert!(ended.out.starts_with("switchboard 0."), "{}", ended.out);
}

#[tokio::test]
async fn a_command_or_flag_that_is_not_there_ends_with_2_and_a_hint() {
    let folder = tempfile::tempdir().expect("a folder");
    for arguments in [
        &["sned", "shop", "push"][..],
        &["send", "shop"],
        &["serve", "--lisen", "127.0.0.1:0"],
    ] {
        let ended = Run::of(folder.path(), arguments).ended().await;
        assert_eq!((ended.code, &*ended.out), (2, ""), "{arguments:?}");
        assert!(ended.err.contains("--help"), "{}", ended.err);
    }
}

#[tokio::test]
async fn without_a_flag_it_listens_on_loopback() {
    let folder = tempfile::tempdir().expect("a folder");
    let ended = Run::of(folder.path(), &["serve", "--help"]).ended().await;
    let default = ended
        .out
        .split("--listen")
        .nth(1)
        .and_then(|rest| rest.split("[default: ").nth(1))
        .and_then(|rest| rest.split(']').next());
    let default: Option<std::net::SocketAddr> = default.and_then(|text| text.parse().ok());
    assert!(
        default.is_some_and(|address| address.ip().is_loopback()),
        "{}",
        ended.out
    );
}
