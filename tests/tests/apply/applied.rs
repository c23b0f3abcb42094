//! What `apply` sends, and when it sends nothing.

use crate::setting::{Deployment, text};

#[tokio::test]
async fn each_new_text_is_a_new_version_and_the_same_one_changes_nothing() {
    let deployment = Deployment::start().await;
    for version in 1..3_u64 {
        let mine = text(&format!("chat-{version}"));
        let ended = deployment.apply(&mine, &["--yes"]).await;
        assert_eq!((ended.code, &*ended.err), (0, ""));
        let due = format!("version {version} is applied; it counts everywhere within seconds\n");
        assert!(ended.out.ends_with(&due), "{}", ended.out);
        assert_eq!(
            ended.out == due,
            version == 1,
            "what changes: {}",
            ended.out
        );
        for flags in [&[][..], &["--dry-run"]] {
            let ended = deployment.apply(&mine, flags).await;
            assert_eq!((ended.code, &*ended.err), (0, ""));
            let due = format!("nothing changed: version {version} is this very text\n");
            assert_eq!(ended.out, due);
        }
        assert_eq!(deployment.stands().await, (Some(version), Some(mine)));
    }
}

#[tokio::test]
async fn a_dry_run_shows_what_would_change_and_changes_nothing() {
    let deployment = Deployment::start().await;
    let ended = deployment.apply(&text("chat"), &["--dry-run"]).await;
    assert_eq!((ended.code, &*ended.err), (0, ""));
    let first = "no configuration stands; this would change:\n--- nothing\n+++ mine.toml\n@@ -0,0 +1,13 @@\n+[[source]]\n";
    assert!(ended.out.starts_with(first), "{}", ended.out);
    assert_eq!(deployment.stands().await, (None, None));
    deployment.apply(&text("chat"), &[]).await;
    let mine = text("chat").replace("kind = \"*\"", "kind = \"orders/create\"");
    let read = deployment.secrets.asked();
    let ended = deployment.apply(&mine, &["--dry-run"]).await;
    assert_eq!((ended.code, &*ended.err), (0, ""));
    let due = "version 1 stands; this would change:\n--- version 1\n+++ mine.toml\n@@ -9,5 +9,5 @@\n \n [[route]]\n \
        source = \"shop\"\n-kind = \"*\"\n+kind = \"orders/create\"\n deliver = [{ to = \"chat\" }]\n";
    assert_eq!(ended.out, due);
    assert_eq!(
        deployment.secrets.asked(),
        read,
        "the server was not asked what it says of it"
    );
    assert_eq!(deployment.stands().await.0, Some(1));
}

#[tokio::test]
async fn what_changes_is_shown_and_what_takes_something_away_has_to_be_meant() {
    let deployment = Deployment::start().await;
    let both = text("chat").replace("{ to = \"chat\" }", "{ to = \"chat\" }, { to = \"crm\" }");
    let two = both + "\n[[destination]]\nname = \"crm\"\nurl = \"https://b.example/\"\n";
    let ended = deployment.apply(&two, &[]).await;
    assert_eq!((ended.code, &*ended.err), (0, ""));

    let ended = deployment.apply(&text("chat"), &[]).await;
    assert_eq!(ended.code, 1);
    assert_eq!(
        ended.lines(),
        [
            "switchboard: nothing was applied: it takes away the destinations crm, whose open deliveries become dead letters; say --yes if that is meant"
        ]
    );
    let shown = "version 1 stands; this changes:\n--- version 1\n+++ mine.toml\n";
    assert!(ended.out.starts_with(shown), "{}", ended.out);
    assert!(ended.out.contains("\n-name = \"crm\"\n"), "{}", ended.out);
    assert_eq!(deployment.stands().await, (Some(1), Some(two)));

    let ended = deployment.apply(&text("chat"), &["--yes"]).await;
    assert_eq!((ended.code, &*ended.err), (0, ""));
    assert!(ended.out.starts_with(shown), "{}", ended.out);
    let end = "version 2 is applied; it counts everywhere within seconds\n";
    assert!(ended.out.ends_with(end), "{}", ended.out);

    let other_source = text("chat").replace("\"shop\"", "\"store\"");
    let ended = deployment.apply(&other_source, &[]).await;
    let due = "it takes away the sources shop, whose senders are answered 404 then";
    assert!(ended.err.contains(due), "{}", ended.err);
    assert_eq!(deployment.stands().await, (Some(2), Some(text("chat"))));
}

#[tokio::test]
async fn what_is_unwise_is_a_warning_of_whoever_reads_the_secrets() {
    let deployment = Deployment::start().await;
    deployment.secrets.set("sources/shop", "hunter2");
    let ended = deployment.apply(&text("chat"), &[]).await;
    assert_eq!(ended.code, 0);
    assert_eq!(
        ended.lines(),
        [
            "switchboard: warning: source \"shop\": the secret secret:sources/shop is shorter than 16 bytes and can be guessed"
        ]
    );
}

#[tokio::test]
async fn only_over_the_version_that_was_seen_where_one_is_named() {
    let deployment = Deployment::start().await;
    let ended = deployment.apply(&text("a"), &["--over", "0"]).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    let ended = deployment
        .apply(&text("b"), &["--over", "1", "--yes"])
        .await;
    assert_eq!(ended.code, 0, "{ended:?}");
    for over in ["0", "1", "3"] {
        let ended = deployment.apply(&text("c"), &["--over", over]).await;
        assert_eq!((ended.code, &*ended.out), (1, ""));
        let due = format!(
            "switchboard: version 2 stands, and not version {over}: look at it with --dry-run"
        );
        assert_eq!(ended.lines(), [due]);
    }
    assert_eq!(deployment.stands().await, (Some(2), Some(text("b"))));
}
