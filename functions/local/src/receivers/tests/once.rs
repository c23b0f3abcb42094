//! Once per key: first, again, never half.

use super::Port;

const ORDER: &str =
    r##"{"id":820982911946154508,"name":"#1001","total_price":"54.00","currency":"EUR"}"##;

#[tokio::test]
async fn a_delivery_is_booked_once_and_its_copies_get_the_first_answer() {
    let port = Port::start().await;
    let first = port
        .deliver(
            "/accounting",
            "dlv_a",
            "orders/create",
            "make-invoice",
            ORDER,
        )
        .await;
    assert_eq!(
        (first.status, first.body.as_str()),
        (200, r#"{"status":"applied"}"#)
    );
    for _ in 0..3 {
        let again = port
            .deliver(
                "/accounting",
                "dlv_a",
                "orders/create",
                "make-invoice",
                ORDER,
            )
            .await;
        assert_eq!(
            (again.status, &again.body),
            (200, &first.body),
            "the first's answer"
        );
    }
    let accounting = &port.books().await["accounting"];
    assert_eq!(accounting["total"], 1);
    assert_eq!(
        (&accounting["applied"], &accounting["answered_again"]),
        (&1.into(), &3.into())
    );
    let invoice = &accounting["invoices"][0];
    assert_eq!(invoice["key"], "dlv_a");
    assert_eq!(invoice["event"], "evt_aaaaaaaaaaaaaaaaaaaaaaaaaa");
    assert_eq!(invoice["at"], "2026-01-31T09:00:00.000Z");
    assert_eq!(invoice["attempt"], 1);
    assert_eq!(invoice["order"], "#1001");
    assert_eq!(
        (&invoice["amount"], &invoice["currency"]),
        (&"54.00".into(), &"EUR".into())
    );
    assert_eq!(invoice["paid"], false);
}

#[tokio::test]
async fn many_copies_at_once_are_one_entry() {
    let port = Port::start().await;
    let port = std::sync::Arc::new(port);
    let copies: Vec<_> = (0..24)
        .map(|_| {
            let port = std::sync::Arc::clone(&port);
            tokio::spawn(async move {
                port.deliver(
                    "/warehouse",
                    "dlv_a",
                    "orders/create",
                    "reserve-items",
                    ORDER,
                )
                .await
                .status
            })
        })
        .collect();
    for copy in copies {
        let status = copy.await.expect("copy");
        assert!(
            matches!(status, 200 | 409),
            "applied, again or in progress: {status}"
        );
    }
    let warehouse = &port.books().await["warehouse"];
    assert_eq!(
        (&warehouse["total"], &warehouse["applied"]),
        (&1.into(), &1.into())
    );
}

#[tokio::test]
async fn what_was_applied_is_known_after_a_restart_and_so_are_the_switches() {
    let port = Port::start().await;
    port.deliver("/chat", "dlv_a", "push", "post-line", "{}")
        .await;
    port.switch("/crm?mode=fail").await;
    let port = port.restarted().await;
    let again = port
        .deliver("/chat", "dlv_a", "push", "post-line", "{}")
        .await;
    assert_eq!(again.status, 200);
    let books = port.books().await;
    assert_eq!(
        (&books["chat"]["total"], &books["chat"]["answered_again"]),
        (&1.into(), &1.into())
    );
    assert_eq!(books["crm"]["mode"], "fail");
}

#[tokio::test]
async fn the_receivers_do_not_share_their_keys() {
    let port = Port::start().await;
    for to in ["/accounting", "/warehouse", "/chat", "/crm"] {
        let answer = port
            .deliver(to, "by-hand-1", "anything", "anything", "")
            .await;
        assert_eq!(answer.status, 200, "{to}");
    }
    let books = port.books().await;
    for name in ["accounting", "warehouse", "chat", "crm"] {
        assert_eq!(books[name]["total"], 1, "{name}");
    }
}

#[tokio::test]
async fn a_body_that_cannot_be_read_is_answered_422_and_nothing_is_booked() {
    let port = Port::start().await;
    for (to, action, body) in [
        ("/accounting", "make-invoice", "not json"),
        ("/accounting", "make-invoice", r#"{"total_price":54.1}"#),
        (
            "/accounting",
            "mark-paid",
            r#"{"data":{"object":{"amount":-1}}}"#,
        ),
        (
            "/accounting",
            "mark-paid",
            r#"{"data":{"object":{"amount":1.5}}}"#,
        ),
        ("/warehouse", "reserve-items", r#"{"line_items":"all"}"#),
        ("/crm", "add-contact", "\u{0}"),
    ] {
        let answer = port.deliver(to, "dlv_a", "k", action, body).await;
        assert_eq!(answer.status, 422, "{to} {body}");
        assert!(
            answer.json()["error"].is_string(),
            "it says why: {answer:?}"
        );
    }
    let books = port.books().await;
    for (name, book) in [
        ("accounting", "invoices"),
        ("warehouse", "reservations"),
        ("crm", "contacts"),
    ] {
        assert_eq!(books[name][book], serde_json::json!([]), "{name}");
        assert_eq!(
            (&books[name]["total"], &books[name]["applied"]),
            (&0.into(), &0.into()),
            "{name}"
        );
    }
    let mended = port
        .deliver(
            "/accounting",
            "dlv_a",
            "orders/create",
            "make-invoice",
            ORDER,
        )
        .await;
    assert_eq!(mended.status, 200, "its key was not kept");
}

#[tokio::test]
async fn what_is_no_delivery_is_told_so() {
    let port = Port::start().await;
    let long = "k".repeat(256);
    assert_eq!(
        port.ask("POST", "/accounting", &[], b"{}").await.status,
        400,
        "no key"
    );
    assert_eq!(
        port.deliver("/accounting", &long, "k", "a", "{}")
            .await
            .status,
        400,
        "a long key"
    );
    assert_eq!(
        port.deliver("/accounting", "a b", "k", "a", "{}")
            .await
            .status,
        400,
        "a key with a space"
    );
    assert_eq!(
        port.deliver("/accounting?mode=lazy", "dlv_a", "k", "a", "{}")
            .await
            .status,
        400,
        "no such mode"
    );
    assert_eq!(
        port.deliver("/nobody", "dlv_a", "k", "a", "{}")
            .await
            .status,
        404
    );
    assert_eq!(port.ask("GET", "/accounting", &[], b"").await.status, 405);
    assert_eq!(port.books().await["accounting"]["total"], 0);
}

#[tokio::test]
async fn a_body_of_8_mb_is_taken_and_a_longer_one_is_not() {
    let port = Port::start().await;
    let longest = " ".repeat(8 * 1024 * 1024);
    assert_eq!(
        port.deliver("/chat", "dlv_a", "push", "post-line", &longest)
            .await
            .status,
        200
    );
    let longer = format!("{longest} ");
    assert_eq!(
        port.deliver("/chat", "dlv_b", "push", "post-line", &longer)
            .await
            .status,
        413
    );
    assert_eq!(port.books().await["chat"]["total"], 1);
}

#[tokio::test]
async fn at_most_a_hundred_entries_are_shown_newest_first() {
    let port = Port::start().await;
    for n in 0..103 {
        let key = format!("dlv_{n}");
        assert_eq!(
            port.deliver("/chat", &key, "ping", "post-line", "{}")
                .await
                .status,
            200
        );
    }
    let chat = &port.books().await["chat"];
    let lines = chat["lines"].as_array().expect("lines");
    assert_eq!((lines.len(), &chat["total"]), (100, &103.into()));
    assert_eq!(
        (&lines[0]["key"], &lines[99]["key"]),
        (&"dlv_102".into(), &"dlv_3".into())
    );
    let page = port.ask("GET", "/", &[], b"").await.body;
    assert!(
        page.contains("and 3 older"),
        "the page says how many more there are"
    );
}
