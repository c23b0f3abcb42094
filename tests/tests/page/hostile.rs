//! Texts of senders that were written to break the page: shown as text, and nothing of them is carried out.

use serde_json::{Value, json};
use switchboard_tests::browser::Browser;
use switchboard_tests::setting::sender;
use switchboard_tests::switchboard::Switchboard;
use switchboard_tests::wire;

use crate::setting::{failing, rows, signed_in, view};

/// A kind, and how a reader sees it.
const KINDS: [(&str, &str); 8] = [
    (
        "</script><script>alert(1)</script>",
        "</script><script>alert(1)</script>",
    ),
    (
        "<img src=x onerror=alert(1)>",
        "<img src=x onerror=alert(1)>",
    ),
    ("\"><svg onload=alert(1)>", "\"><svg onload=alert(1)>"),
    ("<!-- -->{{7*7}}${alert(1)}", "<!-- -->{{7*7}}${alert(1)}"),
    ("order\u{202e}gpj.exe", "order\\u{202e}gpj.exe"),
    ("zero\u{200b}width\u{feff}", "zero\\u{200b}width\\u{feff}"),
    (
        "line\u{2028}one\r\nline two\u{0}",
        "line\\u{2028}one\\u{d}\\u{a}line two\\u{0}",
    ),
    ("e\u{301}😀 עברית", "e\u{301}😀 עברית"),
];

/// Posts an event whose id and kind are these; Stripe's senders write both into the body.
async fn send(switchboard: &Switchboard, id: &str, kind: &str) -> u16 {
    let body = json!({ "id": id, "type": kind }).to_string();
    sender(switchboard, "payments")
        .send("", "", body)
        .await
        .status
        .as_u16()
}

/// Nothing but what the page itself is made of: no script ran, and no element came out of a text.
async fn nothing_was_carried_out(browser: &mut Browser) {
    let foreign = "document.querySelectorAll('main script, img, svg:not(.drawing svg), iframe, object, main style, \
        main [onload], main [onerror]').length";
    assert_eq!(browser.evaluate(foreign).await, 0);
    assert_eq!(browser.evaluate("document.scripts.length").await, 1);
    assert_eq!(browser.misbehaviour().await, Vec::<&Value>::new());
}

#[tokio::test]
async fn kinds_and_ids_are_shown_as_text_and_nothing_of_them_is_carried_out() {
    let (_sink, switchboard) = failing().await;
    for (kind, _) in KINDS {
        assert_eq!(send(&switchboard, kind, kind).await, 200, "{kind:?}");
    }
    switchboard.wait_total("dead", 8).await;
    let mut browser = signed_in(&switchboard).await;
    nothing_was_carried_out(&mut browser).await;
    view(&mut browser, "#/events").await;
    let events = rows(&mut browser, "events").await;
    nothing_was_carried_out(&mut browser).await;
    view(&mut browser, "#/failed").await;
    let letters = rows(&mut browser, "dead-letters").await;
    assert_eq!((events.len(), letters.len()), (8, 8));
    for (kind, seen) in KINDS {
        let event = events.iter().find(|row| row[2] == seen);
        let event = event
            .unwrap_or_else(|| panic!("{kind:?} is not among the events as {seen}: {events:#?}"));
        assert_eq!(event[3], seen, "the sender's id");
        assert!(
            letters.iter().any(|row| row[3] == seen),
            "{kind:?} is not among the dead letters: {letters:#?}"
        );
    }
    nothing_was_carried_out(&mut browser).await;
    for event in switchboard.get("/api/events").await["items"]
        .as_array()
        .expect("a list")
    {
        let id = event["event"].as_str().expect("an id");
        view(&mut browser, &format!("#/events/{id}")).await;
        assert_eq!(browser.text("#event-id code").await, id);
        let script = "!document.querySelector('pre.body').hidden";
        browser.wait("the body is shown", script).await;
        nothing_was_carried_out(&mut browser).await;
    }
    browser.close().await;
}

#[tokio::test]
async fn what_is_refused_or_declined_is_shown_as_text_too() {
    let (_sink, switchboard) = failing().await;
    let script = "<script>alert(1)</script>";
    let headers = [("host", "localhost"), ("content-type", script)];
    let reply = wire::ask(&switchboard.url, "POST", "/in/shop", &headers, "{}").await;
    assert_eq!(reply.status, 401);
    let reply = wire::ask(
        &switchboard.url,
        "POST",
        "/in/<script>alert(1)</script>",
        &headers,
        "{}",
    )
    .await;
    assert!(reply.status == 404 || reply.status == 400, "{}", reply.head);
    let mut browser = signed_in(&switchboard).await;
    view(&mut browser, "#/refused").await;
    let refusals = rows(&mut browser, "refusals").await;
    assert_eq!(refusals[0][7], script);
    nothing_was_carried_out(&mut browser).await;
    browser.close().await;
}

#[tokio::test]
async fn long_texts_are_cut_and_the_page_fits_a_narrow_window() {
    let (_sink, switchboard) = failing().await;
    assert_eq!(
        send(&switchboard, "1", &"k".repeat(10_000)).await,
        400,
        "a kind is 255 bytes at most"
    );
    assert_eq!(
        send(&switchboard, &"i".repeat(1024), &"k".repeat(255)).await,
        200
    );
    assert_eq!(send(&switchboard, "2", &"\u{202e}".repeat(85)).await, 200);
    switchboard.wait_total("dead", 2).await;
    let mut browser = signed_in(&switchboard).await;
    view(&mut browser, "#/events").await;
    let events = rows(&mut browser, "events").await;
    assert!(
        events
            .iter()
            .any(|row| row[2] == format!("{}…", "k".repeat(120))),
        "{events:#?}"
    );
    assert!(
        events.iter().any(|row| row[2] == "\\u{202e}".repeat(85)),
        "{events:#?}"
    );
    for address in ["#/", "#/events", "#/failed", "#/destinations", "#/sources"] {
        view(&mut browser, address).await;
        for width in [2500, 1280, 400, 320] {
            browser.widen(width).await;
            // The drawings follow the window's width a moment later.
            let fits = format!("document.documentElement.scrollWidth <= {width}");
            let what = format!("{address} fits into a window of {width} pixels");
            browser.wait(&what, &fits).await;
        }
    }
    nothing_was_carried_out(&mut browser).await;
    browser.close().await;
}
