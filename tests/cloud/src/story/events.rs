//! What senders see, what the receivers book, and that the numbers add up.

use http::StatusCode;
use serde_json::{Value, json};
use switchboard_tests::receivers::books;
use switchboard_tests::wait;

use super::setting::{Due, Scene};

/// How many repeats the story has: one of each of four events at once, and one later.
const REPEATS: u64 = 8;

/// An event of each source: source, sender's id, kind, body.
fn events() -> [(&'static str, &'static str, &'static str, Value); 4] {
    let order = json!({
        "id": 1001, "name": "#1001", "order_number": 1001, "total_price": "24.50", "currency": "EUR",
        "line_items": [{ "sku": "TEA-SENCHA-100", "title": "Sencha", "quantity": 2 }],
    });
    let payment = json!({
        "id": "evt_1", "object": "event", "type": "payment_intent.succeeded",
        "data": { "object": {
            "id": "pi_1", "object": "payment_intent", "amount": 2450, "amount_received": 2450, "currency": "eur",
            "metadata": { "order_id": "1001" },
        } },
    });
    let push = json!({
        "ref": "refs/heads/main", "repository": { "full_name": "teahouse/kettle" },
        "pusher": { "name": "zoe" }, "commits": [{ "id": "c0ffee", "message": "Serve it hot" }],
    });
    let form = json!({
        "type": "form.submitted",
        "data": { "form": "contact", "name": "José", "email": "jose@example.org", "message": "Kraków?" },
    });
    [
        ("shop", "order-1001", "orders/create", order),
        ("payments", "evt_1", "payment_intent.succeeded", payment),
        ("code", "push-1", "push", push),
        ("forms", "msg_1", "form.submitted", form),
    ]
}

/// Four events, eight deliveries.
pub(super) async fn of_each_source(scene: &Scene<'_>) {
    for (source, id, kind, body) in events() {
        let sent = scene.sender(source).send(id, kind, body.to_string()).await;
        assert_eq!(sent.status, StatusCode::OK, "{source}: {}", sent.body);
        assert_eq!(sent.body["status"], "accepted", "{source}: {}", sent.body);
    }
    scene.count(4, 2);
    let due = json!({ "accounting": 2, "warehouse": 1, "chat": 4, "crm": 1 });
    let applied = async || {
        let books = books(&scene.receivers.url).await;
        let applied = |name: &str| books[name]["applied"].clone();
        json!({
            "accounting": applied("accounting"), "warehouse": applied("warehouse"),
            "chat": applied("chat"), "crm": applied("crm"),
        })
    };
    wait::until("every receiver has applied its deliveries", async || {
        (applied().await == due).then_some(())
    })
    .await;
    // The payment and the order found each other.
    let invoices = books(&scene.receivers.url).await["accounting"]["invoices"].clone();
    assert_eq!(invoices.as_array().map(Vec::len), Some(1), "{invoices}");
    assert_eq!(invoices[0]["paid"], true, "{invoices}");
}

/// The same event again is a repeat under the same id.
pub(super) async fn a_repeat(scene: &Scene<'_>, repeats: u64) {
    for (source, id, kind, body) in events() {
        let sent = scene.sender(source).send(id, kind, body.to_string()).await;
        assert_eq!(sent.status, StatusCode::OK, "{source}: {}", sent.body);
        assert_eq!(sent.body["status"], "repeat", "{source}: {}", sent.body);
    }
    scene.operator.wait_total("repeats", repeats).await;
}

/// Signed over other bytes: 401 for the sender, the reason for the operator.
pub(super) async fn a_refusal(scene: &Scene<'_>) {
    let shop = scene.sender("shop");
    let headers = shop.headers("order-1002", "orders/create", b"{\"id\":1002}");
    let refused = shop.post(headers, "{\"id\":1003}").await;
    assert_eq!(refused.status, StatusCode::UNAUTHORIZED, "{}", refused.body);
    let listed = wait::until("the refusal is listed", async || {
        let refusals = scene.operator.get("/api/refusals").await;
        refusals["items"].get(0).cloned()
    })
    .await;
    assert_eq!(listed["source"], "shop", "{listed}");
    let why = "the signature is not that of any secret of this source";
    assert_eq!(listed["reason"], why, "{listed}");
    scene.operator.wait_total("refused", 1).await;
}

/// All parts of the story together. It is waited for, since the last deliveries may just have been recorded.
pub(super) async fn add_up(scene: &Scene<'_>) {
    let Due { stored, delivered } = scene.due();
    let due = json!({
        "received": stored + REPEATS,
        "stored": stored,
        "repeats": REPEATS,
        "refused": 1,
        "unrouted": 0,
        "delivered": delivered,
        "waiting": 0,
        "held": 0,
        "dead": 0,
    });
    scene.operator.wait_totals(&due).await;
}
