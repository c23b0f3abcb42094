//! Test deliveries: answered as the switches say, and in no book.

use super::{Port, delivery};

#[tokio::test]
async fn a_test_delivery_is_answered_as_others_are_and_enters_no_book() {
    let port = Port::start().await;
    let headers = [
        delivery("dlv_a", "test", "test").as_slice(),
        &[("Switchboard-Test", "true")],
    ]
    .concat();
    let before = port.books().await;
    for receiver in ["accounting", "warehouse", "chat", "crm"] {
        for (mode, expected) in [("", 200), ("?mode=slow", 200), ("?mode=fail", 500)] {
            let path = format!("/{receiver}{mode}");
            let answer = port.ask("POST", &path, &headers, br#"{"test":true}"#).await;
            assert_eq!(answer.status, expected, "{path}: {answer:?}");
        }
    }
    assert_eq!(port.books().await, before, "nothing was applied or counted");
    let same = port
        .deliver("/chat", "dlv_a", "push", "post-line", "{}")
        .await;
    assert_eq!(same.status, 200);
    let chat = &port.books().await["chat"];
    assert_eq!(chat["total"], 1, "its key is not taken by the test");
}
