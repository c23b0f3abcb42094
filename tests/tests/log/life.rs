//! The log says when it began to serve, and with what, and when it ended.

use serde_json::Value;
use switchboard_tests::switchboard::{Start, Switchboard};

#[tokio::test]
async fn its_first_line_says_that_it_started_and_its_last_that_it_stopped() {
    let start = Start::sample().flag("--receivers=off").flag("--log=json");
    let switchboard = Switchboard::start(start).await;
    let (listen, sign_in) = (switchboard.url.clone(), switchboard.sign_in.clone());
    let (ended, folder) = switchboard.stop().await;
    assert_eq!(ended.code(), Some(0));
    let log = std::fs::read_to_string(folder.path().join("log")).expect("a log");
    let code = sign_in.query().expect("a code");
    assert!(
        !log.contains(code),
        "the link that signs in is nobody's business: {log}"
    );
    let lines: Vec<Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let [started, stopping, stopped] = &lines[..] else {
        panic!("three lines: {log}");
    };
    assert_eq!(started["message"], "started");
    assert_eq!(started["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(
        format!(
            "http://{}/",
            started["listen"].as_str().expect("an address")
        ),
        listen.as_str()
    );
    assert_eq!(started["data"], "data");
    for name in ["sources", "destinations", "routes"] {
        assert!(started[name].as_u64() > Some(0), "{name}: {started}");
    }
    let asked = stopping["message"].as_str().expect("a text");
    assert!(asked.starts_with("stopping"), "{asked}");
    assert_eq!(stopped["message"], "stopped");
}
