//! Pictures of every view of the page, of a Switchboard that has had some trouble: light and dark, and on a narrow screen.
//! They go into the folder that it is told, as `VIEW-light.png` and so on.

#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "it is a tool of developers: what fails ends it, and it tells where it is"
)]

use std::path::{Path, PathBuf};

use http::StatusCode;
use serde_json::{Value, json};
use switchboard_tests::browser::Browser;
use switchboard_tests::page::view;
use switchboard_tests::setting::{SOURCES, configuration, sender, start};
use switchboard_tests::sink::Sink;
use switchboard_tests::switchboard::Switchboard;

/// How a picture is made: its name behind that of the view, the scheme of colours, the width.
const LOOKS: [(&str, &str, u32); 3] = [
    ("light", "light", 1300),
    ("dark", "dark", 1300),
    ("narrow", "light", 400),
];

/// The views and their addresses, but for that of an event.
const VIEWS: [(&str, &str); 8] = [
    ("overview", "#/"),
    ("events", "#/events"),
    ("failed", "#/failed"),
    ("refused", "#/refused"),
    ("replay", "#/replay"),
    ("destinations", "#/destinations"),
    ("endpoint", "#/endpoint"),
    ("sources", "#/sources"),
];

#[tokio::main]
async fn main() {
    let folder = std::env::args_os().nth(1).map(PathBuf::from);
    let folder = folder.expect("the folder is the one argument");
    std::fs::create_dir_all(&folder).expect("a folder");
    let sink = Sink::start().await;
    let switchboard = Switchboard::start(start(&configuration(&sink))).await;
    let event = trouble(&sink, &switchboard).await;
    let mut browser = Browser::start().await;
    for (look, colours, width) in LOOKS {
        browser.widen(width).await;
        paint(&mut browser, colours).await;
        if look == "light" {
            browser.open(&switchboard.at("/")).await;
            save(&mut browser, &folder, "sign-in", look).await;
            browser.open(&switchboard.sign_in).await;
        }
        for (name, address) in VIEWS {
            view(&mut browser, address).await;
            save(&mut browser, &folder, name, look).await;
        }
        view(&mut browser, &format!("#/events/{event}")).await;
        save(&mut browser, &folder, "event", look).await;
    }
    let bad = browser.misbehaviour().await;
    assert!(bad.is_empty(), "{bad:?}");
    browser.close().await;
}

/// Some events, of which some fail, one is attempted again with success, and one is not accepted; the id of that which
/// was attempted again.
async fn trouble(sink: &Sink, switchboard: &Switchboard) -> String {
    sink.answer(|received, _| {
        if received.path == "/accounting" {
            StatusCode::SERVICE_UNAVAILABLE
        } else {
            StatusCode::OK
        }
    });
    for n in 1001..1004 {
        let order = json!({ "id": n, "total_price": "12.10", "currency": "EUR", "line_items": [{ "sku": "A-1", "quantity": 2 }] });
        sender(switchboard, "shop")
            .send(&n.to_string(), "orders/create", order.to_string())
            .await;
    }
    switchboard.wait_total("dead", 3).await;
    sink.answer(|received, _| {
        if received.path == "/warehouse" && received.header("switchboard-attempt") == "1" {
            StatusCode::BAD_GATEWAY
        } else {
            StatusCode::OK
        }
    });
    for (source, ..) in SOURCES {
        for n in 0..12 {
            let kind = if source == "code" {
                "push"
            } else {
                "orders/create"
            };
            let body = json!({ "id": format!("evt_{n}"), "type": kind }).to_string();
            sender(switchboard, source)
                .send(&format!("{source}-{n}"), kind, body)
                .await;
        }
    }
    let mut stranger = sender(switchboard, "shop").headers("7", "orders/create", b"{}");
    stranger.insert(
        "x-shopify-hmac-sha256",
        "bm90IHRoZSByaWdodCBvbmU=".parse().expect("a value"),
    );
    sender(switchboard, "shop").post(stranger, "{}").await;
    switchboard.wait_total("waiting", 0).await;
    let (code, printed) = switchboard
        .run(&["redrive", "--destination", "accounting"])
        .await;
    assert_eq!(code, 0, "{printed}");
    switchboard.wait_total("dead", 0).await;
    switchboard.wait_total("waiting", 0).await;
    sink.answer(|_, _| StatusCode::SERVICE_UNAVAILABLE);
    for n in 2001..2003 {
        sender(switchboard, "shop")
            .send(&n.to_string(), "orders/create", "{}")
            .await;
    }
    switchboard.wait_total("dead", 4).await;
    sink.answer(|_, _| StatusCode::OK);
    let found = switchboard
        .get("/api/events?source=shop&sender_id=1001")
        .await;
    let event = found.pointer("/items/0/event");
    event.and_then(Value::as_str).expect("an event").to_owned()
}

async fn paint(browser: &mut Browser, colours: &str) {
    let scheme = json!({ "features": [{ "name": "prefers-color-scheme", "value": colours }] });
    browser.command("Emulation.setEmulatedMedia", &scheme).await;
}

async fn save(browser: &mut Browser, folder: &Path, name: &str, look: &str) {
    let path = folder.join(format!("{name}-{look}.png"));
    std::fs::write(&path, browser.picture().await).expect("a picture");
    println!("{}", path.display());
}
