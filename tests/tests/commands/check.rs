//! `check`: a configuration and everything that is wrong with it.

use switchboard_tests::run::Run;
use switchboard_tests::setting::SOURCES;

#[tokio::test]
async fn the_built_in_sample_holds() {
    let folder = tempfile::tempdir().expect("a folder");
    let ended = Run::of(folder.path(), &["check"]).ended().await;
    assert_eq!((ended.code, &*ended.err), (0, ""));
    assert_eq!(
        ended.out,
        "the configuration holds: 4 sources, 4 destinations, 4 routes\n"
    );
}

#[tokio::test]
async fn every_fault_is_named_in_a_line_of_its_own_and_it_ends_with_64() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = r#"
        keep_days = 1
        surprise = true
        [[source]]
        name = "shop"
        scheme = "shopify"
        secrets = ["env:NOT_SET"]
        [[source]]
        name = "shop"
        scheme = "shoppify"
        secrets = ["env:SHOP"]
        [[destination]]
        name = "accounting"
        url = "ftp://accounting.example/"
        pauses = ["2s", "two"]
        [[route]]
        source = "shop"
        kind = "orders/create"
        deliver = [{ to = "nobody" }, { to = "accounting", action = "Not A Name" }]
    "#;
    std::fs::write(folder.path().join("bad.toml"), text).expect("a file");
    let (_, _, variable, secret) = SOURCES[0];
    let ended = Run::of(folder.path(), &["check", "--config", "bad.toml"])
        .set(variable, secret)
        .ended()
        .await;
    assert_eq!((ended.code, &*ended.out), (64, ""));
    let faults: [&[&str]; 9] = [
        &["the file", "keep_days"],
        &["the file", "unknown key \"surprise\""],
        &["source \"shop\"", "env:NOT_SET"],
        &["two sources named \"shop\""],
        &["source \"shop\"", "no scheme \"shoppify\"", "github"],
        &["destination \"accounting\"", "url"],
        &["destination \"accounting\"", "pauses", "\"two\""],
        &["route 1", "no destination named \"nobody\""],
        &["route 1", "action"],
    ];
    for words in faults {
        let of = |line: &&&str| words.iter().all(|word| line.contains(word));
        let lines = ended.lines();
        let found: Vec<_> = lines.iter().filter(of).collect();
        assert_eq!(found.len(), 1, "one line says {words:?}: {lines:#?}");
        assert!(found[0].starts_with("switchboard: "), "{found:?}");
    }
    assert_eq!(ended.lines().len(), faults.len(), "{}", ended.err);
}

#[tokio::test]
async fn one_for_a_deployed_switchboard_is_told_as_that_and_checked_without_its_secrets() {
    let folder = tempfile::tempdir().expect("a folder");
    let text =
        "[[source]]\nname = \"shop\"\nscheme = \"shopify\"\nsecrets = [\"secret:sources/shop\"]\n";
    std::fs::write(folder.path().join("mine.toml"), text).expect("a file");
    let mine = ["check", "--config", "mine.toml"];
    let ended = Run::of(folder.path(), &mine).ended().await;
    assert_eq!((ended.code, ended.lines().len()), (64, 1), "{ended:?}");
    for word in ["`switchboard apply`", "`switchboard check --deployed`"] {
        assert!(ended.err.contains(word), "{word}: {}", ended.err);
    }
    let deployed = [&mine[..], &["--deployed"]].concat();
    let ended = Run::of(folder.path(), &deployed).ended().await;
    assert_eq!((ended.code, &*ended.err), (0, ""));
    assert_eq!(
        ended.out,
        "the configuration holds but for its secrets, which the deployment must have: sources/shop\n"
    );
    let local = text.replace("secret:sources/shop", "env:SHOP");
    std::fs::write(folder.path().join("mine.toml"), local).expect("a file");
    let ended = Run::of(folder.path(), &deployed).ended().await;
    assert_eq!((ended.code, ended.lines().len()), (64, 1), "{ended:?}");
    assert!(ended.err.contains("use secret:NAME"), "{}", ended.err);
    let ended = Run::of(folder.path(), &["check", "--deployed"])
        .ended()
        .await;
    assert_eq!(ended.code, 2, "the built-in sample is for no deployment");
    assert!(ended.err.contains("--config"), "{}", ended.err);
}

#[tokio::test]
async fn the_file_may_be_named_by_the_environment_too() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("bad.toml"), "surprise = 1").expect("a file");
    let ended = Run::of(folder.path(), &["check"])
        .set("SWITCHBOARD_CONFIG", "bad.toml")
        .ended()
        .await;
    assert_eq!(ended.code, 64);
    assert!(
        ended.err.contains("unknown key \"surprise\""),
        "{}",
        ended.err
    );
}

#[tokio::test]
async fn what_is_allowed_but_unwise_is_a_warning() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "[[source]]\nname = \"shop\"\nscheme = \"github\"\nsecrets = [\"env:SHORT\"]\n";
    std::fs::write(folder.path().join("short.toml"), text).expect("a file");
    let ended = Run::of(folder.path(), &["check", "--config", "short.toml"])
        .set("SHORT", "hunter2")
        .ended()
        .await;
    assert_eq!(ended.code, 0);
    assert!(
        ended.err.contains("warning") && ended.err.contains("env:SHORT"),
        "{}",
        ended.err
    );
    assert!(
        !ended.err.contains("hunter2"),
        "the secret is not shown: {}",
        ended.err
    );
}

#[tokio::test]
async fn a_terminal_that_has_gone_away_is_no_reason_to_fail() {
    let folder = tempfile::tempdir().expect("a folder");
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let ended = Run::of(folder.path(), &["check"])
        .printing_to(writer)
        .ended()
        .await;
    assert_eq!((ended.code, &*ended.err), (0, ""));
}
