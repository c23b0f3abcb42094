//! The secrets of a configuration: found by reference, judged at start, never shown.

use switchboard_core::configuration::{Origin, read};

use crate::vault::{Vault, faults, good};

fn with(scheme: &str, reference: &str) -> String {
    format!("[[source]]\nname = \"shop\"\nscheme = {scheme:?}\nsecrets = [{reference:?}]\n")
}

#[test]
fn a_secret_that_is_unset_empty_or_only_spaces_is_a_fault_that_names_its_reference() {
    let vault = Vault::of(&[
        ("env:EMPTY", ""),
        ("env:SPACES", " \t "),
        ("env:END", "\r\n"),
    ]);
    for scheme in ["shopify", "stripe", "github", "standard-webhooks"] {
        for (reference, due) in [
            (
                "env:UNSET",
                "source \"shop\": secrets: the secret env:UNSET cannot be read: it is not set",
            ),
            (
                "file:gone",
                "source \"shop\": secrets: the secret file:gone cannot be read: it is not set",
            ),
            (
                "env:EMPTY",
                "source \"shop\": secrets: the secret env:EMPTY is empty",
            ),
            (
                "env:SPACES",
                "source \"shop\": secrets: the secret env:SPACES is empty",
            ),
            (
                "env:END",
                "source \"shop\": secrets: the secret env:END is empty",
            ),
        ] {
            assert_eq!(faults(&with(scheme, reference), &vault), [due], "{scheme}");
        }
    }
}

#[test]
fn a_secret_that_makes_no_key_is_a_fault_that_says_why_and_never_shows_it() {
    for (secret, due) in [
        ("whsec_", "is empty, or nothing but zeros"),
        (
            "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
            "is empty, or nothing but zeros",
        ),
        (
            "whsec_!!!!",
            "is not base64, with or without whsec_ before it",
        ),
        (
            "whsec_-_-_-_-_-_-_",
            "is not base64: - and _ stand in plain text and in url-safe base64; give it in base64 with + and /",
        ),
        // A plain text that a url-safe reader would take.
        (
            "my-plain-signing-secret1",
            "is not base64: - and _ stand in plain text and in url-safe base64; give it in base64 with + and /",
        ),
        (
            "v1,whsec_AQIDBAUG",
            "begins with \"v1,\": give only what follows, from whsec_ on",
        ),
    ] {
        let vault = Vault::of(&[("env:S", secret)]);
        let found = faults(&with("standard-webhooks", "env:S"), &vault);
        assert_eq!(
            found,
            [format!("source \"shop\": secrets: the secret env:S {due}")]
        );
        let sign = format!(
            "{}[[destination]]\nname = \"chat\"\nurl = \"https://h.example\"\nsign = \"env:S\"\n",
            with("github", "env:G")
        );
        let vault = Vault::of(&[("env:S", secret), ("env:G", "a secret of the code host")]);
        let found = faults(&sign, &vault);
        assert_eq!(
            found,
            [format!(
                "destination \"chat\": sign: the secret env:S {due}"
            )]
        );
    }
}

#[test]
fn a_short_key_is_warned_of_by_its_reference_and_used() {
    for (scheme, secret) in [("github", "hunter2"), ("standard-webhooks", "whsec_QQ==")] {
        let vault = Vault::of(&[("env:S", secret)]);
        let read = good(&with(scheme, "env:S"), &vault);
        assert_eq!(
            read.warnings,
            ["source \"shop\": the secret env:S is shorter than 16 bytes and can be guessed"]
        );
        assert_eq!(read.configuration.sources[0].keys().len(), 1);
    }
    let vault = Vault::of(&[("env:G", "a-secret-of-sixteen"), ("env:S", "whsec_QQ==")]);
    let sign = "[[destination]]\nname = \"chat\"\nurl = \"https://h.example\"\nsign = \"env:S\"\n";
    let read = good(&format!("{}{sign}", with("github", "env:G")), &vault);
    let due = "destination \"chat\": the secret env:S is shorter than 16 bytes and can be guessed";
    assert!(
        read.warnings.iter().any(|warning| warning == due),
        "{:?}",
        read.warnings
    );
}

