//! What is applied: checked whole, over the version that was seen, and in use at once.

use switchboard_core::deployed::ApplyError;
use switchboard_core::ports::Version;

use crate::setting::{Setting, text, version};

/// Applies and gives the new version's number.
async fn apply(setting: &Setting, text: &str, seen: Option<u64>) -> Result<u64, ApplyError> {
    let seen = seen.map(version);
    let applied = setting.deployed.apply(text, seen).await?;
    Ok(applied.version.number())
}

#[tokio::test]
async fn what_is_applied_counts_at_once_here_and_in_seconds_elsewhere() {
    let setting = Setting::new();
    let elsewhere = setting.another();
    elsewhere.current().await.expect("the empty one");
    assert_eq!(setting.number().await, 0);
    assert_eq!(apply(&setting, &text("a"), None).await.expect("applied"), 1);
    assert_eq!(setting.number().await, 1);
    let current = elsewhere.current().await.expect("the empty one");
    assert_eq!(current.applied, None);
    setting.after(5);
    let current = elsewhere.current().await.expect("what was applied");
    assert_eq!(
        current.applied.map(|applied| applied.version),
        Version::new(1)
    );
    assert_eq!(
        apply(&setting, &text("b"), Some(1)).await.expect("applied"),
        2
    );
    let configuration = setting.configuration().await;
    assert_eq!(configuration.destinations[0].name.as_str(), "b");
    let stored = setting.deployed.stored().await.expect("it works");
    assert_eq!(stored.expect("what was applied").text, text("b"));
}

#[tokio::test]
async fn a_version_that_was_not_seen_is_not_overwritten() {
    let setting = Setting::new();
    apply(&setting, &text("a"), None).await.expect("applied");
    setting.put(2, &text("b"));
    for seen in [None, Some(1), Some(7)] {
        let error = apply(&setting, &text("c"), seen).await.expect_err("not");
        assert!(
            matches!(error, ApplyError::Other(stands) if stands == Version::new(2)),
            "{error:?}"
        );
        assert_eq!(
            error.to_string(),
            "version 2 stands, which is not the one that was seen"
        );
    }
    setting.after(5);
    assert_eq!(setting.number().await, 2);
}

#[tokio::test]
async fn the_same_application_twice_is_once() {
    let setting = Setting::new();
    for _ in 0..3 {
        let applied = apply(&setting, &text("a"), None).await.expect("applied");
        assert_eq!(applied, 1);
        setting.after(1);
    }
    assert_eq!(setting.number().await, 1);
}

#[tokio::test]
async fn every_fault_is_named_and_nothing_is_stored() {
    let setting = Setting::new();
    setting.secrets.set("short", "whsec_JUNK!");
    let unusable = text("Not A Name").replace("secret:shop", "secret:gone")
        + "[[source]]\nname = \"forms\"\nscheme = \"standard-webhooks\"\nsecrets = [\"secret:short\"]\n";
    let Err(ApplyError::Unusable(faults)) = apply(&setting, &unusable, None).await else {
        panic!("it cannot be used");
    };
    let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
    assert_eq!(faults.len(), 3, "{faults:#?}");
    for (fault, due) in faults.iter().zip([
        "the secret secret:gone cannot be read: there is none",
        "the secret secret:short is not base64, with or without whsec_ before it",
        "destination 1: name",
    ]) {
        assert!(fault.contains(due), "{due}: {faults:#?}");
        assert!(!fault.contains("JUNK"), "{faults:#?}");
    }
    assert_eq!(setting.deployed.stored().await.expect("it works"), None);
    assert_eq!(setting.number().await, 0);
}

#[tokio::test]
async fn a_secret_that_went_away_is_not_covered_by_its_last_value() {
    let setting = Setting::new();
    apply(&setting, &text("a"), None).await.expect("applied");
    setting.secrets.remove("shop");
    let error = apply(&setting, &text("b"), Some(1)).await.expect_err("not");
    assert!(matches!(error, ApplyError::Unusable(_)), "{error:?}");
    assert_eq!(setting.number().await, 1);
    assert_eq!(setting.secret().await, "the-first-secret");
}

#[tokio::test]
async fn a_store_that_fails_applies_nothing_and_the_same_call_does_later() {
    let setting = Setting::new();
    setting.current().await;
    setting.store.fails(Some("the table is away"));
    let error = apply(&setting, &text("a"), None).await.expect_err("not");
    assert!(matches!(error, ApplyError::Store(_)), "{error:?}");
    assert_eq!(setting.number().await, 0);
    setting.store.fails(None);
    assert_eq!(apply(&setting, &text("a"), None).await.expect("applied"), 1);
}

#[tokio::test]
async fn what_is_unwise_is_told_by_whoever_reads_the_secrets() {
    let setting = Setting::new();
    setting.secrets.set("shop", "hunter2");
    let applied = setting.deployed.apply(&text("a"), None).await;
    let warnings = applied.expect("applied").warnings;
    assert!(
        warnings
            .iter()
            .any(|line| line.contains("secret:shop is shorter than")),
        "{warnings:?}"
    );
    assert!(warnings.iter().all(|line| !line.contains("hunter2")));
}
