//! A configuration for a deployed Switchboard: which secrets and keys may stand in it, and what is found without its
//! secrets.

use switchboard_core::address::Networks;
use switchboard_core::configuration::{Configuration, Origin, check_deployed, read};
use switchboard_core::secret::SecretName;

use crate::vault::{Vault, faults};

const FULL: &str = r#"
keep_days = 7
max_body = 6291456
public_url = "https://hooks.example.com"
alert_url = "secret:alerts"
alert_after = "90s"
allow_private_networks = true

[[source]]
name = "shop"
scheme = "shopify"
secrets = ["secret:sources/shop", "secret:sources/shop-old"]

[[source]]
name = "forms"
scheme = "standard-webhooks"
secrets = ["secret:sources/forms"]

[[destination]]
name = "accounting"
url = "secret:accounting/url"
headers = { Authorization = "secret:accounting/bearer" }
sign = "secret:accounting/sign"

[[destination]]
name = "chat"
url = "https://chat.example/hook"

[[route]]
source = "shop"
kind = "*"
deliver = [{ to = "accounting" }, { to = "chat" }]
"#;

/// What is said of keys that do nothing there.
const UNUSED: [&str; 2] = [
    "alert_url does nothing in a deployed Switchboard: the alarms of its stack tell, by the stack's parameter AlarmTopic",
    "alert_after does nothing in a deployed Switchboard: the alarms of its stack tell, by the stack's parameter AlarmTopic",
];

fn secrets() -> Vault {
    Vault::of(&[
        ("secret:alerts", "https://alerts.example/A1ERT"),
        ("secret:sources/shop", "shpss_the_new_secret"),
        ("secret:sources/shop-old", "shpss_the_old_secret"),
        ("secret:sources/forms", "whsec_b2xkb2xkb2xkb2xkb2xkb2xk"),
        ("secret:accounting/url", "https://accounting.example/T0KEN"),
        ("secret:accounting/bearer", "Bearer 1234"),
        ("secret:accounting/sign", "whsec_bmV3bmV3bmV3bmV3bmV3bmV3"),
    ])
}

/// What is wrong with it, found without its secrets.
fn unread(text: &str) -> Vec<String> {
    let checked = check_deployed(text);
    checked.faults.iter().map(ToString::to_string).collect()
}

/// What is wrong with it, its secrets included.
fn whole(text: &str, vault: &Vault) -> Vec<String> {
    let faults = read(text, Origin::Deployed, vault).expect_err("faults");
    faults.iter().map(ToString::to_string).collect()
}

fn source(reference: &str) -> String {
    format!("[[source]]\nname = \"shop\"\nscheme = \"shopify\"\nsecrets = [{reference:?}]\n")
}

#[test]
fn secrets_of_the_deployment_stand_wherever_a_secret_may() {
    let read = read(FULL, Origin::Deployed, &secrets()).expect("no faults");
    assert_eq!(read.warnings, UNUSED);
    let configuration = read.configuration;
    let secrets: Vec<_> = configuration.sources[0]
        .secrets()
        .map(|(secret, _)| secret.expose())
        .collect();
    assert_eq!(secrets, ["shpss_the_new_secret", "shpss_the_old_secret"]);
    let accounting = &configuration.destinations[0];
    assert_eq!(
        accounting.address.url().as_str(),
        "https://accounting.example/T0KEN"
    );
    assert_eq!(accounting.headers["authorization"], "Bearer 1234");
    assert!(accounting.sign.is_some());
    assert_eq!(configuration.networks, Networks::PrivateToo);
    assert!(configuration.alert_url.is_some());
}

#[test]
fn without_its_secrets_it_is_checked_and_they_are_named_once_each() {
    let checked = check_deployed(FULL);
    assert_eq!(checked.faults, []);
    assert_eq!(checked.warnings, UNUSED);
    let named: Vec<_> = checked.secrets.iter().map(SecretName::as_str).collect();
    assert_eq!(
        named,
        [
            "accounting/bearer",
            "accounting/sign",
            "accounting/url",
            "alerts",
            "sources/forms",
            "sources/shop",
            "sources/shop-old"
        ]
    );
    let twice = format!(
        "{}[[destination]]\nname = \"a\"\nurl = \"secret:shop\"\n",
        source("secret:shop")
    );
    assert_eq!(check_deployed(&twice).secrets.len(), 1);
}

#[test]
fn without_its_secrets_the_same_faults_are_found_but_for_those_of_the_secrets() {
    let text = r#"
keep_days = 1
[[source]]
name = "shop"
scheme = "shoppify"
secrets = ["secret:missing"]
[[source]]
name = "forms"
scheme = "github"
secrets = ["secret:missing", "plain"]
[[destination]]
name = "a"
url = "secret:missing"
headers = { x-a = "secret:missing", X-A = "secret:missing", host = "secret:missing" }
sign = "secret:missing"
surprise = 1
[[route]]
source = "forms"
kind = "*"
deliver = [{ to = "a" }, { to = "nobody" }]
"#;
    let found = unread(text);
    let of_secrets = |fault: &&String| fault.contains("cannot be read");
    let all = whole(text, &Vault::default());
    assert_eq!(all.iter().filter(of_secrets).count(), 6, "{all:#?}");
    let others: Vec<_> = all.iter().filter(|fault| !of_secrets(fault)).collect();
    assert_eq!(found.iter().collect::<Vec<_>>(), others);
    for (fault, due) in found.iter().zip([
        "keep_days",
        "shoppify",
        "never the secret itself",
        "headers: \"host\"",
        "two spellings",
        "surprise",
        "nobody",
    ]) {
        assert!(fault.contains(due), "{due}: {found:#?}");
    }
    assert_eq!(found.len(), 7, "{found:#?}");
}

