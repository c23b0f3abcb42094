//! Rules 3 to 6: deliveries of their own, attempts, dead letters, and applying once.

use std::collections::BTreeSet;

use http::{Method, StatusCode};
use serde_json::json;
use switchboard_tests::receivers::{books, switch};
use switchboard_tests::sink::Received;
use switchboard_tests::switchboard::{Start, Switchboard};
use switchboard_tests::wait;

use crate::setting::{running, shop};

#[tokio::test]
async fn every_destination_gets_its_own_delivery_with_its_own_key() {
    let (sink, switchboard) = running().await;
    let event = shop(&switchboard)
        .send("id-1", "orders/create", "{}")
        .await
        .event();
    let received = sink.wait_for(2).await;
    let keys: BTreeSet<&str> = received.iter().map(Received::key).collect();
    assert_eq!(keys.len(), 2);
    for one in &received {
        assert_eq!(one.header("switchboard-event"), event);
        assert_eq!(one.header("switchboard-source"), "shop");
        assert_eq!(one.header("switchboard-kind"), "orders/create");
        assert_eq!(one.header("switchboard-attempt"), "1");
        assert_eq!(one.header("content-type"), "application/json");
        let action = if one.path == "/accounting" {
            "make-invoice"
        } else {
            "reserve-items"
        };
        assert_eq!(one.header("switchboard-action"), action);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_sender_is_answered_before_any_destination_is() {
    let (sink, switchboard) = running().await;
    let (answered, waiting) = std::sync::mpsc::channel::<()>();
    let waiting = std::sync::Mutex::new(waiting);
    // The destination answers only after the sender was answered; were it the other way round, this would never end.
    sink.answer(move |_, _| {
        let waiting = waiting.lock().expect("a lock");
        // Blocking in place: another thread takes over what this one would have woken.
        let released = tokio::task::block_in_place(|| waiting.recv_timeout(wait::DEADLINE));
        if released.is_ok() {
            StatusCode::OK
        } else {
            StatusCode::INTERNAL_SERVER_ERROR
        }
    });
    let answer = shop(&switchboard).send("id-1", "other", "{}").await;
    assert_eq!(answer.status, StatusCode::OK);
    for _ in 0..10 {
        answered.send(()).expect("the sink waits");
    }
    switchboard.wait_total("delivered", 1).await;
}

#[tokio::test]
async fn a_failing_delivery_is_tried_six_times_under_one_key_and_redriven_with_six_more() {
    let (sink, switchboard) = running().await;
    sink.answer(|received, _| {
        if received.path == "/accounting" {
            StatusCode::FORBIDDEN
        } else {
            StatusCode::OK
        }
    });
    let event = shop(&switchboard)
        .send("id-1", "orders/create", "{}")
        .await
        .event();
    switchboard.wait_total("dead", 1).await;
    let letter = switchboard.get("/api/dead-letters").await["items"][0].clone();
    assert_eq!(
        (&letter["destination"], &letter["attempts"]),
        (&json!("accounting"), &json!(6))
    );
    assert_eq!(
        (&letter["event"], &letter["reason"]),
        (&json!(event), &json!("attempts used up: last answer 403"))
    );
    let redrive = json!({ "destination": "accounting" });
    let (_, moved) = switchboard
        .ask(Method::POST, "/admin/redrive", Some(redrive))
        .await;
    assert_eq!(moved, json!({ "redriven": 1, "left": 0 }));
    wait::until("it is dead again", async || {
        let letters = switchboard.get("/api/dead-letters").await;
        (letters["items"][0]["attempts"] == 12).then_some(())
    })
    .await;
    sink.answer(|_, _| StatusCode::OK);
    let redrive = json!({ "deliveries": [letter["delivery"]] });
    switchboard
        .ask(Method::POST, "/admin/redrive", Some(redrive))
        .await;
    switchboard.wait_total("delivered", 2).await;
    let tries: Vec<_> = sink
        .received()
        .into_iter()
        .filter(|received| received.path == "/accounting")
        .collect();
    let numbers: Vec<String> = tries
        .iter()
        .map(|one| one.header("switchboard-attempt").to_owned())
        .collect();
    assert_eq!(numbers, (1..=13).map(|n| n.to_string()).collect::<Vec<_>>());
    let keys: BTreeSet<&str> = tries.iter().map(Received::key).collect();
    assert_eq!(
        keys.into_iter().collect::<Vec<_>>(),
        [letter["delivery"].as_str().expect("an id")]
    );
    let view = switchboard.get(&format!("/api/events/{event}")).await;
    let log = view["delivery_list"][0]["log"]
        .as_array()
        .expect("attempts");
    assert_eq!(
        (log.len(), &log[10]["status"], &log[11]["outcome"]),
        (12, &json!(403), &json!("delivered"))
    );
}

#[tokio::test]
async fn any_final_answer_outside_the_200s_is_a_failed_attempt() {
    let (sink, switchboard) = running().await;
    sink.answer(|received, _| match received.header("switchboard-attempt") {
        "1" => StatusCode::FOUND,
        "2" => StatusCode::NOT_FOUND,
        "3" => StatusCode::TOO_MANY_REQUESTS,
        _ => StatusCode::NO_CONTENT,
    });
    let event = shop(&switchboard).send("id-1", "other", "{}").await.event();
    switchboard.wait_total("delivered", 1).await;
    let view = switchboard.get(&format!("/api/events/{event}")).await;
    let delivery = &view["delivery_list"][0];
    assert_eq!(
        (&delivery["state"], &delivery["attempts"]),
        (&json!("delivered"), &json!(4))
    );
    let log = delivery["log"].as_array().expect("attempts").iter();
    let log: Vec<_> = log
        .map(|attempt| json!([attempt["number"], attempt["status"], attempt["outcome"]]))
        .collect();
    assert_eq!(
        log,
        [
            json!([1, 302, "rejected"]),
            json!([2, 404, "rejected"]),
            json!([3, 429, "rejected"]),
            json!([4, 204, "delivered"]),
        ]
    );
    assert_eq!(sink.received().len(), 4, "each answer was final");
}

#[tokio::test]
async fn no_answer_in_time_and_no_answer_at_all_are_failed_attempts() {
    let sink = switchboard_tests::sink::Sink::start().await;
    let mut start = crate::setting::start(&sink);
    let nobody = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a port");
    let silent = nobody.local_addr().expect("an address");
    start.configuration = start
        .configuration
        .map(|text| text.replace(&sink.url("/accounting"), &format!("http://{silent}/")));
    let switchboard = Switchboard::start(start).await;
    let event = shop(&switchboard)
        .send("id-1", "orders/create", "{}")
        .await
        .event();
    switchboard.wait_total("dead", 1).await;
    let view = switchboard.get(&format!("/api/events/{event}")).await;
    let first = &view["delivery_list"][0]["log"][0];
    assert_eq!(
        (&first["outcome"], &first["detail"]),
        (&json!("unanswered"), &json!("no answer in time"))
    );
    assert_eq!(
        switchboard.total("delivered").await,
        1,
        "the other destination has it"
    );
}

#[tokio::test]
async fn a_receiver_that_answers_too_late_applies_once() {
    let switchboard = Switchboard::start(Start::sample()).await;
    let receivers = switchboard.receivers.clone().expect("receivers");
    switch(&receivers, "warehouse", "late").await;
    let (code, printed) = switchboard.run(&["send", "shop", "orders/create"]).await;
    assert_eq!(code, 0, "{printed}");
    let warehouse = async || books(&receivers).await["warehouse"].clone();
    wait::until("it is booked", async || {
        (warehouse().await["total"] == 1).then_some(())
    })
    .await;
    switch(&receivers, "warehouse", "ok").await;
    wait::within(
        std::time::Duration::from_secs(40),
        "the late one is delivered",
        async || (switchboard.total("waiting").await == 0).then_some(()),
    )
    .await;
    let book = warehouse().await;
    assert_eq!(
        (&book["total"], &book["applied"]),
        (&json!(1), &json!(1)),
        "{book}"
    );
    assert!(
        book["answered_again"].as_u64().is_some_and(|n| n >= 1),
        "{book}"
    );
    assert_eq!(switchboard.total("dead").await, 0);
}

#[tokio::test]
async fn an_event_that_no_route_names_is_stored_and_counted() {
    let sink = switchboard_tests::sink::Sink::start().await;
    let mut start = crate::setting::start(&sink);
    start.configuration = start
        .configuration
        .map(|text| text.replace("source = \"*\"", "source = \"code\""));
    let switchboard = Switchboard::start(start).await;
    assert_eq!(
        shop(&switchboard)
            .send("id-1", "Orders/Create", "{}")
            .await
            .status,
        StatusCode::OK
    );
    assert_eq!(
        (
            switchboard.total("stored").await,
            switchboard.total("unrouted").await
        ),
        (1, 1)
    );
    assert_eq!(
        switchboard.get("/api/events").await["items"][0]["kind"],
        "Orders/Create"
    );
}
