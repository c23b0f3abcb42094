//! Which forms of a signature count, and how a wrong form is told from a wrong value.

use http::{HeaderMap, HeaderValue};
use switchboard_core::refusal::Reason;
use switchboard_core::scheme::Encoding;

use crate::signed::{
    BODY, NOW, SCHEMES, base64, carrying, check, headers, hex, mac, named, senders_key, signature,
    signed, source,
};

/// The header that each scheme's signatures stand in.
fn header_of(scheme: &str) -> &'static str {
    match scheme {
        "shopify" => "x-shopify-hmac-sha256",
        "stripe" => "stripe-signature",
        "github" => "x-hub-signature-256",
        "standard-webhooks" => "webhook-signature",
        other => panic!("no header of {other}"),
    }
}

fn right(scheme: &str) -> [u8; 32] {
    signature(scheme, senders_key(scheme), BODY)
}

/// The signed request with another signature header, or without one.
fn with_header(scheme: &str, value: Option<&[u8]>) -> HeaderMap {
    let mut headers = signed(scheme, senders_key(scheme), BODY);
    headers.remove(header_of(scheme));
    if let Some(value) = value {
        let value = HeaderValue::from_bytes(value).expect("value");
        headers.insert(header_of(scheme), value);
    }
    headers
}

fn stripe(value: &str) -> Result<(), Reason> {
    let headers = headers(&[("Stripe-Signature", value)]);
    check(&source("stripe"), &headers, BODY).map(|_| ())
}

fn form(list: &str) -> Result<(), Reason> {
    let headers = with_header("standard-webhooks", Some(list.as_bytes()));
    check(&source("standard-webhooks"), &headers, BODY).map(|_| ())
}

fn github(value: &str) -> Result<(), Reason> {
    let headers = headers(&[("X-Hub-Signature-256", value)]);
    check(&source("github"), &headers, BODY).map(|_| ())
}

fn malformed(reason: &Result<(), Reason>) -> bool {
    matches!(
        reason,
        Err(Reason::MalformedHeader { .. } | Reason::MalformedSignature { .. })
    )
}

#[test]
fn a_rightly_signed_request_holds_for_every_scheme_whatever_its_bytes_are() {
    let bodies: [&[u8]; 4] = [
        BODY,
        "{\"id\":\"e\u{301}\u{1f98a} \u{2028}\u{202e}שלום\"}".as_bytes(),
        b"\xef\xbb\xbf{}",
        b"\xff\x00\xfe",
    ];
    for scheme in SCHEMES {
        for body in bodies {
            let headers = signed(scheme, senders_key(scheme), body);
            assert!(check(&source(scheme), &headers, body).is_ok(), "{scheme}");
            let other = [body, b" "].concat();
            assert_eq!(
                check(&source(scheme), &headers, &other),
                Err(Reason::NoSecretMatched),
                "{scheme}: one byte more is another body"
            );
        }
    }
}

#[test]
fn signatures_that_cannot_be_read_are_passed_over_and_the_case_of_hex_does_not_matter() {
    let good = hex(&right("stripe"));
    assert_eq!(stripe(&format!("t={NOW},v1=zz,v1={good}")), Ok(()));
    assert_eq!(stripe(&format!("t={NOW},v1=,v1={good}")), Ok(()));
    let upper = good.to_uppercase();
    assert_ne!(upper, good);
    assert_eq!(stripe(&format!("t={NOW},v1={upper}")), Ok(()));
    assert_eq!(stripe(&format!("t={NOW},v1=zz,v1=,v1={upper}")), Ok(()));
}

#[test]
fn only_the_first_version_of_a_signature_counts() {
    let good = hex(&right("stripe"));
    assert!(malformed(&stripe(&format!("t={NOW},v0={good}"))));
    let good = base64(&right("standard-webhooks"));
    let bad = base64(&[7; 32]);
    assert_eq!(form(&format!("v1,{bad} v1a,XX v2,YY v1,{good}")), Ok(()));
    assert!(malformed(&form(&format!("v2,{good}"))));
    assert!(malformed(&form(&format!("v1a,{good}"))));
    assert!(malformed(&form(&good)));
}

