//! Addresses that lead inside, or nowhere: refused in a configuration and for your endpoint, whatever their spelling.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use http::{Method, StatusCode};
use serde_json::{Value, json};
use switchboard_tests::run::Run;
use switchboard_tests::setting::{SOURCES, configuration, sender, start};
use switchboard_tests::sink::Sink;
use switchboard_tests::switchboard::Switchboard;

/// This machine and private networks, in every spelling; the port and path are added.
const INSIDE: [&str; 24] = [
    "127.0.0.1",
    "2130706433",
    "0x7f000001",
    "0x7F.0.0.1",
    "0177.0.0.1",
    "017700000001",
    "127.1",
    "127.0.0.1.",
    "１２７.0.0.1",
    "①②⑦.⓪.⓪.①",
    "127。0。0。1",
    "%31%32%37.0.0.1",
    "localhost",
    "localhost.",
    "LOCALHOST",
    "LocalHost.",
    "ｌｏｃａｌｈｏｓｔ",
    "sub.localhost",
    "sub.localhost.",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "10.0.0.1",
    "[fd12::1]",
];
/// What stays refused even where destinations may be on this machine and its networks.
const NEVER: [&str; 10] = [
    "http://169.254.169.254/latest/meta-data",
    "http://2852039166/",
    "http://0xA9FEA9FE/",
    "http://169.254.170.2/v2/credentials",
    "http://[fe80::1]/",
    "http://[fd00:ec2::254]/",
    "http://[::ffff:169.254.169.254]/",
    "http://100.100.100.200/",
    "http://0/",
    "http://0.0.0.0:80/",
];
/// What cannot be called at all, and the word in which the reason is found.
const UNUSABLE: [(&str, &str); 19] = [
    ("http://h:0/", "port 0"),
    ("http://h:65536/", "readable"),
    ("ftp://h/", "http:// or https://"),
    ("file:///etc/passwd", "http:// or https://"),
    ("https:example.com", "http:// or https://"),
    ("https:/example.com", "http:// or https://"),
    ("javascript:alert(1)", "http:// or https://"),
    ("example.com/hook", "http:// or https://"),
    ("", "http:// or https://"),
    ("http://exa mple/", "spaces"),
    ("http://127.0.\t0.1/", "spaces"),
    ("http://example.com/a\nb", "spaces"),
    (" http://example.com/", "spaces"),
    ("http://example.com/x#frag", "#"),
    ("http://", "readable"),
    ("https://a:b@10.0.0.1/", "user or password"),
    ("https://10.0.0.1@example.com/", "user or password"),
    ("https://user@example.com/", "user or password"),
    ("https://127.0.0.1%2f@example.com/", "user or password"),
];

fn inside() -> impl Iterator<Item = String> {
    INSIDE
        .into_iter()
        .flat_map(|host| [format!("http://{host}:9001/x"), format!("https://{host}/")])
}

/// The names of the destinations with these addresses that `check` finds a fault of, and everything it said.
async fn faulty(top: &str, urls: &[String]) -> (BTreeSet<usize>, String) {
    let (name, scheme, variable, secret) = SOURCES[0];
    let mut text = format!(
        "{top}[[source]]\nname = {name:?}\nscheme = {scheme:?}\nsecrets = [\"env:{variable}\"]\n"
    );
    for (n, url) in urls.iter().enumerate() {
        // JSON's texts are TOML's too.
        let _ = write!(
            text,
            "[[destination]]\nname = \"d-{n}\"\nurl = {}\n",
            json!(url)
        );
    }
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("c.toml"), text).expect("a file");
    let ended = Run::of(folder.path(), &["check", "--config", "c.toml"])
        .set(variable, secret)
        .ended()
        .await;
    let is_named = |n: &usize| ended.err.contains(&format!("destination \"d-{n}\": url "));
    ((0..urls.len()).filter(is_named).collect(), ended.err)
}

#[tokio::test]
async fn a_configuration_with_an_address_that_leads_inside_is_refused_whatever_its_spelling() {
    let urls: Vec<String> = inside().chain(NEVER.map(str::to_owned)).collect();
    let all: BTreeSet<usize> = (0..urls.len()).collect();
    for top in ["", "allow_private_networks = false\n"] {
        let (found, said) = faulty(top, &urls).await;
        let passed: Vec<&String> = all.difference(&found).map(|n| &urls[*n]).collect();
        assert!(passed.is_empty(), "{passed:?} passed: {said}");
    }
    let (found, said) = faulty("allow_private_networks = true\n", &urls).await;
    let due: BTreeSet<usize> = (inside().count()..urls.len()).collect();
    assert_eq!(
        found, due,
        "with the switch, link-local and the rest stay refused, and only they: {said}"
    );
    let unusable: Vec<String> = UNUSABLE.map(|(url, _)| url.to_owned()).into();
    let (found, said) = faulty("allow_private_networks = true\n", &unusable).await;
    assert_eq!(found.len(), UNUSABLE.len(), "{said}");
}

