//! What never shows of the address that alerts go to, and which addresses they may not go to.

use http::StatusCode;
use switchboard_tests::run::Run;
use switchboard_tests::setting::SOURCES;
use switchboard_tests::sink::Sink;
use switchboard_tests::switchboard::Switchboard;

use crate::setting::{PATH, QUERY, failing_sink, metrics, order, start, wait_metric};

#[tokio::test]
async fn its_path_and_query_stand_in_no_log_no_check_and_no_answer() {
    let (sink, alerts) = (failing_sink().await, Sink::start().await);
    alerts.answer(|_, before| match before {
        0 => StatusCode::FORBIDDEN,
        _ => StatusCode::OK,
    });
    let start = start(&sink, alerts.address(), "10m").set("RUST_LOG", "trace");
    let switchboard = Switchboard::start(start).await;
    order(&switchboard, "1").await;
    alerts.wait_for(2).await;
    wait_metric(&switchboard, "switchboard_alerts_pending 0").await;
    let (code, mut shown) = switchboard
        .run(&["check", "--config", "switchboard.toml"])
        .await;
    assert_eq!(code, 0, "{shown}");
    shown.push_str(&metrics(&switchboard).await);
    for path in ["/api/overview", "/api/routes", "/api/dead-letters"] {
        shown.push_str(&switchboard.get(path).await.to_string());
    }
    shown.push_str(&switchboard.printed.join("\n"));
    shown.push_str(&switchboard.log_with("alert told").await);
    for hidden in [
        PATH.trim_start_matches("/hooks/"),
        QUERY,
        "BODY-OF-AN-ORDER",
    ] {
        let line = shown.lines().find(|line| line.contains(hidden));
        assert_eq!(line, None, "{hidden} shows");
    }
}

#[tokio::test]
async fn an_address_on_this_machine_is_refused_by_the_check_as_a_destinations_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let (name, scheme, variable, secret) = SOURCES[0];
    let text = format!(
        "alert_url = \"env:ALERTS\"\n[[source]]\nname = \"{name}\"\nscheme = \"{scheme}\"\nsecrets = [\"env:{variable}\"]\n"
    );
    std::fs::write(folder.path().join("switchboard.toml"), text).expect("a file");
    for command in ["check", "serve"] {
        let ended = Run::of(folder.path(), &[command, "--config", "switchboard.toml"])
            .set(variable, secret)
            .set("ALERTS", "http://192.168.0.9/T0KEN?key=KEY")
            .ended()
            .await;
        assert_eq!(
            (ended.code, &*ended.err),
            (
                64,
                "switchboard: alert_url is not allowed: it is on a private network; allow_private_networks would allow it\n"
            )
        );
    }
    assert!(!folder.path().join("data").exists(), "nothing was started");
}
