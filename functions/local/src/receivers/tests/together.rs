//! Accounting: an order and its payment meet, whichever comes first.

use serde_json::Value;

use super::Port;

const ORDER: &str =
    r##"{"id":820982911946154508,"name":"#1001","total_price":"54.00","currency":"EUR"}"##;

fn payment(order: &str) -> String {
    format!(
        r#"{{"id":"evt_1","type":"payment_intent.succeeded","data":{{"object":{{"id":"pi_1","amount":5400,"currency":"eur","metadata":{{"order_id":{order}}}}}}}}}"#
    )
}

async fn order(port: &Port, key: &str) {
    assert_eq!(
        port.deliver("/accounting", key, "orders/create", "make-invoice", ORDER)
            .await
            .status,
        200
    );
}

async fn pay(port: &Port, key: &str, order: &str) {
    let body = payment(order);
    assert_eq!(
        port.deliver(
            "/accounting",
            key,
            "payment_intent.succeeded",
            "mark-paid",
            &body
        )
        .await
        .status,
        200
    );
}

async fn invoices(port: &Port) -> Vec<Value> {
    let books = port.books().await;
    let invoices = books["accounting"]["invoices"]
        .as_array()
        .expect("invoices")
        .clone();
    assert_eq!(books["accounting"]["total"], invoices.len());
    invoices
}

#[tokio::test]
async fn a_payment_marks_the_invoice_of_its_order_paid() {
    for name in [
        r##""#1001""##,
        r#""1001""#,
        "1001",
        r#""820982911946154508""#,
        "820982911946154508",
    ] {
        let port = Port::start().await;
        order(&port, "dlv_order").await;
        assert_eq!(invoices(&port).await[0]["paid"], false);
        pay(&port, "dlv_payment", name).await;
        let invoices = invoices(&port).await;
        assert_eq!(invoices.len(), 1, "{name}");
        assert_eq!(
            (&invoices[0]["key"], &invoices[0]["paid"]),
            (&"dlv_order".into(), &true.into()),
            "{name}"
        );
        assert_eq!(invoices[0]["payment"]["key"], "dlv_payment");
        assert_eq!(invoices[0]["payment"]["amount"], "54.00");
    }
}

#[tokio::test]
async fn a_payment_that_comes_before_its_order_waits_for_it() {
    let port = Port::start().await;
    pay(&port, "dlv_payment", r#""1001""#).await;
    let waiting = invoices(&port).await;
    assert_eq!(
        (&waiting[0]["order"], &waiting[0]["paid"]),
        (&"1001".into(), &true.into())
    );
    assert_eq!(waiting[0]["ordered"], false);
    order(&port, "dlv_order").await;
    let met = invoices(&port).await;
    assert_eq!(met.len(), 1, "one invoice, not two");
    assert_eq!(
        (&met[0]["key"], &met[0]["order"]),
        (&"dlv_order".into(), &"#1001".into())
    );
    assert_eq!(
        (&met[0]["paid"], &met[0]["ordered"]),
        (&true.into(), &true.into())
    );
    assert_eq!(
        (&met[0]["amount"], &met[0]["payment"]["key"]),
        (&"54.00".into(), &"dlv_payment".into())
    );
}

#[tokio::test]
async fn either_order_of_arrival_gives_the_same_invoice() {
    let (first, other) = (Port::start().await, Port::start().await);
    order(&first, "dlv_order").await;
    pay(&first, "dlv_payment", r#""1001""#).await;
    pay(&other, "dlv_payment", r#""1001""#).await;
    order(&other, "dlv_order").await;
    assert_eq!(invoices(&first).await, invoices(&other).await);
}

#[tokio::test]
async fn a_payment_of_another_order_or_of_none_marks_nothing() {
    let port = Port::start().await;
    order(&port, "dlv_order").await;
    pay(&port, "dlv_other", r#""1002""#).await;
    pay(&port, "dlv_none", "null").await;
    let invoices = invoices(&port).await;
    let of = |key: &str| {
        invoices
            .iter()
            .find(|invoice| invoice["key"] == key)
            .expect("entry")
            .clone()
    };
    assert_eq!(of("dlv_order")["paid"], false);
    assert_eq!(
        (&of("dlv_other")["order"], &of("dlv_other")["ordered"]),
        (&"1002".into(), &false.into())
    );
    assert_eq!(of("dlv_none")["order"], Value::Null);
}

#[tokio::test]
async fn an_order_that_comes_under_two_keys_is_two_invoices_and_both_are_paid() {
    let port = Port::start().await;
    order(&port, "dlv_a").await;
    pay(&port, "dlv_payment", r#""1001""#).await;
    order(&port, "dlv_b").await;
    let invoices = invoices(&port).await;
    assert_eq!(invoices.len(), 2);
    assert!(
        invoices.iter().all(|invoice| invoice["paid"] == true),
        "{invoices:?}"
    );
}