#[test]
fn the_operators_token_is_nobodys_secret() {
    let vault = Vault::of(&[("secret:admin-token", "the-token-of-the-operators")]);
    let due = "secret:admin-token is what operators sign in with";
    let of_source = source("secret:admin-token");
    let of_destination = format!(
        "{}[[destination]]\nname = \"a\"\nurl = \"https://a.example\"\nheaders = {{ x-a = \"secret:admin-token\" }}\n",
        source("secret:shop")
    );
    for text in [of_source, of_destination] {
        for found in [unread(&text), whole(&text, &vault)] {
            let told = found.iter().filter(|fault| fault.contains(due)).count();
            assert_eq!(told, 1, "{found:#?}");
        }
    }
    assert!(unread(&source("secret:sources/admin-token")).is_empty());
}

#[test]
fn a_secret_that_cannot_be_used_is_a_fault_by_its_reference_and_never_shown() {
    let text = format!(
        "{}[[destination]]\nname = \"a\"\nurl = \"https://a.example\"\nsign = \"secret:sign\"\n",
        source("secret:shop")
    );
    let found = whole(&text, &Vault::of(&[("secret:sign", "whsec_JUNK!")]));
    assert_eq!(
        found,
        [
            "source \"shop\": secrets: the secret secret:shop cannot be read: it is not set",
            "destination \"a\": sign: the secret secret:sign is not base64, with or without whsec_ before it",
        ]
    );
}

#[test]
fn what_is_of_one_machine_is_refused_in_a_deployed_one() {
    let why = "env: and file: stand in a configuration for one machine, and a deployed Switchboard has neither; \
        use secret:NAME (of a-z, 0-9, - and single slashes)";
    for reference in ["env:SHOP", "file:keys/shop"] {
        let due = [format!("source \"shop\": secrets: {why}")];
        assert_eq!(unread(&source(reference)), due, "{reference}");
        assert_eq!(whole(&source(reference), &Vault::default()), due);
    }
    let found = unread(&source("sample:shpss_public"));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("built-in sample only"), "{found:?}");
    for (line, due) in [
        ("hosts = []", "hosts is for a Switchboard on one machine"),
        ("hosts = [\"a.example\"]", "hosts is for"),
        (
            "public_url = \"http://hooks.example.com\"",
            "public_url must begin with https",
        ),
        (
            "max_body = 6291457",
            "max_body must be a whole number from 1 to 6291456",
        ),
    ] {
        let found = unread(&format!("{line}\n{}", source("secret:shop")));
        assert_eq!(found.len(), 1, "{line}: {found:?}");
        assert!(found[0].starts_with(due), "{line}: {found:?}");
    }
    for (line, due) in [
        (
            "ca_file = \"ca.pem\"",
            "ca_file is for a Switchboard on one machine",
        ),
        ("sign = \"env:SIGN\"", "sign: env: and file: stand in"),
        ("headers = { a = \"file:x\" }", "headers: a: env: and file:"),
        (
            "headers = { a = 1 }",
            "headers: a must be a reference to a secret, secret:NAME",
        ),
    ] {
        let text = format!(
            "{}[[destination]]\nname = \"a\"\nurl = \"https://a.example\"\n{line}\n",
            source("secret:shop")
        );
        let found = unread(&text);
        assert_eq!(found.len(), 1, "{line}: {found:?}");
        let due = format!("destination \"a\": {due}");
        assert!(found[0].starts_with(&due), "{line}: {found:?}");
    }
}

#[test]
fn a_secret_of_a_deployment_is_refused_on_one_machine_with_the_command_it_is_for() {
    let vault = Vault::of(&[
        ("secret:shop", "a secret"),
        ("env:S", "a long enough secret"),
    ]);
    let of_address = format!(
        "{}[[destination]]\nname = \"a\"\nurl = \"secret:shop\"\n",
        source("env:S")
    );
    for text in [&source("secret:shop"), &of_address] {
        let found = faults(text, &vault);
        assert_eq!(found.len(), 1, "{found:?}");
        for word in [
            "secret:",
            "`switchboard apply`",
            "check --deployed",
            "env:NAME",
        ] {
            assert!(found[0].contains(word), "{word}: {found:?}");
        }
        assert!(read(text, Origin::BuiltIn, &vault).is_err());
    }
}

#[test]
fn a_name_that_leads_elsewhere_is_no_reference() {
    for reference in [
        "secret:../other/shop",
        "secret:Shop",
        "secret:",
        "secret:/shop",
    ] {
        let of_address = format!(
            "{}[[destination]]\nname = \"a\"\nurl = {reference:?}\n",
            source("secret:shop")
        );
        for text in [source(reference), of_address] {
            let found = unread(&text);
            assert_eq!(found.len(), 1, "{found:?}");
            assert!(
                found[0].contains("must be a reference to a secret, secret:NAME"),
                "{found:?}"
            );
            let shown = found[0].matches("secret:").count();
            assert_eq!(shown, 1, "only the form is shown: {found:?}");
        }
    }
}

#[test]
fn the_empty_configuration_has_the_usual_values_and_nobody_in_it() {
    let empty = Configuration::empty();
    assert!(empty.sources.is_empty() && empty.destinations.is_empty() && empty.routes.is_empty());
    let usual = read(
        &source("secret:s"),
        Origin::Deployed,
        &Vault::of(&[("secret:s", "a secret")]),
    )
    .expect("no faults")
    .configuration;
    assert_eq!(
        (
            empty.keep_days,
            empty.max_body,
            empty.alert_after,
            empty.networks
        ),
        (
            usual.keep_days,
            usual.max_body,
            usual.alert_after,
            usual.networks
        )
    );
}