#[test]
fn without_the_schemes_own_signature_header_a_request_is_missing_its_signature() {
    for scheme in SCHEMES {
        let header = header_of(scheme);
        for value in [None, Some(&b""[..]), Some(b"   "), Some(b" \t ")] {
            assert_eq!(
                check(&source(scheme), &with_header(scheme, value), BODY),
                Err(Reason::MissingHeader { header }),
                "{scheme}: {value:?}"
            );
        }
        for other in SCHEMES.into_iter().filter(|other| *other != scheme) {
            let headers = signed(other, senders_key(scheme), BODY);
            assert_eq!(
                check(&source(scheme), &headers, BODY),
                Err(Reason::MissingHeader { header }),
                "{scheme}, with the headers of {other}"
            );
        }
    }
    let header = header_of("github");
    let old = headers(&[("X-Hub-Signature", &format!("sha1={}", "a".repeat(40)))]);
    assert_eq!(
        check(&source("github"), &old, BODY),
        Err(Reason::MissingHeader { header }),
        "the SHA-1 header beside it never counts"
    );
    let reason = Reason::MissingHeader { header }.to_string();
    assert!(reason.starts_with("missing signature"), "{reason}");
}

#[test]
fn a_signature_of_any_length_but_its_own_is_refused_as_malformed() {
    for scheme in SCHEMES {
        let header = header_of(scheme);
        let encoding = named(scheme).encoding;
        let plain = [0, 1, 31, 33, 63, 64, 65, 100_000].map(|n| "a".repeat(n));
        let whole = [1, 8, 31, 33, 48].map(|n| encoding.encode(&vec![7; n]));
        for written in plain.iter().chain(&whole) {
            // 64 hexadecimal digits are the right form where hex is due.
            let due = if encoding == Encoding::Hex && written.len() == 64 {
                continue;
            } else if scheme == "shopify" && written.is_empty() {
                Reason::MissingHeader { header }
            } else {
                Reason::MalformedSignature { header }
            };
            let headers = carrying(scheme, written);
            assert_eq!(
                check(&source(scheme), &headers, BODY),
                Err(due),
                "{scheme}: {} characters",
                written.len()
            );
        }
    }
}

#[test]
fn a_signature_outside_ascii_is_refused() {
    for scheme in SCHEMES {
        let good = named(scheme).encoding.encode(&right(scheme));
        for written in [
            format!("é{good}"),
            format!("{good}é"),
            good.replacen(|_| true, "ａ", 1),
        ] {
            let headers = carrying(scheme, &written);
            let refused = check(&source(scheme), &headers, BODY).map(|_| ());
            assert!(malformed(&refused), "{scheme}: {refused:?}");
        }
        let headers = with_header(scheme, Some(b"\xff\xfe\x80"));
        assert_eq!(
            check(&source(scheme), &headers, BODY),
            Err(Reason::MalformedHeader {
                header: header_of(scheme),
                why: "it is not text"
            })
        );
    }
}

#[test]
fn a_part_of_the_right_signature_or_more_than_it_never_holds() {
    for scheme in SCHEMES {
        let encoding = named(scheme).encoding;
        let right = right(scheme);
        let longer = [&right[..], &[0]].concat();
        let doubled = [right, right].concat();
        for wrong in [&right[..1], &right[..8], &right[..31], &longer, &doubled] {
            let headers = carrying(scheme, &encoding.encode(wrong));
            assert_eq!(
                check(&source(scheme), &headers, BODY),
                Err(Reason::MalformedSignature {
                    header: header_of(scheme)
                }),
                "{scheme}: {} bytes",
                wrong.len()
            );
        }
        let mut flipped = right;
        flipped[31] ^= 1;
        let headers = carrying(scheme, &encoding.encode(&flipped));
        assert_eq!(
            check(&source(scheme), &headers, BODY),
            Err(Reason::NoSecretMatched),
            "{scheme}: one bit is off"
        );
    }
}

