//! What a browser sees, and what pages of others cannot do.

use super::Port;

#[tokio::test]
async fn nothing_that_a_sender_wrote_is_markup_on_the_page() {
    let port = Port::start().await;
    let evil = r#"{"name":"</td><script>alert(1)</script>","total_price":"\"><img src=x onerror=alert(1)>","line_items":[{"title":"<b>\u202e"}]}"#;
    for (to, action) in [
        ("/accounting", "make-invoice"),
        ("/warehouse", "reserve-items"),
        ("/chat", "post-line"),
    ] {
        let answer = port
            .deliver(to, "dlv_'\"<i>", "%3Cscript%3E", action, evil)
            .await;
        assert_eq!(answer.status, 200, "{to}");
    }
    let page = port.ask("GET", "/", &[], b"").await;
    assert_eq!(
        (page.status, page.header("content-type")),
        (200, Some("text/html; charset=utf-8"))
    );
    assert_eq!(
        page.body.matches("<script").count(),
        1,
        "the page's own script only"
    );
    for markup in ["<img", "<b>", "<i>", "onerror=alert(1)>"] {
        assert!(!page.body.contains(markup), "{markup}");
    }
    assert!(
        page.body
            .contains("&lt;/td&gt;&lt;script&gt;alert(1)&lt;/script&gt;"),
        "shown as it came"
    );
    let policy = page.header("content-security-policy").expect("policy");
    assert!(
        policy.contains("default-src 'none'") && !policy.contains("unsafe"),
        "{policy}"
    );
}

#[tokio::test]
async fn the_page_shows_every_receiver_with_its_switches() {
    let port = Port::start().await;
    port.switch("/warehouse?mode=slow").await;
    let page = port.ask("GET", "/", &[], b"").await.body;
    for name in ["accounting", "warehouse", "chat", "crm", "your-endpoint"] {
        for mode in ["ok", "slow", "late", "fail", "down"] {
            let pressed = if name == "warehouse" {
                mode == "slow"
            } else {
                mode == "ok"
            };
            let button = format!(
                r#"<button id="{name}-{mode}" formaction="/{name}?mode={mode}" aria-pressed="{pressed}">{mode}</button>"#
            );
            assert!(page.contains(&button), "{button}");
        }
    }
    for file in ["/page.css", "/page.js"] {
        assert_eq!(port.ask("GET", file, &[], b"").await.status, 200, "{file}");
        assert!(page.contains(file), "{file}");
    }
}

#[tokio::test]
async fn a_button_leads_back_to_the_page() {
    let port = Port::start().await;
    let form = [
        ("Accept", "text/html,application/xhtml+xml"),
        ("Content-Type", "application/x-www-form-urlencoded"),
        ("Origin", "http://127.0.0.1:3001"),
        ("Sec-Fetch-Site", "same-origin"),
    ];
    let answer = port.ask("POST", "/crm?mode=down", &form, b"").await;
    assert_eq!((answer.status, answer.header("location")), (303, Some("/")));
    assert_eq!(port.books().await["crm"]["mode"], "down");
}

#[tokio::test]
async fn a_page_of_another_site_sets_no_switch() {
    let port = Port::start().await;
    for headers in [
        &[("Origin", "https://evil.example")][..],
        &[("Sec-Fetch-Site", "cross-site")],
        &[
            ("Host", "evil.example:3001"),
            ("Origin", "http://evil.example:3001"),
        ],
    ] {
        let answer = port.ask("POST", "/crm?mode=down", headers, b"").await;
        assert_eq!(answer.status, 403, "{headers:?}");
    }
    assert_eq!(port.books().await["crm"]["mode"], "ok");
}

#[tokio::test]
async fn the_books_are_not_read_under_a_strange_name_but_deliveries_are_taken() {
    let port = Port::start().await;
    for path in ["/", "/books"] {
        let answer = port
            .ask("GET", path, &[("Host", "evil.example:3001")], b"")
            .await;
        assert_eq!(answer.status, 403, "{path}");
    }
    let delivery = [("Host", "receivers.internal"), ("Idempotency-Key", "dlv_a")];
    assert_eq!(
        port.ask("POST", "/chat", &delivery, b"{}").await.status,
        200
    );
}
