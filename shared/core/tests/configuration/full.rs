//! A good configuration: every key is read as it is written, and what is left out has its usual value.

use std::time::Duration;

use http::HeaderValue;
use switchboard_core::address::Networks;
use switchboard_core::configuration::{Configuration, KEEP_DAYS, Limits, MAX_BODY};
use switchboard_core::names::{DestinationName, Kind, SourceName};
use switchboard_core::retry::RetryRule;
use switchboard_core::route::{Pattern, Plan};

use crate::vault::{Vault, good};

const FULL: &str = r#"
keep_days = 7
max_body = 65536
public_url = "https://hooks.example.com/base/"
hosts = ["Board.Example.com", "intranet"]
alert_url = "env:ALERTS"
alert_after = "90s"
allow_private_networks = true

[[source]]
name = "shop"
scheme = "shopify"
secrets = ["env:SHOP_OLD", "file:keys/shop"]

[[source]]
name = "forms-2"
scheme = "standard-webhooks"
secrets = ["env:FORMS"]

[[destination]]
name = "accounting"
url = "http://127.0.0.1:3001/accounting"
headers = { Authorization = "env:BEARER", x-team = "env:TEAM" }
sign = "env:SIGN"
pauses = ["500ms", "1m", "2h"]
jitter = 0.5
time_limit = "1500ms"
first_pause = "10s"
max_in_flight = 4
ca_file = "ca.pem"

[[destination]]
name = "chat"
url = "env:CHAT_URL"

[[route]]
source = "shop"
kind = "orders/create"
deliver = [{ to = "accounting", action = "make-invoice" }, { to = "chat" }]

[[route]]
source = "*"
kind = "*"
deliver = [{ to = "chat", action = "post-line" }]
"#;

fn vault() -> Vault {
    Vault::of(&[
        ("env:SHOP_OLD", "shpss_the_old_secret"),
        ("file:keys/shop", "shpss_the_new_secret\n"),
        ("env:FORMS", "whsec_b2xkb2xkb2xkb2xkb2xkb2xk"),
        ("env:BEARER", "Bearer 1234"),
        ("env:TEAM", "red"),
        ("env:SIGN", "whsec_bmV3bmV3bmV3bmV3bmV3bmV3"),
        ("file:ca.pem", "-----BEGIN CERTIFICATE-----\n"),
        ("env:ALERTS", "https://alerts.example.com/A1ERT?key=QUERY\n"),
        ("env:CHAT_URL", "https://chat.example.com/T0KEN\n"),
    ])
}

fn full() -> Configuration {
    let read = good(FULL, &vault());
    assert_eq!(read.warnings, [""; 0]);
    read.configuration
}

fn destination(name: &str) -> DestinationName {
    DestinationName::parse(name).expect("name")
}

#[test]
fn every_key_of_the_top_is_read() {
    let full = full();
    assert_eq!(full.keep_days, 7);
    assert_eq!(full.keep().days, 7);
    assert_eq!(full.max_body, 65536);
    let url = full.public_url.expect("an address");
    assert_eq!(url.as_str(), "https://hooks.example.com/base/");
    assert_eq!(full.hosts, ["board.example.com", "intranet"]);
    assert_eq!(full.networks, Networks::PrivateToo);
    let alerts = full.alert_url.expect("an address");
    let expected = "https://alerts.example.com/A1ERT?key=QUERY";
    assert_eq!(alerts.url().as_str(), expected);
    assert_eq!(full.alert_after, Duration::from_secs(90));
}

#[test]
fn every_key_of_a_source_is_read_and_every_secret_of_it_becomes_a_key() {
    let full = full();
    let read: Vec<(&str, &str, Vec<&str>)> = full
        .sources
        .iter()
        .map(|source| {
            let secrets = source.secrets().map(|(secret, _)| secret.expose());
            (source.name.as_str(), source.scheme.name, secrets.collect())
        })
        .collect();
    let shop = vec!["shpss_the_old_secret", "shpss_the_new_secret"];
    let forms = vec!["whsec_b2xkb2xkb2xkb2xkb2xkb2xk"];
    assert_eq!(
        read,
        [
            ("shop", "shopify", shop),
            ("forms-2", "standard-webhooks", forms)
        ]
    );
    assert_eq!(full.sources[0].keys().len(), 2);
}

