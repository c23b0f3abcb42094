//! Secrets that prove nothing: Switchboard does not start with them, names the setting and never the value.

use switchboard_tests::run::Run;

/// What is said of a source of `scheme` whose secret is `secret`; none means that the variable is not set.
async fn said(scheme: &str, secret: Option<&str>) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let text =
        format!("[[source]]\nname = \"mine\"\nscheme = \"{scheme}\"\nsecrets = [\"env:MINE\"]\n");
    std::fs::write(folder.path().join("mine.toml"), text).expect("a file");
    let arguments = [
        "serve",
        "--config",
        "mine.toml",
        "--listen",
        "127.0.0.1:0",
        "--data",
        "data",
    ];
    let run = Run::of(folder.path(), &arguments);
    let run = match secret {
        Some(secret) => run.set("MINE", secret),
        None => run,
    };
    let ended = run.ended().await;
    assert_eq!(
        (ended.code, ended.lines().len()),
        (64, 1),
        "{scheme}, {secret:?}: {ended:?}"
    );
    assert!(
        ended.err.contains("source \"mine\"") && ended.err.contains("env:MINE"),
        "{}",
        ended.err
    );
    assert!(!folder.path().join("data").exists(), "nothing is made");
    ended.err
}

#[tokio::test]
async fn missing_and_empty_ones_are_told_apart_and_both_end_with_64() {
    for scheme in ["shopify", "stripe", "github", "standard-webhooks"] {
        assert!(said(scheme, None).await.contains("not set"));
        for empty in ["", "   ", "\n", "\t\r\n"] {
            assert!(
                said(scheme, Some(empty)).await.contains("empty"),
                "{scheme}, {empty:?}"
            );
        }
    }
}

#[tokio::test]
async fn what_cannot_be_decoded_is_not_shown() {
    for hidden in [
        "whsec_!!!!-not-base64-!!!!",
        "v1,whsec_AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA=",
        "whsec_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_",
    ] {
        let line = said("standard-webhooks", Some(hidden)).await;
        for part in [hidden, &hidden[..12], &hidden[hidden.len() - 8..]] {
            assert!(!line.contains(part), "{part} is shown: {line}");
        }
    }
    said("standard-webhooks", Some("whsec_")).await;
}

#[tokio::test]
async fn a_key_that_can_be_guessed_is_warned_of_and_not_shown() {
    let folder = tempfile::tempdir().expect("a folder");
    let text =
        "[[source]]\nname = \"mine\"\nscheme = \"standard-webhooks\"\nsecrets = [\"env:MINE\"]\n";
    std::fs::write(folder.path().join("mine.toml"), text).expect("a file");
    for (secret, part) in [("whsec_QUJDREVGR0g=", "QUJD"), ("whsec_QQ==", "QQ")] {
        let ended = Run::of(folder.path(), &["check", "--config", "mine.toml"])
            .set("MINE", secret)
            .ended()
            .await;
        assert_eq!((ended.code, ended.lines().len()), (0, 1), "{ended:?}");
        for word in ["warning", "source \"mine\"", "env:MINE", "16 bytes"] {
            assert!(ended.err.contains(word), "it says {word}: {}", ended.err);
        }
        assert!(!ended.err.contains(part), "{}", ended.err);
    }
}

#[tokio::test]
async fn a_secret_that_stands_in_the_configuration_itself_is_refused_and_not_repeated() {
    let folder = tempfile::tempdir().expect("a folder");
    let secret = "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";
    let text = format!(
        "[[source]]\nname = \"mine\"\nscheme = \"shopify\"\nsecrets = [\"{secret}\"]\n\
         [[destination]]\nname = \"there\"\nurl = \"https://example.com/\"\n\
         headers = {{ authorization = \"{secret}\" }}\nsign = \"{secret}\"\n"
    );
    std::fs::write(folder.path().join("mine.toml"), text).expect("a file");
    let ended = Run::of(folder.path(), &["check", "--config", "mine.toml"])
        .ended()
        .await;
    assert_eq!((ended.code, ended.lines().len()), (64, 3), "{}", ended.err);
    for setting in ["secrets", "authorization", "sign"] {
        assert!(
            ended.lines().iter().any(|line| line.contains(setting)),
            "{setting}: {}",
            ended.err
        );
    }
    assert!(!ended.err.contains(secret), "{}", ended.err);
}

#[tokio::test]
async fn a_secret_file_that_is_missing_or_no_text_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let text =
        "[[source]]\nname = \"mine\"\nscheme = \"shopify\"\nsecrets = [\"file:secrets/mine\"]\n";
    std::fs::write(folder.path().join("mine.toml"), text).expect("a file");
    std::fs::create_dir(folder.path().join("secrets")).expect("a folder");
    for content in [None, Some(&b"\xff\xfeS3CRET"[..]), Some(b"\n")] {
        if let Some(content) = content {
            std::fs::write(folder.path().join("secrets/mine"), content).expect("a file");
        }
        let ended = Run::of(folder.path(), &["check", "--config", "mine.toml"])
            .ended()
            .await;
        assert_eq!(
            (ended.code, ended.lines().len()),
            (64, 1),
            "{content:?}: {}",
            ended.err
        );
        assert!(ended.err.contains("file:secrets/mine"), "{}", ended.err);
        assert!(!ended.err.contains("S3CRET"), "{}", ended.err);
    }
}
