//! A bad configuration: everything that is wrong with it at once, each fault naming its entry.

use crate::vault::{Vault, faults, good};

mod address;

const SOURCE: &str = r#"
[[source]]
name = "shop"
scheme = "shopify"
secrets = ["env:SHOP"]
"#;

fn vault() -> Vault {
    Vault::of(&[
        ("env:SHOP", "shpss_a_long_secret"),
        ("env:EMPTY", ""),
        ("env:JUNK", "whsec_!!!!"),
    ])
}

/// The faults of a good source and this beside it.
fn beside_a_source(text: &str) -> Vec<String> {
    faults(&format!("{SOURCE}\n{text}"), &vault())
}

fn destination(keys: &str) -> Vec<String> {
    beside_a_source(&format!("[[destination]]\nname = \"chat\"\n{keys}\n"))
}

#[test]
fn a_certificate_file_without_a_certificate_is_a_fault_like_any_other() {
    let vault = Vault::of(&[
        ("env:SHOP", "shpss_a_long_secret"),
        ("file:key.pem", "-----BEGIN PRIVATE KEY-----"),
    ]);
    let destination =
        "[[destination]]\nname = \"chat\"\nurl = \"ftp://h\"\nca_file = \"key.pem\"\n";
    let due = [
        "destination \"chat\": url must begin with http:// or https://",
        "destination \"chat\": ca_file \"key.pem\" holds no certificate (PEM)",
    ];
    assert_eq!(faults(&format!("{SOURCE}{destination}"), &vault), due);
}

#[test]
fn every_fault_of_a_file_is_named_at_once_with_its_entry() {
    let text = r#"
keep_days = 3
max_body = "1 MB"
public_url = "ftp://hooks.example.com"
hosts = ["board.example.com:3000"]
allow_private_networks = "yes"
color = "red"

[[source]]
name = "shop"
scheme = "shopify"
secrets = ["env:UNSET", "env:EMPTY"]

[[source]]
name = "shop"
scheme = "paypal"
secrets = ["env:UNSET"]

[[source]]
name = "My Forms"
scheme = "standard-webhooks"
secrets = ["env:JUNK"]

[[source]]
name = "code"
secret = "env:SHOP"

[[destination]]
name = "accounting"
url = "http://127.0.0.1:3001/accounting"

[[destination]]
name = "accounting"
url = "accounting.example.com"

[[destination]]
name = "your-endpoint"
url = "https://h.example/"

[[destination]]
name = "crm"
url = "https://crm.example/"
pauses = ["2 parsecs", "8d", "1s"]
jitter = "a fifth"
time_limit = "2m"
first_pause = "13m"
max_in_flight = 0
headers = { host = "env:SHOP", "no name" = "env:SHOP", x-key = "env:UNSET" }
ca_file = "gone.pem"
retries = 5

[[route]]
source = "shopp"
kind = ""
deliver = [{ to = "warehouse" }, { to = "crm", action = "Add It" }, { action = "copy", when = "now" }]

[[route]]
kind = "push"
deliver = []
"#;
    let due = r#"
keep_days must be a whole number from 7 to 3650
max_body must be a whole number from 1 to 67108864
public_url is not an address such as "https://hooks.example.com"
hosts: "board.example.com:3000" is not a bare host name
allow_private_networks must be true or false
unknown key "color"
source "shop": secrets: the secret env:UNSET cannot be read: it is not set
source "shop": secrets: the secret env:EMPTY is empty
source "shop": there are two sources named "shop"
source "shop": there is no scheme "paypal"; known are shopify, stripe, github, standard-webhooks
source "shop": secrets: the secret env:UNSET cannot be read: it is not set
source 3: name: "My Forms" is not a name: 1 to 40 of a-z, 0-9 and -
source 3: secrets: the secret env:JUNK is not base64, with or without whsec_ before it
source "code": scheme is missing
source "code": secrets is missing or empty: without a secret nothing can be proven
source "code": unknown key "secret"
destination "accounting": url is not allowed: it is this machine; allow_private_networks would allow it
destination "accounting": there are two destinations named "accounting"
destination "accounting": url must begin with http:// or https://
destination "your-endpoint": your-endpoint is set with `switchboard endpoint set URL`, not in a configuration
destination "crm": headers: "host" is not a header name, or one that is not yours to set
destination "crm": headers: "no name" is not a header name, or one that is not yours to set
destination "crm": headers: x-key: the secret env:UNSET cannot be read: it is not set
destination "crm": pauses: "2 parsecs" is not a span of time from 0s to 7d, such as "2s"
destination "crm": pauses: "8d" is not a span of time from 0s to 7d, such as "2s"
destination "crm": jitter must be a number from 0 to 0.9, such as 0.2
destination "crm": time_limit: "2m" is not a span of time from 10ms to 1m, such as "2s"
destination "crm": first_pause: "13m" is not a span of time from 0s to 12m, such as "2s"
destination "crm": max_in_flight must be a whole number from 1 to 1000
destination "crm": ca_file "gone.pem" cannot be read: it is not set
destination "crm": unknown key "retries"
route 1: there is no source named "shopp"
route 1: kind must be "*" or 1 to 255 bytes long
route 1, deliver: there is no destination named "warehouse"
route 1, deliver: action: "Add It" is not a name: 1 to 40 of a-z, 0-9 and -
route 1, deliver: to is missing
route 1, deliver: unknown key "when"
route 2: source is missing
route 2: deliver is missing or empty: the route leads nowhere
"#;
    assert_eq!(faults(text, &vault()).join("\n"), due.trim());
}

