//! `send`: a correctly signed sample event, and where it arrives.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use switchboard_tests::receivers;
use switchboard_tests::run::Run;
use switchboard_tests::setting::{self, running};
use switchboard_tests::switchboard::{Start, Switchboard};
use switchboard_tests::wait;

/// Source, kind, and each destination with what its book holds and the action it gets: the first configuration.
type Row = (
    &'static str,
    &'static str,
    &'static [(&'static str, &'static str, &'static str)],
);
const TABLE: [Row; 4] = [
    (
        "shop",
        "orders/create",
        &[
            ("accounting", "invoices", "make-invoice"),
            ("warehouse", "reservations", "reserve-items"),
            ("chat", "lines", "post-line"),
            ("your-endpoint", "copies", "copy"),
        ],
    ),
    (
        "payments",
        "payment_intent.succeeded",
        &[
            ("accounting", "invoices", "mark-paid"),
            ("chat", "lines", "post-line"),
            ("your-endpoint", "copies", "copy"),
        ],
    ),
    (
        "code",
        "push",
        &[
            ("chat", "lines", "post-line"),
            ("your-endpoint", "copies", "copy"),
        ],
    ),
    (
        "forms",
        "form.submitted",
        &[
            ("crm", "contacts", "add-contact"),
            ("chat", "lines", "post-line"),
            ("your-endpoint", "copies", "copy"),
        ],
    ),
];

/// The event's id in what `send` printed.
fn event(printed: &str) -> String {
    let id = printed
        .split('"')
        .find(|part| part.starts_with("evt_"))
        .unwrap_or_else(|| panic!("no event in {printed}"));
    id.to_owned()
}

/// Destination, action and idempotency key of each entry that an event has in the books.
fn booked(books: &Value, event: &str) -> BTreeSet<(String, String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut found = BTreeSet::new();
    for (receiver, book) in books.as_object().expect("books") {
        let lists = book.as_object().expect("a book").values();
        for entry in lists.filter_map(Value::as_array).flatten() {
            if entry["event"] == event {
                let new = found.insert((
                    receiver.clone(),
                    text(&entry["action"]),
                    text(&entry["key"]),
                ));
                assert!(new, "{receiver} has {event} twice: {book}");
            }
        }
    }
    found
}

#[tokio::test]
async fn each_sample_event_is_in_the_books_of_exactly_the_destinations_that_the_table_names() {
    let switchboard = Switchboard::start(Start::sample()).await;
    let receivers = switchboard.receivers.clone().expect("receivers");
    for (source, kind, destinations) in TABLE {
        let (code, printed) = switchboard.run(&["send", source, kind]).await;
        assert_eq!(code, 0, "{printed}");
        let event = event(&printed);
        let view = wait::until("all its deliveries are delivered", async || {
            let view = switchboard.get(&format!("/api/events/{event}")).await;
            let done = json!({ "delivered": destinations.len() });
            (view["deliveries"] == done).then_some(view)
        })
        .await;
        assert_eq!(
            (&view["source"], &view["kind"]),
            (&json!(source), &json!(kind))
        );
        let deliveries: BTreeSet<_> = view["delivery_list"]
            .as_array()
            .expect("deliveries")
            .iter()
            .map(|delivery| {
                ["destination", "action", "delivery"]
                    .map(|name| delivery[name].as_str().expect("text").to_owned())
                    .into()
            })
            .collect();
        let books = receivers::books(&receivers).await;
        assert_eq!(
            booked(&books, &event),
            deliveries,
            "the books hold its deliveries"
        );
        let named: BTreeSet<_> = deliveries
            .iter()
            .map(|(to, action, _)| (&**to, &**action))
            .collect();
        let due: BTreeSet<_> = destinations
            .iter()
            .map(|(to, _, action)| (*to, *action))
            .collect();
        assert_eq!(named, due, "{source}, {kind}");
        for (receiver, book, _) in destinations {
            let entries = books[receiver][book].as_array().expect("entries");
            assert!(
                entries.iter().any(|entry| entry["event"] == *event),
                "{receiver}: {entries:?}"
            );
        }
    }
    let books = receivers::books(&receivers).await;
    let copies = &books["your-endpoint"];
    assert_eq!(
        (&copies["total"], &copies["refused"]),
        (&json!(4), &json!(0))
    );
    for copy in copies["copies"].as_array().expect("copies") {
        assert_eq!(copy["signature"], "held", "{copy}");
    }
    let events = switchboard.get("/api/events").await;
    assert_eq!(events["items"].as_array().map(Vec::len), Some(4));
    let totals = switchboard.get("/api/overview").await["totals"].clone();
    assert_eq!(
        (&totals["stored"], &totals["delivered"], &totals["refused"]),
        (&json!(4), &json!(12), &json!(0)),
        "{totals}"
    );
    let page = receivers::page(&receivers).await;
    for shown in [
        "Accounting",
        "Warehouse",
        "Team chat",
        "CRM",
        "Your endpoint",
        "teahouse/kettle",
    ] {
        assert!(page.contains(shown), "the receivers' page shows {shown}");
    }
}

