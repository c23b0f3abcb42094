//! Addresses that cannot be delivered to, or that an alert cannot go to.

use super::{SOURCE, destination, vault};
use crate::vault::{Vault, faults, good};

#[test]
fn an_address_that_cannot_be_delivered_to_is_a_fault_with_its_reason() {
    for (url, due) in [
        ("chat.example.com", "must begin with http:// or https://"),
        ("ftp://h.example/", "must begin with http:// or https://"),
        ("http://h.example:0/", "must not have port 0"),
        ("https://h.example/#x", "must not have a part behind #"),
        (
            "https://a:b@h.example/",
            "must not hold a user or password; use headers = { authorization = \"env:NAME\" }",
        ),
        (
            "http://10.0.0.1/",
            "is not allowed: it is on a private network; allow_private_networks would allow it",
        ),
        (
            "http://169.254.169.254/",
            "is not allowed: it is link-local or a cloud's metadata service",
        ),
    ] {
        let found = destination(&format!("url = {url:?}"));
        assert_eq!(found, [format!("destination \"chat\": url {due}")]);
    }
    assert_eq!(destination(""), ["destination \"chat\": url is missing"]);
}

#[test]
fn a_loopback_address_is_allowed_by_its_switch_and_link_local_never() {
    for url in [
        "http://127.0.0.1:3001/",
        "http://localhost/",
        "http://[::1]/",
        "http://10.0.0.1/",
    ] {
        let text = format!("{SOURCE}[[destination]]\nname = \"chat\"\nurl = {url:?}\n");
        assert_eq!(faults(&text, &vault()).len(), 1, "{url}");
        let off = format!("allow_private_networks = false\n{text}");
        assert_eq!(faults(&off, &vault()).len(), 1, "{url}");
        let on = format!("allow_private_networks = true\n{text}");
        assert_eq!(good(&on, &vault()).configuration.destinations.len(), 1);
        let metadata = on.replace(url, "http://169.254.169.254/latest");
        assert_eq!(faults(&metadata, &vault()).len(), 1);
    }
}

#[test]
fn an_alert_address_is_judged_as_a_destinations_is_and_never_shown() {
    let vault = Vault::of(&[
        ("env:SHOP", "shpss_a_long_secret"),
        ("env:INSIDE", "http://10.0.0.7/PASTED?key=PASTED"),
        ("env:EMPTY", ""),
    ]);
    for (key, due) in [
        (
            "alert_url = \"http://127.0.0.1:9/PASTED?key=PASTED\"",
            "alert_url is not allowed: it is this machine; allow_private_networks would allow it",
        ),
        (
            "alert_url = \"env:INSIDE\"",
            "alert_url is not allowed: it is on a private network; allow_private_networks would allow it",
        ),
        (
            "allow_private_networks = true\nalert_url = \"http://169.254.169.254/PASTED\"",
            "alert_url is not allowed: it is link-local or a cloud's metadata service",
        ),
        (
            "alert_url = \"https://user:PASTED@h.example/\"",
            "alert_url must not hold a user or password; use headers = { authorization = \"env:NAME\" }",
        ),
        (
            "alert_url = \"env:EMPTY\"",
            "alert_url: the secret env:EMPTY is empty",
        ),
        (
            "alert_url = \"env:UNSET\"",
            "alert_url: the secret env:UNSET cannot be read: it is not set",
        ),
        ("alert_url = 7", "alert_url must be a text"),
        (
            "alert_after = \"0s\"",
            "alert_after: \"0s\" is not a span of time from 1s to 7d, such as \"2s\"",
        ),
    ] {
        let found = faults(&format!("{key}\n{SOURCE}"), &vault);
        assert_eq!(found, [due], "{key}");
    }
    let text = format!("allow_private_networks = true\nalert_url = \"env:INSIDE\"\n{SOURCE}");
    assert_eq!(good(&text, &vault).warnings, [""; 0]);
}
