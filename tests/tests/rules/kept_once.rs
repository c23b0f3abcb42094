//! Rule 2: an event is stored once, under its source and its sender's id; the same again is 200 and changes nothing.

use http::StatusCode;

use crate::setting::{running, sender, shop};

#[tokio::test]
async fn a_repeat_is_answered_200_and_changes_nothing() {
    let (sink, switchboard) = running().await;
    let shop = shop(&switchboard);
    let first = shop.send("id-1", "orders/create", "{}").await;
    assert_eq!(first.body["status"], "accepted");
    for _ in 0..4 {
        let again = shop.send("id-1", "orders/create", "{}").await;
        assert_eq!(
            (again.status, &again.body["status"]),
            (StatusCode::OK, &"repeat".into())
        );
        assert_eq!(again.event(), first.event());
    }
    switchboard.wait_total("delivered", 2).await;
    let totals = switchboard.get("/api/overview").await["totals"].clone();
    assert_eq!(
        (&totals["received"], &totals["stored"], &totals["repeats"]),
        (&5.into(), &1.into(), &4.into())
    );
    assert_eq!(
        sink.received().len(),
        2,
        "one delivery for each destination"
    );
}

#[tokio::test]
async fn fifty_copies_at_once_are_one_event() {
    let (sink, switchboard) = running().await;
    let shop = shop(&switchboard);
    let mut sending = tokio::task::JoinSet::new();
    for _ in 0..50 {
        let shop = shop.clone();
        sending.spawn(async move { shop.send("id-1", "orders/create", "{}").await });
    }
    let answers = sending.join_all().await;
    assert!(answers.iter().all(|answer| answer.status == StatusCode::OK));
    assert_eq!(
        answers
            .iter()
            .filter(|answer| answer.body["status"] == "accepted")
            .count(),
        1
    );
    switchboard.wait_total("delivered", 2).await;
    assert_eq!(switchboard.total("repeats").await, 49);
    assert_eq!(sink.received().len(), 2);
}

#[tokio::test]
async fn a_repeat_with_another_body_is_counted_and_not_delivered() {
    let (sink, switchboard) = running().await;
    let shop = shop(&switchboard);
    let event = shop
        .send("id-1", "orders/create", "{\"total\": 1}")
        .await
        .event();
    let other = shop.send("id-1", "orders/create", "{\"total\": 2}").await;
    assert_eq!(other.body["status"], "repeat");
    switchboard.wait_total("delivered", 2).await;
    assert_eq!(switchboard.total("repeats_with_other_body").await, 1);
    assert_eq!(
        switchboard.get(&format!("/api/events/{event}")).await["repeats_with_other_body"],
        1
    );
    assert!(
        sink.received()
            .iter()
            .all(|received| received.body == "{\"total\": 1}")
    );
}

#[tokio::test]
async fn the_same_id_of_two_sources_or_two_hooks_is_two_events() {
    let (_sink, switchboard) = running().await;
    let code = sender(&switchboard, "code");
    for hook in ["1", "2", "2"] {
        let mut headers = code.headers("id-1", "push", b"{}");
        headers.insert("x-github-hook-id", hook.parse().expect("a value"));
        assert_eq!(code.post(headers, "{}").await.status, StatusCode::OK);
    }
    assert_eq!(
        shop(&switchboard)
            .send("id-1", "orders/create", "{}")
            .await
            .body["status"],
        "accepted"
    );
    assert_eq!(
        (
            switchboard.total("stored").await,
            switchboard.total("repeats").await
        ),
        (3, 1)
    );
}