#[tokio::test]
async fn two_sends_are_two_events() {
    let switchboard = Switchboard::start(Start::sample().flag("--receivers=off")).await;
    for (source, kind, _) in TABLE {
        for _ in 0..2 {
            let (code, printed) = switchboard.run(&["send", source, kind]).await;
            assert!(code == 0 && printed.contains("accepted"), "{printed}");
        }
    }
    let totals = switchboard.get("/api/overview").await["totals"].clone();
    assert_eq!(
        (&totals["stored"], &totals["repeats"]),
        (&json!(8), &json!(0))
    );
}

#[tokio::test]
async fn a_body_of_ones_own_is_delivered_byte_for_byte() {
    let (sink, switchboard) = running().await;
    let own = b" {\"n\": 9007199254740993,\r\n \"text\": \"\xe2\x80\xae\xff\"}\n\n";
    std::fs::write(switchboard.folder().join("own.json"), own).expect("a file");
    let arguments = [
        "send",
        "shop",
        "orders/create",
        "--body",
        "own.json",
        "--config",
        "switchboard.toml",
    ];
    let (code, printed) = switchboard.run(&arguments).await;
    assert_eq!(code, 0, "{printed}");
    for received in sink.wait_for(2).await {
        assert_eq!(&received.body[..], own);
    }
}

#[tokio::test]
async fn of_a_body_of_ones_own_the_id_and_kind_in_it_count_where_the_sender_writes_them_there() {
    let (sink, switchboard) = running().await;
    let own = r#"{"id": "evt_mine", "type": "charge.refunded"}"#;
    std::fs::write(switchboard.folder().join("own.json"), own).expect("a file");
    let send = [
        "send",
        "payments",
        "other",
        "--body",
        "own.json",
        "--config",
        "switchboard.toml",
    ];
    let (code, printed) = switchboard.run(&send).await;
    assert!(code == 0 && printed.contains("accepted"), "{printed}");
    let (code, printed) = switchboard.run(&send).await;
    assert!(
        code == 0 && printed.contains("repeat"),
        "the same once more: {printed}"
    );
    let event = switchboard.get("/api/events").await["items"][0].clone();
    assert_eq!(
        (&event["sender_id"], &event["kind"]),
        (&json!("evt_mine"), &json!("charge.refunded"))
    );
    switchboard.wait_total("delivered", 1).await;
    assert_eq!(sink.received().len(), 1);
}

#[tokio::test]
async fn a_source_that_is_not_configured_ends_with_64_and_says_which_there_are() {
    let folder = tempfile::tempdir().expect("a folder");
    let ended = Run::of(folder.path(), &["send", "shopp", "orders/create"])
        .ended()
        .await;
    assert_eq!(ended.code, 64);
    assert_eq!(
        ended.lines(),
        ["switchboard: there is no source named \"shopp\"; there are shop, payments, code, forms"]
    );
}

