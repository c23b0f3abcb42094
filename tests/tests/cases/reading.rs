//! When the page that stays open reads again: its own code, over a clock that is moved by hand.

use std::path::Path;
use std::process::Stdio;

use serde_json::Value;
use switchboard_tests::wait::DEADLINE;
use tokio::process::Command;
use tokio::time::timeout;

/// What came of the stories in `reading.mjs`.
async fn stories() -> Value {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let ended = Command::new("node")
        .arg(root.join("tests/cases/reading.mjs"))
        .arg(root.join("../shared/web/src/status/page/reading.js"))
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let ended = timeout(DEADLINE, ended)
        .await
        .expect("it ends")
        .expect("node; this brings it: sudo apt-get install -y nodejs");
    let complaint = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{complaint}");
    serde_json::from_slice(&ended.stdout).expect("JSON")
}

fn reads(stories: &Value, story: &str) -> u64 {
    stories[story]["reads"].as_u64().expect("a count")
}

#[tokio::test]
async fn an_open_page_reads_less_while_hidden_or_failing_and_has_one_timer_only() {
    let stories = stories().await;
    for (story, told) in stories.as_object().expect("stories") {
        assert_eq!(told["timers"], 1, "{story}: {told}");
    }
    assert_eq!(reads(&stories, "seen_for_an_hour"), 1801, "every 2 s");
    let hidden = reads(&stories, "hidden_for_an_hour");
    assert!((1..=120).contains(&hidden), "{hidden} in an hour");
    assert_eq!(stories["hidden_for_an_hour"]["when_seen_again"], 1);
    let pauses = [2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000, 30_000];
    assert_eq!(stories["failing"]["gaps"], serde_json::json!(pauses));
    let mended = [2000, 2000, 2000, 2000];
    assert_eq!(stories["mended"]["gaps"], serde_json::json!(mended));
    let flickering = reads(&stories, "shown_and_hidden_for_two_seconds");
    assert!(flickering <= 3, "{flickering} in two seconds");
    let calm = reads(&stories, "afterwards_for_ten_seconds");
    assert!((4..=6).contains(&calm), "{calm} in ten seconds");
}
