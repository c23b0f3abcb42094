//! One minute of the keeper.

use serde_json::json;

use crate::setting::Board;

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
async fn without_the_table_a_run_says_so_and_the_next_one_is_made() {
    let board = Board::start().await;
    let keeper = board
        .function_over("keeper", "http://127.0.0.1:9")
        .start()
        .await;
    for _ in 0..2 {
        keeper.invoke(&json!({})).await.answer();
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
