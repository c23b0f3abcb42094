//! What `apply` says when it cannot be done, by whom, and the code it ends with.

use axum::Json;
use axum::response::IntoResponse;
use http::StatusCode;
use serde_json::json;
use switchboard_tests::run::Run;
use switchboard_tests::sink::Sink;
use switchboard_tests::switchboard::{Start, Switchboard};

use crate::setting::{Deployment, text};

#[tokio::test]
async fn what_is_unusable_ends_with_64_a_line_for_each_fault_and_asks_nobody() {
    let folder = tempfile::tempdir().expect("a folder");
    let unusable = "hosts = [\"a.example\"]\nsurprise = 1\n".to_owned()
        + &text("chat").replace(
            "[\"secret:sources/shop\"]",
            "[\"env:SHOP\", \"file:shop\", \"sample:shop\", \"shpss_PASTED\"]",
        );
    std::fs::write(folder.path().join("mine.toml"), unusable).expect("a file");
    let sink = Sink::start().await;
    let url = sink.url("/");
    let arguments = ["apply", "--config", "mine.toml", "--url", &url];
    let ended = Run::of(folder.path(), &arguments).ended().await;
    assert_eq!((ended.code, &*ended.out), (64, ""));
    for (line, due) in ended.lines().iter().zip([
        "hosts is for a Switchboard on one machine",
        "unknown key \"surprise\"",
        "source \"shop\": secrets: env: and file: stand in a configuration for one machine",
        "source \"shop\": secrets: env: and file: stand in a configuration for one machine",
        "source \"shop\": secrets: sample: secrets are public",
        "source \"shop\": secrets must be a reference to a secret, secret:NAME",
    ]) {
        assert!(
            line.starts_with(&format!("switchboard: {due}")),
            "{due}: {line}"
        );
    }
    assert_eq!(ended.lines().len(), 6, "{}", ended.err);
    assert!(!ended.err.contains("PASTED"), "{}", ended.err);
    assert_eq!(sink.received().len(), 0, "nobody was asked");
}

#[tokio::test]
async fn what_the_server_refuses_ends_with_1_and_a_line_for_each_fault() {
    let deployment = Deployment::start().await;
    deployment.secrets.set("junk", "whsec_PASTED!");
    let mine = text("chat").replace("sources/shop", "sources/gone")
        + "[[source]]\nname = \"forms\"\nscheme = \"standard-webhooks\"\nsecrets = [\"secret:junk\"]\n";
    let ended = deployment.apply(&mine, &[]).await;
    assert_eq!((ended.code, &*ended.out), (1, ""));
    assert_eq!(
        ended.lines(),
        [
            "switchboard: source \"shop\": secrets: the secret secret:sources/gone cannot be read: there is none",
            "switchboard: source \"forms\": secrets: the secret secret:junk is not base64, with or without whsec_ before it",
        ]
    );
    assert_eq!(deployment.stands().await, (None, None));
}

#[tokio::test]
async fn one_who_was_overtaken_is_told_and_overwrites_nothing() {
    let sink = Sink::start().await;
    sink.answer(|received, _| {
        if received.body.is_empty() {
            Json(json!({ "configuration": "a", "version": 1, "at": "2026-01-31T09:00:00Z" }))
                .into_response()
        } else {
            let body = json!({ "detail": "version 2 stands", "version": 2 });
            (StatusCode::CONFLICT, Json(body)).into_response()
        }
    });
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("mine.toml"), text("chat")).expect("a file");
    let url = sink.url("/");
    let arguments = ["apply", "--config", "mine.toml", "--url", &url];
    let ended = Run::of(folder.path(), &arguments).ended().await;
    assert_eq!(ended.code, 1);
    assert!(!ended.out.contains("is applied"), "{}", ended.out);
    assert_eq!(
        ended.lines(),
        [
            "switchboard: version 2 stands now, applied by somebody else meanwhile: look at it with --dry-run"
        ]
    );
    let received = sink.received();
    let sent: serde_json::Value = serde_json::from_slice(&received[1].body).expect("JSON");
    assert_eq!(sent, json!({ "configuration": text("chat"), "version": 1 }));
}

#[tokio::test]
async fn without_a_server_or_its_token_it_ends_with_1_and_says_what_is_missing() {
    let deployment = Deployment::start().await;
    let mine = text("chat");
    let ended = deployment.apply(&mine, &["--token", "another"]).await;
    assert_eq!(ended.code, 1);
    let due = "switchboard: the admin token is not the one of that Switchboard";
    assert_eq!(ended.lines(), [due]);
    let url = deployment.url.to_string();
    let arguments = ["apply", "--config", "mine.toml", "--url", &url];
    let run = Run::of(deployment.folder.path(), &arguments);
    let ended = run.unset("SWITCHBOARD_ADMIN_TOKEN").ended().await;
    assert_eq!(ended.code, 1);
    assert!(
        ended
            .err
            .contains("give --token or SWITCHBOARD_ADMIN_TOKEN"),
        "{}",
        ended.err
    );
    let nobody = [
        "apply",
        "--config",
        "mine.toml",
        "--url",
        "http://127.0.0.1:1/",
    ];
    let ended = Run::of(deployment.folder.path(), &nobody).ended().await;
    assert_eq!(ended.code, 1);
    assert!(
        ended.err.contains("no connection to http://127.0.0.1:1"),
        "{}",
        ended.err
    );
    let on = "--url is the address of the deployed Switchboard";
    assert!(ended.err.contains(on), "{}", ended.err);
    assert!(!ended.err.contains("serve"), "{}", ended.err);
    let sink = Sink::start().await;
    let stranger = ["apply", "--config", "mine.toml", "--url", &sink.url("/")];
    let ended = Run::of(deployment.folder.path(), &stranger).ended().await;
    assert_eq!(ended.code, 1);
    assert!(
        ended.err.contains("not a Switchboard's answer"),
        "{}",
        ended.err
    );
    assert_eq!(deployment.stands().await, (None, None));
}

#[tokio::test]
async fn a_switchboard_on_one_machine_says_that_its_configuration_is_a_file() {
    let switchboard = Switchboard::start(Start::sample().flag("--receivers=off")).await;
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("mine.toml"), text("chat")).expect("a file");
    let arguments = [
        "apply",
        "--config",
        "mine.toml",
        "--url",
        switchboard.url.as_str(),
    ];
    let ended = Run::of(folder.path(), &arguments).ended().await;
    assert_eq!(ended.code, 1);
    assert!(
        ended
            .err
            .contains("the configuration of this Switchboard is a file on its machine"),
        "{}",
        ended.err
    );
}
