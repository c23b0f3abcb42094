//! What stands in the books for the sample events, and for what no receiver has a rule for.

use switchboard_core::scheme::{Scheme, github, shopify, standard_webhooks, stripe};

use super::{NOW, Port};
use crate::samples;

async fn send(port: &Port, to: &str, scheme: &Scheme, action: &str) {
    let kind = samples::usual_kind(scheme);
    let sample = samples::sample(scheme, kind, NOW, [9; 16], None);
    let body = String::from_utf8(sample.body).expect("text");
    let key = format!("dlv_{}", scheme.name);
    assert_eq!(
        port.deliver(to, &key, kind, action, &body).await.status,
        200,
        "{to} {kind}"
    );
}

#[tokio::test]
async fn the_sample_events_stand_in_the_books_in_readable_words() {
    let port = Port::start().await;
    send(&port, "/accounting", &shopify::SCHEME, "make-invoice").await;
    send(&port, "/accounting", &stripe::SCHEME, "mark-paid").await;
    send(&port, "/warehouse", &shopify::SCHEME, "reserve-items").await;
    send(&port, "/crm", &standard_webhooks::SCHEME, "add-contact").await;
    for scheme in [
        &shopify::SCHEME,
        &stripe::SCHEME,
        &github::SCHEME,
        &standard_webhooks::SCHEME,
    ] {
        send(&port, "/chat", scheme, "post-line").await;
    }
    let books = port.books().await;
    let invoice = &books["accounting"]["invoices"][0];
    assert_eq!(
        (&books["accounting"]["total"], &invoice["paid"]),
        (&1.into(), &true.into()),
        "{invoice}"
    );
    assert_eq!(invoice["amount"], invoice["payment"]["amount"]);
    let reservation = &books["warehouse"]["reservations"][0];
    assert_eq!(reservation["order"], invoice["order"]);
    assert_eq!(reservation["items"][0]["title"], "Sencha 煎茶, 100 g");
    assert_eq!(reservation["items"][0]["quantity"], 1);
    let contact = &books["crm"]["contacts"][0];
    assert_eq!(
        (&contact["name"], &contact["email"]),
        (&"José Ñúñez-Łukasiewicz".into(), &"jose@example.org".into())
    );
    let lines = books["chat"]["lines"].as_array().expect("lines");
    let lines: Vec<_> = lines
        .iter()
        .map(|line| line["line"].as_str().expect("line"))
        .collect();
    let number = invoice["order"]
        .as_str()
        .expect("number")
        .trim_start_matches('#');
    let amount = invoice["amount"].as_str().expect("amount");
    let expected = [
        "José Ñúñez-Łukasiewicz filled in a form: Do you deliver to Kraków? – “As soon as possible”, please 🙏".to_owned(),
        "zoe-gross pushed 1 commit to teahouse/kettle, main".to_owned(),
        format!("{amount} EUR received for order {number}"),
        format!("New order #{number} by Zoë Groß: {amount} EUR"),
    ];
    assert_eq!(lines, expected);
}

#[tokio::test]
async fn an_unknown_action_or_kind_is_booked_all_the_same() {
    let port = Port::start().await;
    for (n, to) in ["/accounting", "/warehouse", "/crm"]
        .into_iter()
        .enumerate()
    {
        let answer = port
            .deliver(
                to,
                &format!("dlv_{n}"),
                "gr%C3%B6%C3%9Fe",
                "deliver",
                "\u{0}not json",
            )
            .await;
        assert_eq!(answer.status, 200, "{to}");
    }
    let answer = port
        .deliver(
            "/chat",
            "dlv_c",
            "gr%C3%B6%C3%9Fe",
            "deliver",
            "\u{0}not json",
        )
        .await;
    assert_eq!(answer.status, 200);
    let books = port.books().await;
    for (name, book) in [
        ("accounting", "invoices"),
        ("warehouse", "reservations"),
        ("crm", "contacts"),
    ] {
        let entry = &books[name][book][0];
        assert_eq!(
            (&entry["kind"], &entry["action"]),
            (&"größe".into(), &"deliver".into()),
            "{name}"
        );
        assert_eq!(entry["note"], "no rule for this action", "{name}");
    }
    assert_eq!(books["chat"]["lines"][0]["line"], "shop: größe");
}

#[tokio::test]
async fn chat_posts_a_line_for_a_body_that_it_cannot_read() {
    let port = Port::start().await;
    for (n, kind) in [
        "orders/create",
        "payment_intent.succeeded",
        "push",
        "form.submitted",
    ]
    .into_iter()
    .enumerate()
    {
        for (m, body) in [
            "payload=%7B%7D",
            "{}",
            "[]",
            r#"{"data":null,"pusher":null}"#,
        ]
        .into_iter()
        .enumerate()
        {
            let answer = port
                .deliver("/chat", &format!("dlv_{n}_{m}"), kind, "post-line", body)
                .await;
            assert_eq!(answer.status, 200, "{kind} {body}");
        }
        assert_eq!(
            port.books().await["chat"]["lines"][0]["line"],
            format!("shop: {kind}")
        );
    }
}

#[tokio::test]
async fn a_byte_order_mark_and_orders_without_anything_in_them_are_read() {
    let port = Port::start().await;
    let marked = "\u{feff}{\"name\":\"#7\",\"total_price\":\"0.10\"}";
    assert_eq!(
        port.deliver(
            "/accounting",
            "dlv_a",
            "orders/create",
            "make-invoice",
            marked
        )
        .await
        .status,
        200
    );
    assert_eq!(
        port.deliver(
            "/accounting",
            "dlv_b",
            "orders/create",
            "make-invoice",
            "{}"
        )
        .await
        .status,
        200
    );
    let books = port.books().await;
    let invoices = &books["accounting"]["invoices"];
    assert_eq!(
        (&invoices[1]["order"], &invoices[1]["amount"]),
        (&"#7".into(), &"0.10".into())
    );
    assert_eq!(invoices[0]["order"], serde_json::Value::Null);
}
