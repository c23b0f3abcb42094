//! One minute of the keeper.

use serde_json::json;
use switchboard_tests::board::Board;

#[tokio::test]
async fn each_minute_ends_with_one_line_that_tells_how_far_the_totals_are_behind() {
    let board = Board::start().await;
    let ingress = board.function("ingress").start().await;
    board.post(&ingress, "1", b"{}").await;
    let keeper = board.function("keeper");
    let keeper = keeper
        .set("SWITCHBOARD_STREAM", &board.stream().await)
        .start()
        .await;
    for _ in 0..2 {
        keeper
            .invoke(&json!({ "source": "aws.events" }))
            .await
            .answer();
    }
    let lines = keeper.lines();
    let kept: Vec<_> = lines
        .iter()
        .filter(|line| line["message"] == "kept")
        .collect();
    assert_eq!(kept.len(), 2, "{lines:?}");
    assert_eq!(kept[0]["totals_behind_s"], 0);
    assert!(kept[0]["folded"].as_u64() > Some(0), "{kept:?}");
    assert_eq!(kept[0]["failed"], 0);
}

#[tokio::test]
async fn without_the_table_a_run_fails_with_all_of_its_steps_and_the_next_one_is_made() {
    let board = Board::start().await;
    let keeper = board
        .function_over("keeper", "http://127.0.0.1:9")
        .start()
        .await;
    for _ in 0..2 {
        let failure = keeper.invoke(&json!({})).await.failure();
        let told = failure["errorMessage"].as_str().expect("a message");
        for step in [
            "near",
            "far",
            "overdue",
            "returned",
            "held",
            "owed tickets",
            ", tickets",
            "fold",
        ] {
            assert!(told.contains(step), "{step} is missing: {failure}");
        }
    }
    let lines = keeper.lines();
    let kept: Vec<_> = lines
        .iter()
        .filter(|line| line["message"] == "kept")
        .collect();
    assert_eq!(kept.len(), 2, "{lines:?}");
    assert!(
        kept.iter().all(|line| line["failed"].as_u64() > Some(3)),
        "{kept:?}"
    );
    assert!(
        kept.iter()
            .all(|line| line.get("totals_behind_s").is_none()),
        "{kept:?}"
    );
}

#[tokio::test]
async fn a_run_with_one_step_that_fails_does_the_others_and_fails() {
    let board = Board::start().await;
    let ingress = board.function("ingress").start().await;
    board.post(&ingress, "1", b"{}").await;
    // The stream of another table: the fold fails.
    let keeper = board.function("keeper").start().await;
    let failure = keeper.invoke(&json!({})).await.failure();
    assert_eq!(failure["errorMessage"], "not done in this run: the fold");
    let lines = keeper.lines();
    let kept = lines.iter().find(|line| line["message"] == "kept");
    assert_eq!(kept.expect("a line")["failed"], 1, "{lines:?}");
}

#[tokio::test]
async fn the_line_that_a_metric_is_made_of_is_written_at_any_level() {
    let board = Board::start().await;
    let stream = board.stream().await;
    for level in ["error", "off", "switchboard_core=debug"] {
        let keeper = board.function("keeper");
        let keeper = keeper
            .set("SWITCHBOARD_STREAM", &stream)
            .set("RUST_LOG", level)
            .start()
            .await;
        keeper.invoke(&json!({})).await.answer();
        let lines = keeper.lines();
        let kept = lines.iter().filter(|line| line["message"] == "kept");
        assert_eq!(kept.count(), 1, "{level}: {lines:?}");
        let spoken = lines
            .iter()
            .any(|line| line["message"] == "configuration in use");
        assert_eq!(spoken, level.contains("debug"), "{level}: {lines:?}");
    }
}