#[test]
fn every_key_of_a_destination_is_read() {
    let full = full();
    let accounting = full
        .destination(&destination("accounting"))
        .expect("accounting");
    assert_eq!(
        accounting.address.url().as_str(),
        "http://127.0.0.1:3001/accounting"
    );
    assert_eq!(accounting.headers.len(), 2);
    assert_eq!(accounting.headers["authorization"], "Bearer 1234");
    assert_eq!(accounting.headers["x-team"], "red");
    assert!(accounting.headers.values().all(HeaderValue::is_sensitive));
    let key = accounting.sign.as_ref().expect("a signing key");
    let due = switchboard_core::scheme::Key::new(b"newnewnewnewnewnew").expect("a key");
    assert_eq!(key.sign(b"", b"body"), due.sign(b"", b"body"));
    let pauses = [500, 60_000, 7_200_000].map(Duration::from_millis).to_vec();
    assert_eq!(
        accounting.limits,
        Limits {
            rule: RetryRule::new(pauses, 0.5).expect("a rule"),
            time_limit: Duration::from_millis(1500),
            first_pause: Some(Duration::from_secs(10)),
            max_in_flight: 4,
        }
    );
    assert_eq!(full.limits(&destination("accounting")), &accounting.limits);
    let pem = accounting.ca_pem.as_deref();
    assert_eq!(pem, Some("-----BEGIN CERTIFICATE-----\n"));
}

#[test]
fn an_address_may_itself_be_a_secret_and_is_never_shown_whole() {
    let full = full();
    let chat = full.destination(&destination("chat")).expect("chat");
    assert_eq!(
        chat.address.url().as_str(),
        "https://chat.example.com/T0KEN"
    );
    let shown = format!("{full:?}");
    for secret in [
        "T0KEN", "A1ERT", "QUERY", "shpss_", "whsec_", "1234", "b2xkb2xk",
    ] {
        assert!(!shown.contains(secret), "{secret} shows in {shown}");
    }
}

#[test]
fn every_key_of_a_route_is_read() {
    let full = full();
    let plan = |source, kind| {
        let source = SourceName::parse(source).expect("name");
        let kind = Kind::new(kind).expect("kind");
        let plan = Plan::of(&full.routes, &source, &kind);
        let deliveries = plan.deliveries().iter();
        deliveries
            .map(|planned| format!("{} {}", planned.destination, planned.action))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        plan("shop", "orders/create"),
        ["accounting make-invoice", "chat deliver", "chat post-line"]
    );
    assert_eq!(plan("forms-2", "orders/create"), ["chat post-line"]);
    assert_eq!(full.routes[1].source, Pattern::Any);
    assert_eq!(full.routes[1].kind, Pattern::Any);
}

#[test]
fn what_a_configuration_leaves_out_has_its_usual_value() {
    let text = r#"
[[source]]
name = "code"
scheme = "github"
secrets = ["env:CODE"]

[[destination]]
name = "chat"
url = "https://chat.example.com"
"#;
    let read = good(
        text,
        &Vault::of(&[("env:CODE", "a secret of the code host")]),
    );
    let configuration = read.configuration;
    assert_eq!(configuration.keep_days, KEEP_DAYS);
    assert_eq!(configuration.keep_days, 30);
    assert_eq!(configuration.max_body, MAX_BODY);
    assert_eq!(configuration.public_url, None);
    assert!(configuration.hosts.is_empty());
    assert_eq!(configuration.networks, Networks::Public);
    assert_eq!(configuration.alert_url, None);
    assert_eq!(configuration.alert_after, Duration::from_mins(10));
    let chat = &configuration.destinations[0];
    assert_eq!(chat.limits, Limits::default());
    assert_eq!(chat.limits.rule.attempts(), 6);
    assert_eq!(chat.limits.time_limit, Duration::from_secs(3));
    assert_eq!(chat.limits.first_pause, None);
    assert!(chat.headers.is_empty() && chat.sign.is_none() && chat.ca_pem.is_none());
    assert_eq!(
        read.warnings,
        ["destination \"chat\": no route names it"],
        "a destination that gets nothing is told of"
    );
}

#[test]
fn a_first_pause_of_nothing_and_a_jitter_of_nothing_are_none() {
    let text = FULL
        .replace("first_pause = \"10s\"", "first_pause = \"0s\"")
        .replace("jitter = 0.5", "jitter = 0");
    let configuration = good(&text, &vault()).configuration;
    let limits = configuration.limits(&destination("accounting"));
    assert_eq!(limits.first_pause, None);
    assert_eq!(limits.rule.jitter().to_bits(), 0.0_f64.to_bits());
}