#[test]
fn a_wrong_form_is_told_from_a_wrong_value() {
    let right = right("github");
    let good = hex(&right);
    assert_eq!(github(&format!("sha256={good}")), Ok(()));
    for wrong_form in [
        format!("sha256= {good}"),
        format!("SHA256={good}"),
        good.clone(),
        format!("sha256={}", base64(&right)),
        format!("sha256={good},sha256={good}"),
        format!("sha256={}", &good[1..]),
    ] {
        let refused = github(&wrong_form);
        assert!(malformed(&refused), "{wrong_form}: {refused:?}");
    }
    let other = hex(&mac(b"another secret", &[BODY]));
    assert_eq!(
        github(&format!("sha256={other}")),
        Err(Reason::NoSecretMatched)
    );
    // 64 hexadecimal digits are readable as base64 too: of 48 bytes, which no signature has.
    for scheme in ["shopify", "standard-webhooks"] {
        let headers = carrying(scheme, &hex(&signature(scheme, senders_key(scheme), BODY)));
        assert_eq!(
            check(&source(scheme), &headers, BODY),
            Err(Reason::MalformedSignature {
                header: header_of(scheme)
            }),
            "{scheme}"
        );
    }
}

#[test]
fn a_repeated_signature_header_is_refused_in_either_order() {
    for scheme in SCHEMES {
        let header = header_of(scheme);
        let good = signed(scheme, senders_key(scheme), BODY);
        let bad = signed(scheme, b"another secret", BODY);
        for (first, second) in [(&good, &bad), (&bad, &good), (&good, &good)] {
            let mut headers = first.clone();
            headers.append(header, second[header].clone());
            assert_eq!(
                check(&source(scheme), &headers, BODY),
                Err(Reason::RepeatedHeader { header }),
                "{scheme}"
            );
        }
    }
}

#[test]
fn signature_headers_that_a_gateway_joined_never_hold() {
    for scheme in SCHEMES {
        let header = header_of(scheme);
        let good = signed(scheme, senders_key(scheme), BODY);
        let bad = signed(scheme, b"another secret", BODY);
        let (good, bad) = (good[header].as_bytes(), bad[header].as_bytes());
        for (first, second) in [(good, bad), (bad, good), (good, good)] {
            for comma in [&b","[..], b", "] {
                if comma.ends_with(b" ") && scheme == "standard-webhooks" {
                    // With a space between them they are a list, which this scheme allows: any of it may hold.
                    continue;
                }
                let joined = [first, comma, second].concat();
                let refused =
                    check(&source(scheme), &with_header(scheme, Some(&joined)), BODY).map(|_| ());
                assert!(malformed(&refused), "{scheme}: {refused:?}");
            }
        }
    }
}

#[test]
fn signatures_are_compared_by_the_macs_own_verify_alone() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/scheme");
    let mut verifying = Vec::new();
    for file in std::fs::read_dir(folder).expect("the schemes") {
        let path = file.expect("a file").path();
        let source = std::fs::read_to_string(&path).expect("text");
        for line in source.lines() {
            // What was computed is never compared by bytes, which would tell by its time how much of it was right.
            let compares = line.contains("==") || line.contains("!=") || line.contains("eq(");
            let computed = line.contains(".sign(") || line.contains("finalize");
            assert!(!(compares && computed), "{}: {line}", path.display());
            if line.contains("verify_slice(") {
                verifying.push(path.clone());
            }
        }
        assert!(
            !source.contains("verify_truncated"),
            "{}: a part of a digest is no signature",
            path.display()
        );
    }
    let names: Vec<_> = verifying
        .iter()
        .filter_map(|path| path.file_name())
        .collect();
    assert_eq!(names, ["mod.rs"], "for all schemes, in one place");
}