async fn set(switchboard: &Switchboard, url: &str) -> (StatusCode, Value) {
    switchboard
        .ask(Method::PUT, "/admin/endpoint", Some(json!({ "url": url })))
        .await
}

/// A Switchboard whose destinations are far away and get nothing, deployed or with the switch for private networks.
async fn without_deliveries(top: &str) -> Switchboard {
    let (name, scheme, variable, secret) = SOURCES[0];
    let text = format!(
        "{top}[[source]]\nname = {name:?}\nscheme = {scheme:?}\nsecrets = [\"env:{variable}\"]\n"
    );
    Switchboard::start(start(&text).set(variable, secret)).await
}

#[tokio::test]
async fn deployed_your_endpoint_is_never_set_to_an_address_inside_and_nothing_reaches_it() {
    let sink = Sink::start().await;
    let port = sink.url("").rsplit_once(':').expect("a port").1.to_owned();
    let switchboard = without_deliveries("").await;
    let runtime = [
        format!("http://127.0.0.1:{port}/2018-06-01/runtime/invocation/next"),
        format!("http://localhost:{port}"),
    ];
    let at_the_sink = INSIDE.iter().map(|host| format!("http://{host}:{port}/"));
    let urls: Vec<String> = inside()
        .chain(NEVER.map(str::to_owned))
        .chain(runtime)
        .chain(at_the_sink)
        .collect();
    for url in urls {
        let (status, answer) = set(&switchboard, &url).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{url}: {answer}");
        let why = answer["detail"].as_str().expect("a reason");
        assert!(why.contains("is not allowed"), "{url}: {why}");
    }
    assert_eq!(
        sender(&switchboard, "shop")
            .send("1", "some/kind", "{}")
            .await
            .status,
        StatusCode::OK
    );
    let overview = switchboard.get("/api/overview").await;
    assert_eq!(overview["your_endpoint"]["set"], false);
    assert_eq!(overview["totals"]["unrouted"], 1);
    assert!(sink.received().is_empty(), "no request reaches that port");
}

#[tokio::test]
async fn with_the_switch_every_spelling_of_this_machine_is_delivered_to_and_metadata_never() {
    let sink = Sink::start().await;
    let switchboard = Switchboard::start(start(&configuration(&sink))).await;
    let port = sink.url("").rsplit_once(':').expect("a port").1.to_owned();
    for url in NEVER {
        let (status, answer) = set(&switchboard, url).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{url}: {answer}");
    }
    let reached = [
        "127.0.0.1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "127.1",
        "127.0.0.1.",
        "①②⑦.0.0.1",
        "localhost",
        "localhost.",
        "LOCALHOST",
        "sub.localhost",
    ];
    let shop = sender(&switchboard, "shop");
    for (n, host) in reached.into_iter().enumerate() {
        let (status, answer) = set(&switchboard, &format!("http://{host}:{port}/mine/{n}")).await;
        assert_eq!(status, StatusCode::OK, "{host}: {answer}");
        shop.send(&n.to_string(), "some/kind", "{}").await;
        let path = format!("/mine/{n}");
        sink.wait(&format!("{host} is reached"), |received| {
            received.iter().any(|one| one.path == path)
        })
        .await;
    }
}

#[tokio::test]
async fn an_address_that_cannot_be_called_is_refused_when_it_is_set_and_a_good_one_shown_in_its_normal_form()
 {
    let switchboard = without_deliveries("").await;
    let long = format!("https://example.com/{}", "x".repeat(5000));
    let rows = UNUSABLE
        .into_iter()
        .chain([(&*long, "longer than 2048 bytes")]);
    for (url, word) in rows {
        let (status, answer) = set(&switchboard, url).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{url}: {answer}");
        let why = answer["detail"].as_str().expect("a reason");
        assert!(why.contains(word), "{url}: {why}");
    }
    for (url, shown) in [
        ("HTTPS://BÜCHER.example", "https://xn--bcher-kva.example/"),
        (
            "https://bücher.example:443/T0KEN",
            "https://xn--bcher-kva.example/…",
        ),
        ("http://Example.COM:80/a/../b?key=K", "http://example.com/…"),
        (
            "http://metadata.google.internal./",
            "http://metadata.google.internal./",
        ),
    ] {
        let (status, answer) = set(&switchboard, url).await;
        assert_eq!(
            (status, &answer["url"]),
            (StatusCode::OK, &json!(shown)),
            "{url}"
        );
        let overview = switchboard.get("/api/overview").await;
        assert_eq!(overview["your_endpoint"]["address"], shown);
    }
}
