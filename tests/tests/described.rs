//! The API's own description against the real server, asked by schemathesis whatever the description allows and much that it
//! does not: nothing is answered that is not described, and nothing breaks.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use switchboard_tests::libraries;
use switchboard_tests::setting::{failing, sender};
use switchboard_tests::sink::Sink;
use switchboard_tests::switchboard::{Switchboard, TOKEN};
use tokio::process::Command;
use tokio::time::timeout;

/// Examples of each operation, at most: all of it takes less than a minute.
const EXAMPLES: u32 = 40;
/// Where its examples come from.
const SEED: u32 = 7;
/// Much longer than it takes.
const LIMIT: Duration = Duration::from_mins(5);

/// A Switchboard with an event whose delivery is dead, one that is held, one that waits, and more in each list than a page of
/// one item.
async fn story() -> (Sink, Switchboard) {
    let (sink, switchboard) = failing().await;
    let shop = sender(&switchboard, "shop");
    for id in ["1", "2", "2", "3"] {
        let sent = shop.send(id, "orders/create", r#"{"id":1}"#).await;
        assert_eq!(sent.status, 200);
    }
    switchboard.wait_total("dead", 3).await;
    let (code, printed) = switchboard.run(&["hold", "warehouse"]).await;
    assert_eq!(code, 0, "{printed}");
    shop.send("4", "orders/create", "{}").await;
    for source in ["shop", "nobody"] {
        for _ in 0..2 {
            let stranger = switchboard.sender(source, "shopify", "shpss_of_nobody");
            let sent = stranger.send("5", "orders/create", "{}").await;
            assert!(sent.status.is_client_error());
        }
    }
    switchboard.wait_total("held", 1).await;
    switchboard.wait_total("dead", 4).await;
    (sink, switchboard)
}

/// What schemathesis cannot make up: the token, an event that is there, and places in lists, which carry a check.
async fn told(switchboard: &Switchboard) -> String {
    let mut lines = vec![
        "[output.truncation]\nenabled = false".to_owned(),
        format!("[auth.openapi.token]\nbearer = \"{TOKEN}\""),
    ];
    let mut of = |operation: &str, told: String| {
        lines.push(format!(
            "[[operations]]\ninclude-operation-id = \"{operation}\"\n{told}"
        ));
    };
    for (operation, path) in [
        ("events", "/api/events"),
        ("deadLetters", "/api/dead-letters"),
        ("refusals", "/api/refusals"),
        ("declined", "/api/declined"),
    ] {
        let page = switchboard.get(&format!("{path}?limit=1")).await;
        let next = page["next"].as_str().expect("there is more");
        of(
            operation,
            format!("parameters = {{ \"query.after\" = \"{next}\" }}"),
        );
    }
    // Whose address may be reached, and whose check is right, no schema can say.
    for operation in ["replay", "setEndpoint"] {
        let told = "checks.positive_data_acceptance.expected-statuses = [\"2xx\", 400, 404, 409]";
        of(operation, told.to_owned());
    }
    let events = switchboard.get("/api/events?limit=1").await;
    let event = &events["items"][0]["event"];
    for operation in ["event", "body"] {
        of(
            operation,
            format!("parameters = {{ \"path.event\" = {event} }}"),
        );
    }
    lines.join("\n")
}

/// Asks everything; what it printed, and whether it found nothing.
async fn ask(switchboard: &Switchboard, folder: &Path) -> (bool, String) {
    let file = folder.join("schemathesis.toml");
    std::fs::write(&file, told(switchboard).await).expect("a file");
    let child = Command::new(libraries::installed().join("python/bin/schemathesis"))
        .arg("--config-file")
        .arg(&file)
        .arg("run")
        .arg(switchboard.at("/api/openapi.json").as_str())
        .args(["--header", &format!("Authorization: Bearer {TOKEN}")])
        .args(["--max-examples", &EXAMPLES.to_string()])
        .args(["--seed", &SEED.to_string()])
        // Of two threads that read Python at the same time, one is told of a recursion that is the other's (CPython 3.11).
        .args(["--workers", "1", "--continue-on-failure"])
        .args([
            "--generation-database",
            "none",
            "--suppress-health-check",
            "all",
        ])
        .args(["--no-color", "--warnings", "off"])
        .current_dir(folder)
        .env("HOME", folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("it runs");
    let ended = timeout(LIMIT, child.wait_with_output()).await;
    let ended = ended.expect("it ends in time").expect("it runs");
    let printed = [ended.stdout, ended.stderr].concat();
    let printed = String::from_utf8_lossy(&printed).into_owned();
    (ended.status.success(), printed)
}

#[tokio::test]
async fn whatever_is_asked_is_answered_as_it_is_described() {
    let (_sink, switchboard) = story().await;
    let folder = tempfile::tempdir().expect("a folder");
    let (found_nothing, printed) = ask(&switchboard, folder.path()).await;
    assert!(found_nothing, "{printed}");
}
