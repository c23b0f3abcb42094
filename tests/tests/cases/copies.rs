//! Copies for your endpoint beside the routes: one of each event, none of what is no event.

use http::{Method, StatusCode};
use serde_json::json;
use switchboard_tests::setting::{configuration, sender, start};
use switchboard_tests::sink::Sink;
use switchboard_tests::switchboard::Switchboard;

const BODY: &str = r#"{"id":"evt_1","type":"some.kind"}"#;

#[tokio::test]
async fn your_endpoint_gets_one_copy_of_each_event_routed_or_not_and_none_of_anything_else() {
    let sink = Sink::start().await;
    // Without the route for everything: only the shop's orders lead anywhere.
    let text = configuration(&sink);
    let (routed, _) = text
        .split_once("[[route]]\nsource = \"*\"")
        .expect("a route for everything");
    let switchboard = Switchboard::start(start(routed)).await;
    let shop = sender(&switchboard, "shop");
    assert_eq!(
        shop.send("early", "orders/gone", BODY).await.status,
        StatusCode::OK
    );
    assert_eq!(switchboard.total("unrouted").await, 1);

    let url = json!({ "url": sink.url("/mine") });
    switchboard
        .ask(Method::PUT, "/admin/endpoint", Some(url))
        .await;
    let mut events = Vec::new();
    events.push(shop.send("1", "orders/create", BODY).await.event());
    events.push(shop.send("2", "orders/gone", BODY).await.event());
    for source in ["payments", "code", "forms"] {
        events.push(
            sender(&switchboard, source)
                .send("1", "some.kind", BODY)
                .await
                .event(),
        );
    }
    assert_eq!(
        shop.send("1", "orders/create", BODY).await.body["status"],
        "repeat"
    );
    let signed = shop.headers("3", "orders/create", BODY.as_bytes());
    assert_eq!(
        shop.post(signed, "{}").await.status,
        StatusCode::UNAUTHORIZED
    );
    // Two routed deliveries, and five copies.
    switchboard.wait_total("delivered", 7).await;
    let received = sink.received();
    let mut copied: Vec<_> = received
        .iter()
        .filter(|one| one.path == "/mine")
        .map(|one| one.header("switchboard-event").to_owned())
        .collect();
    copied.sort();
    events.sort();
    assert_eq!(copied, events, "each once");
    assert_eq!(received.len(), 7);

    // What no route names is counted, and seen by source and kind.
    assert_eq!(switchboard.total("unrouted").await, 5);
    let list = switchboard.get("/api/events").await;
    let items = list["items"].as_array().expect("a list");
    for (source, kind, deliveries) in [
        ("shop", "orders/create", json!({ "delivered": 3 })),
        ("shop", "orders/gone", json!({ "delivered": 1 })),
        ("payments", "some.kind", json!({ "delivered": 1 })),
        ("code", "some.kind", json!({ "delivered": 1 })),
        ("forms", "some.kind", json!({ "delivered": 1 })),
    ] {
        let found = items
            .iter()
            .find(|one| one["source"] == source && one["kind"] == kind);
        assert_eq!(
            found.expect("it is listed")["deliveries"],
            deliveries,
            "{source}: {kind}"
        );
    }
}