#[tokio::test]
async fn where_nothing_listens_it_ends_with_1_and_says_what_to_do() {
    let folder = tempfile::tempdir().expect("a folder");
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", free.local_addr().expect("an address"));
    drop(free);
    let ended = Run::of(
        folder.path(),
        &["send", "shop", "orders/create", "--url", &url],
    )
    .ended()
    .await;
    assert_eq!((ended.code, ended.lines().len()), (1, 1), "{ended:?}");
    for word in [&*url, "`switchboard serve`", "--url"] {
        assert!(ended.err.contains(word), "it says {word}: {}", ended.err);
    }
    std::fs::write(
        folder.path().join("own.toml"),
        setting::configuration_to("http://127.0.0.1:9/"),
    )
    .expect("a file");
    let ended = setting::SOURCES
        .iter()
        .fold(
            Run::of(
                folder.path(),
                &[
                    "send", "shop", "kind", "--url", &url, "--config", "own.toml",
                ],
            ),
            |run, (_, _, variable, secret)| run.set(variable, secret),
        )
        .ended()
        .await;
    assert!(
        ended.err.contains("`switchboard serve --config own.toml`"),
        "{}",
        ended.err
    );
}

#[tokio::test]
async fn what_is_refused_ends_with_1_and_the_answer() {
    let (_sink, switchboard) = running().await;
    // The built-in sample's secret is not that of this shop.
    let (code, printed) = switchboard.run(&["send", "shop", "orders/create"]).await;
    assert_eq!(code, 1);
    assert!(
        printed.contains("401") && printed.contains("refused"),
        "{printed}"
    );
    for secret in setting::SOURCES.map(|(.., secret)| secret) {
        assert!(!printed.contains(secret), "{printed}");
    }
}

#[tokio::test]
async fn a_body_that_cannot_be_read_ends_with_1_and_names_the_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let arguments = ["send", "shop", "orders/create", "--body", "not-there.json"];
    let ended = Run::of(folder.path(), &arguments).ended().await;
    assert_eq!((ended.code, ended.lines().len()), (1, 1), "{ended:?}");
    assert!(ended.err.contains("not-there.json"), "{}", ended.err);
}

#[tokio::test]
async fn a_sample_can_be_signed_without_a_configuration() {
    let (name, scheme, variable, secret) = setting::SOURCES[0];
    let configuration = format!(
        "[[source]]\nname = \"{name}\"\nscheme = \"{scheme}\"\nsecrets = [\"env:{variable}\"]\n"
    );
    let start = Start::with(&configuration).set(variable, secret);
    let switchboard = Switchboard::start(start).await;
    let told = [
        "send",
        name,
        "orders/create",
        "--scheme",
        scheme,
        "--secret",
    ];
    let reference = format!("env:{variable}");
    let (code, printed) = switchboard.run(&[&told[..], &[&reference]].concat()).await;
    assert_eq!(code, 0, "{printed}");
    assert_eq!(switchboard.total("stored").await, 1);
    for (wrong, why) in [
        (secret, "--secret is env:NAME or file:PATH, never the value"),
        (
            "env:NOT_THERE",
            "--secret env:NOT_THERE: the variable is not set",
        ),
        ("file:not-there", "--secret file:not-there: "),
    ] {
        let (code, printed) = switchboard.run(&[&told[..], &[wrong]].concat()).await;
        assert_eq!(code, 64, "{printed}");
        assert!(
            printed.starts_with(&format!("switchboard: {why}")),
            "{printed}"
        );
        assert!(!printed.contains(secret), "{printed}");
    }
    let unknown = ["send", name, "x", "--scheme", "x", "--secret", &reference];
    let (code, printed) = switchboard.run(&unknown).await;
    assert_eq!(code, 2, "{printed}");
    assert!(printed.contains("there are shopify, stripe"), "{printed}");
    let half = ["send", name, "x", "--scheme", scheme];
    assert_eq!(switchboard.run(&half).await.0, 2, "the secret is missing");
}