#[test]
fn a_sample_secret_is_refused_in_a_file_and_accepted_in_the_built_in_sample() {
    let text = with("shopify", "sample:shpss_public_and_known");
    let found = faults(&text, &Vault::default());
    assert_eq!(
        found,
        [
            "source \"shop\": secrets: sample: secrets are public and stand in the built-in sample only; \
          use env:NAME or file:PATH"
        ]
    );
    let read = read(&text, Origin::BuiltIn, &Vault::default()).expect("the built-in sample");
    let (secret, _) = read.configuration.sources[0]
        .secrets()
        .next()
        .expect("a secret");
    assert_eq!(secret.expose(), "shpss_public_and_known");
    for key in [
        "sign = \"sample:x\"",
        "headers = { a = \"sample:x\" }",
        "url = \"sample:x\"",
    ] {
        let text = format!(
            "{}[[destination]]\nname = \"chat\"\n{}{key}\n",
            with("shopify", "env:S"),
            if key.starts_with("url") {
                ""
            } else {
                "url = \"https://h.example\"\n"
            },
        );
        let found = faults(&text, &Vault::of(&[("env:S", "a long enough secret")]));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("destination \"chat\": "), "{found:?}");
    }
}

#[test]
fn a_secret_pasted_where_its_reference_is_due_is_a_fault_that_does_not_show_it() {
    let pasted = "shpss_5f4dcc3b5aa765d6";
    let found = faults(&with("shopify", pasted), &Vault::default());
    assert_eq!(
        found,
        [
            "source \"shop\": secrets must be a reference to a secret, env:NAME or file:PATH, \
          never the secret itself"
        ]
    );
}

#[test]
fn no_fault_and_no_warning_shows_the_value_of_a_secret() {
    let text = r#"
[[source]]
name = "shop"
scheme = "shopify"
secrets = ["shpss_PASTED", "whsec_PASTED", "env:", "sample:shpss_PASTED", "env:SHORT"]

[[source]]
name = "forms"
scheme = "standard-webhooks"
secrets = ["env:JUNK", "env:URLSAFE", "env:VERSIONED"]

[[source]]
name = "other"
scheme = "paypal"
secrets = ["env:SHORT", "whsec_PASTED"]

[[source]]
name = "numbers"
scheme = "github"
secrets = 31337

[[destination]]
name = "a"
url = "env:URL"
sign = "whsec_PASTED"
headers = { authorization = "Bearer PASTED", x-a = "env:CONTROL", x-b = "sample:PASTED", x-c = 31337 }

[[destination]]
name = "b"
url = "https://user:PASTED@h.example/PASTED"
sign = "env:JUNK"

[[destination]]
name = "c"
url = "http://127.0.0.1/hook/PASTED?key=PASTED"
"#;
    let vault = Vault::of(&[
        ("env:SHORT", "PASTED"),
        ("env:JUNK", "whsec_PASTED!"),
        ("env:URLSAFE", "whsec_PASTED-_"),
        ("env:VERSIONED", "v1,whsec_PASTED"),
        ("env:URL", "http://10.0.0.1/PASTED"),
        ("env:CONTROL", "PASTED\u{1}"),
    ]);
    let found = faults(text, &vault);
    assert!(found.len() >= 16, "{found:#?}");
    for fault in &found {
        for value in ["PASTED", "31337"] {
            assert!(!fault.contains(value), "{value} shows in {fault}");
        }
    }
    let short = good(&with("github", "env:SHORT"), &vault);
    assert!(
        short
            .warnings
            .iter()
            .all(|warning| !warning.contains("PASTED"))
    );
}