#[test]
fn a_file_that_is_not_toml_is_known_by_the_line_of_its_first_fault() {
    let line = |text: &str| {
        let found = faults(text, &vault());
        assert_eq!(found.len(), 1, "{found:?}");
        let (place, what) = found[0].split_once(": ").expect("a place");
        assert!(what.starts_with("not readable as TOML: "), "{what}");
        assert!(!what.contains('\n'), "one line: {what}");
        place.to_owned()
    };
    assert_eq!(line("keep_days ="), "line 1");
    assert_eq!(line("= 5"), "line 1");
    assert_eq!(line("\n\n= 5"), "line 3");
    assert_eq!(line("keep_days = 30\n= 5\n"), "line 2");
    assert_eq!(line("keep_days = 30\r\nmax_body = 1 2\r\n"), "line 2");
    assert_eq!(line("keep_days = 30\nkeep_days = 31\n"), "line 2");
    assert_eq!(line("# ü\n\n[[source]]\nname = shop\n"), "line 4");
    assert_eq!(line("keep_days = 30\n[[source]\n\n\n"), "line 2");
    assert_eq!(line("{\"source\": []}"), "line 1");
}

#[test]
fn a_secret_pasted_into_a_line_that_is_not_toml_is_not_shown() {
    for line in [
        "secrets = [shpss_PASTED]",
        "secrets = shpss_PASTED",
        "secrets = [\"shpss_PASTED]",
        "secrets = \"\\xPASTED\"",
        "secrets = [\"a\" \"shpss_PASTED\"]",
        "secrets = [\"a\"]shpss_PASTED",
    ] {
        let found = faults(&format!("[[source]]\n{line}\n"), &vault());
        assert!(found[0].starts_with("line 2: "), "{found:?}");
        assert!(!found[0].contains("PASTED"), "{found:?}");
    }
}

#[test]
fn a_file_without_a_source_is_a_fault() {
    let due = ["there is no [[source]]: nobody could post"];
    for empty in ["", "\n", "# nothing\n", "keep_days = 30\n"] {
        assert_eq!(faults(empty, &vault()), due, "{empty:?}");
    }
    let table = SOURCE.replace("[[source]]", "[source]");
    assert_eq!(
        faults(&table, &vault())[0],
        "source must be a list of tables"
    );
}

#[test]
fn a_fault_of_one_entry_brings_no_fault_of_those_that_name_it() {
    let found = beside_a_source(
        r#"
[[source]]
name = "broken"
scheme = "github"
secrets = ["env:UNSET"]

[[destination]]
name = "chat"
url = "no address"

[[route]]
source = "broken"
kind = "*"
deliver = [{ to = "chat" }]
"#,
    );
    let due = [
        "source \"broken\": secrets: the secret env:UNSET cannot be read: it is not set",
        "destination \"chat\": url must not hold spaces or control characters",
    ];
    assert_eq!(found, due);
}

#[test]
fn a_header_that_is_the_connections_or_ours_is_not_to_be_set() {
    for name in [
        "host",
        "Host",
        "content-length",
        "transfer-encoding",
        "connection",
        "expect",
        "idempotency-key",
        "switchboard-event",
        "Webhook-Id",
        "webhook-signature",
        "no name",
    ] {
        let found = destination(&format!(
            "url = \"https://h.example\"\nheaders = {{ {name:?} = \"env:SHOP\" }}"
        ));
        let due = format!(
            "destination \"chat\": headers: {name:?} is not a header name, or one that is not yours to set"
        );
        assert_eq!(found, [due]);
    }
}

#[test]
fn a_number_or_span_outside_its_bounds_is_a_fault_and_its_bounds_are_not() {
    let keys = |key: &str| destination(&format!("url = \"https://h.example\"\n{key}"));
    for bad in [
        "pauses = [\"169h\"]",
        "pauses = \"2s\"",
        "pauses = [2]",
        "jitter = 0.91",
        "jitter = -0.1",
        "jitter = nan",
        "jitter = 1",
        "time_limit = \"9ms\"",
        "time_limit = \"61s\"",
        "time_limit = 3",
        "first_pause = \"721s\"",
        "max_in_flight = 0",
        "max_in_flight = 1001",
        "max_in_flight = -1",
        "ca_file = 1",
    ] {
        let found = keys(bad);
        assert_eq!(found.len(), 1, "{bad}: {found:?}");
        let (key, _) = bad.split_once(' ').expect("a key");
        assert!(found[0].starts_with("destination \"chat\": "), "{found:?}");
        assert!(found[0].contains(key), "{found:?}");
    }
    let many = format!("pauses = [{}]", "\"1s\",".repeat(51));
    assert_eq!(keys(&many).len(), 1);
    for fine in [
        "pauses = []",
        "pauses = [\"168h\", \"0s\"]",
        "jitter = 0.9",
        "jitter = 0.0",
        "time_limit = \"10ms\"",
        "time_limit = \"60s\"",
        "first_pause = \"720s\"",
        "max_in_flight = 1",
        "max_in_flight = 1000",
    ] {
        let text = format!(
            "{SOURCE}[[destination]]\nname = \"chat\"\nurl = \"https://h.example\"\n{fine}\n"
        );
        assert_eq!(
            good(&text, &vault()).configuration.destinations.len(),
            1,
            "{fine}"
        );
    }
    for bad in [
        "keep_days = 6",
        "keep_days = 3651",
        "keep_days = 30.0",
        "max_body = 0",
        "max_body = 67108865",
    ] {
        assert_eq!(
            faults(&format!("{bad}\n{SOURCE}"), &vault()).len(),
            1,
            "{bad}"
        );
    }
}
