//! Secrets: which make a key and which key, and that any of a source's secrets may have signed.

use switchboard_core::refusal::Reason;
use switchboard_core::scheme::{Key, SecretFault};

use crate::signed::{
    BODY, SCHEMES, TEXT, TEXT_SCHEMES, WHSEC, WHSEC_KEY, check, configured, signed, source,
};

fn fault(scheme: &str, secret: &str) -> Option<SecretFault> {
    configured("source", scheme, &[secret]).err()
}

fn is_short(scheme: &str, secret: &str) -> bool {
    let source = configured("source", scheme, &[secret]).expect("a usable secret");
    source.keys()[0].is_short()
}

#[test]
fn a_secret_without_a_key_in_it_is_never_configured() {
    for scheme in SCHEMES {
        for empty in ["", " ", "\t", "\r\n", " \n"] {
            assert_eq!(fault(scheme, empty), Some(SecretFault::Empty), "{scheme}");
        }
    }
    for (secret, due) in [
        ("whsec_", SecretFault::Empty),
        (" whsec_ ", SecretFault::Empty),
        ("whsec_!!!!", SecretFault::NotBase64),
        ("whsec_this is not base64", SecretFault::NotBase64),
        ("whsec_A", SecretFault::NotBase64),
    ] {
        assert_eq!(fault("standard-webhooks", secret), Some(due), "{secret:?}");
    }
    assert!(
        Key::new(b"").is_err(),
        "a key of nothing would hold for everyone"
    );
}

#[test]
fn a_key_under_16_bytes_is_known_as_short() {
    assert!(is_short("standard-webhooks", "whsec_QQ=="));
    assert!(is_short("standard-webhooks", "whsec_AAECAwQFBgcICQoLDA0O"));
    assert!(!is_short(
        "standard-webhooks",
        "whsec_AAECAwQFBgcICQoLDA0ODw=="
    ));
    for scheme in TEXT_SCHEMES {
        assert!(is_short(scheme, "fifteen-letters"));
        assert!(!is_short(scheme, "sixteen-letters!"));
    }
}

#[test]
fn every_usual_way_to_paste_a_secret_gives_the_same_key() {
    let bare = WHSEC.trim_start_matches("whsec_");
    let headers = signed("standard-webhooks", WHSEC_KEY, BODY);
    for pasted in [
        WHSEC.to_owned(),
        WHSEC.trim_end_matches('=').to_owned(),
        bare.to_owned(),
        bare.trim_end_matches('=').to_owned(),
        format!("{WHSEC}\n"),
        format!("{WHSEC}\r\n"),
        format!(" {WHSEC} "),
        format!("{bare}\n"),
    ] {
        let source = configured("source", "standard-webhooks", &[&pasted]).expect("usable");
        assert!(check(&source, &headers, BODY).is_ok(), "{pasted:?}");
    }
    for scheme in TEXT_SCHEMES {
        let headers = signed(scheme, TEXT.as_bytes(), BODY);
        let source = configured("source", scheme, &[&format!("{TEXT}\n")]).expect("usable");
        assert!(check(&source, &headers, BODY).is_ok(), "{scheme}");
    }
}

#[test]
fn a_secret_in_another_alphabet_or_with_a_version_is_named_as_that() {
    for secret in [
        "whsec_-_-_-_-_-_-_-_-_-_-_-_-_",
        "whsec_AQID-_8=",
        "AQID-_8",
    ] {
        assert_eq!(
            fault("standard-webhooks", secret),
            Some(SecretFault::UrlSafe),
            "{secret:?}"
        );
    }
    let versioned = format!("v1,{WHSEC}");
    assert_eq!(
        fault("standard-webhooks", &versioned),
        Some(SecretFault::Versioned)
    );
    // What an operator reads of it.
    assert!(SecretFault::UrlSafe.to_string().contains("url-safe base64"));
    assert!(SecretFault::Versioned.to_string().contains("\"v1,\""));
}

#[test]
fn while_a_secret_is_changed_the_old_and_the_new_one_hold_and_then_the_new_one_only() {
    for scheme in SCHEMES {
        let ((old, old_key), (new, new_key)) = if TEXT_SCHEMES.contains(&scheme) {
            (
                ("the old secret, long", &b"the old secret, long"[..]),
                ("the new secret, long", &b"the new secret, long"[..]),
            )
        } else {
            (
                ("whsec_b2xkb2xkb2xkb2xkb2xkb2xk", &b"oldoldoldoldoldold"[..]),
                ("whsec_bmV3bmV3bmV3bmV3bmV3bmV3", &b"newnewnewnewnewnew"[..]),
            )
        };
        let by_old = signed(scheme, old_key, BODY);
        let by_new = signed(scheme, new_key, BODY);
        for both in [[new, old], [old, new]] {
            let source = configured("source", scheme, &both).expect("usable");
            for headers in [&by_old, &by_new] {
                let checked = check(&source, headers, BODY).expect("either secret holds");
                assert_eq!(checked.secrets_tried, 2, "which of them held is not told");
            }
        }
        let source = configured("source", scheme, &[new]).expect("usable");
        assert!(check(&source, &by_new, BODY).is_ok());
        assert_eq!(
            check(&source, &by_old, BODY),
            Err(Reason::NoSecretMatched),
            "{scheme}: the old secret is gone"
        );
    }
}

#[test]
fn a_signature_made_with_an_empty_key_holds_for_nobody() {
    for scheme in SCHEMES {
        let forged = signed(scheme, b"", BODY);
        let without_secret = configured("source", scheme, &[]).expect("a source");
        for source in [source(scheme), without_secret] {
            assert_eq!(
                check(&source, &forged, BODY),
                Err(Reason::NoSecretMatched),
                "{scheme}"
            );
        }
    }
}
