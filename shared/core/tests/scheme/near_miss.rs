//! What an operator is told of a refusal: each near miss where it holds, none where none does, and never a secret.

use http::{HeaderMap, HeaderValue};
use switchboard_core::configuration::Source;
use switchboard_core::ingress::explain;
use switchboard_core::names::SourceName;
use switchboard_core::refusal::{NearMiss, Refusal};
use switchboard_core::scheme::{self, near_miss};
use switchboard_core::time::Timestamp;

use crate::signed::{
    BODY, NOW, SCHEMES, TEXT, TEXT_SCHEMES, WHSEC, base64, carrying, configured, hex, named,
    senders_key, signature, signed, source,
};

fn with(scheme: &str, secret: &str) -> Source {
    configured("source", scheme, &[secret]).expect("a usable secret")
}

/// What `source` says of a refused request, through all that an operator is told: the near miss found, and its text.
fn told(source: &Source, all: &[Source], headers: &HeaderMap, body: &[u8]) -> Refusal {
    let now = Timestamp::from_seconds(NOW);
    let (reason, checked) =
        scheme::verify(source.scheme, source.keys(), headers, body, now).expect_err("a refusal");
    explain(source, all, headers, body, reason, checked)
}

fn assert_near(source: &Source, headers: &HeaderMap, body: &[u8], due: &NearMiss) {
    let name = source.scheme.name;
    let all = [source.clone()];
    assert_eq!(
        near_miss::find(source, &all, headers, body).as_ref(),
        Some(due),
        "{name}"
    );
    let refusal = told(source, &all, headers, body);
    assert_eq!(refusal.near_miss, Some(due.to_string()), "{name}");
    assert!(refusal.line().contains(&due.to_string()), "{name}");
}

#[test]
fn a_secret_used_as_text_where_it_is_to_be_decoded_is_found() {
    let source = source("standard-webhooks");
    let bare = WHSEC.trim_start_matches("whsec_");
    for key in [WHSEC, bare] {
        let headers = signed("standard-webhooks", key.as_bytes(), BODY);
        assert_near(&source, &headers, BODY, &NearMiss::SecretAsText);
    }
}

#[test]
fn a_secret_without_its_prefix_is_found() {
    for scheme in TEXT_SCHEMES {
        for (secret, used) in [
            (TEXT, "5f4dcc3b5aa765d61d8327deb882cf99"),
            ("whsec_plain text!", "plain text!"),
        ] {
            let headers = signed(scheme, used.as_bytes(), BODY);
            assert_near(
                &with(scheme, secret),
                &headers,
                BODY,
                &NearMiss::SecretWithoutPrefix,
            );
        }
    }
}

#[test]
fn a_secret_decoded_where_it_is_text_is_found() {
    for scheme in TEXT_SCHEMES {
        let source = with(scheme, WHSEC);
        let headers = signed(scheme, senders_key("standard-webhooks"), BODY);
        assert_near(&source, &headers, BODY, &NearMiss::SecretFromBase64);
        let unpadded = with(scheme, WHSEC.trim_end_matches('='));
        assert_near(&unpadded, &headers, BODY, &NearMiss::SecretFromBase64);
    }
}

#[test]
fn a_secret_decoded_from_hex_is_found() {
    let key = [0xab; 32];
    for scheme in TEXT_SCHEMES {
        let headers = signed(scheme, &key, BODY);
        for secret in [
            hex(&key),
            hex(&key).to_uppercase(),
            format!("shpss_{}", hex(&key)),
        ] {
            assert_near(
                &with(scheme, &secret),
                &headers,
                BODY,
                &NearMiss::SecretFromHex,
            );
        }
    }
    let source = with("standard-webhooks", &format!("whsec_{}", hex(&key)));
    let headers = signed("standard-webhooks", &key, BODY);
    assert_near(&source, &headers, BODY, &NearMiss::SecretFromHex);
}

#[test]
fn a_secret_with_a_line_end_behind_it_is_found() {
    for scheme in TEXT_SCHEMES {
        for end in ["\n", "\r\n"] {
            let headers = signed(scheme, format!("{TEXT}{end}").as_bytes(), BODY);
            assert_near(
                &source(scheme),
                &headers,
                BODY,
                &NearMiss::SecretWithLineEnd,
            );
        }
    }
}

#[test]
fn a_body_that_lost_or_won_a_line_end_is_found() {
    for scheme in SCHEMES {
        let key = senders_key(scheme);
        let ended = [BODY, b"\n"].concat();
        let headers = signed(scheme, key, &ended);
        assert_near(&source(scheme), &headers, BODY, &NearMiss::BodyWithLineEnd);
        let headers = signed(scheme, key, BODY);
        for end in [&b"\n"[..], b"\r\n"] {
            let body = [BODY, end].concat();
            assert_near(
                &source(scheme),
                &headers,
                &body,
                &NearMiss::BodyWithoutLineEnd,
            );
        }
    }
}

#[test]
fn a_right_value_in_the_wrong_encoding_is_found() {
    for scheme in SCHEMES {
        let right = signature(scheme, senders_key(scheme), BODY);
        let (written, due, text) = match named(scheme).encoding {
            scheme::Encoding::Hex => ("base64", "hex", base64(&right)),
            scheme::Encoding::Base64 => ("hex", "base64", hex(&right)),
        };
        let headers = carrying(scheme, &text);
        assert_near(
            &source(scheme),
            &headers,
            BODY,
            &NearMiss::OtherEncoding { written, due },
        );
    }
}

#[test]
fn another_sources_secret_is_found_whichever_rule_its_key_is_made_by() {
    let code = configured(
        "code",
        "github",
        &["a first one", "a secret of the code host"],
    );
    let forms = configured("forms", "standard-webhooks", &["whsec_b2xkb2xkb2xkb2xk"]);
    let others = [code.expect("usable"), forms.expect("usable")];
    for scheme in SCHEMES {
        let source = source(scheme);
        let all = [std::slice::from_ref(&source), &others].concat();
        for (name, key) in [
            ("code", &b"a secret of the code host"[..]),
            ("forms", b"oldoldoldold"),
        ] {
            let headers = signed(scheme, key, BODY);
            let due = NearMiss::OtherSource(SourceName::parse(name).expect("name"));
            let found = near_miss::find(&source, &all, &headers, BODY);
            assert_eq!(found.as_ref(), Some(&due), "{scheme}");
            let refusal = told(&source, &all, &headers, BODY);
            assert_eq!(refusal.near_miss, Some(due.to_string()), "{scheme}");
        }
    }
}

#[test]
fn nothing_is_told_where_nothing_near_holds() {
    for scheme in SCHEMES {
        let all = SCHEMES.map(|other| {
            let secret = if TEXT_SCHEMES.contains(&other) {
                TEXT
            } else {
                WHSEC
            };
            configured(other, other, &[secret]).expect("usable")
        });
        let source = source(scheme);
        let forged = signed(scheme, b"nobody's secret", BODY);
        let good = signed(scheme, senders_key(scheme), BODY);
        let long = vec![b'x'; near_miss::LONGEST_BODY + 1];
        let long_ended = [&long[..], b"\n"].concat();
        let over_limit = signed(scheme, senders_key(scheme), &long_ended);
        for (headers, body) in [
            (&forged, BODY),
            (&good, &b"another body"[..]),
            (&HeaderMap::new(), BODY),
            (&carrying(scheme, "%%%"), BODY),
            (&over_limit, &long[..]),
        ] {
            assert_eq!(
                near_miss::find(&source, &all, headers, body),
                None,
                "{scheme}"
            );
            assert_eq!(
                told(&source, &all, headers, body).near_miss,
                None,
                "{scheme}"
            );
        }
    }
}

#[test]
fn a_late_request_is_told_by_its_time_alone() {
    let late = Timestamp::from_seconds(NOW + 900);
    for scheme in ["stripe", "standard-webhooks"] {
        let source = source(scheme);
        let headers = signed(scheme, senders_key(scheme), BODY);
        let (reason, checked) =
            scheme::verify(source.scheme, source.keys(), &headers, BODY, late).expect_err("late");
        let refusal = explain(&source, &[], &headers, BODY, reason, checked);
        assert_eq!(refusal.clock_distance_s, Some(900));
        assert_eq!(refusal.near_miss, None);
        assert!(
            refusal.line().contains("clocks 900 s apart"),
            "{}",
            refusal.line()
        );
    }
}

#[test]
fn a_refusal_says_how_far_the_check_came_and_holds_no_signature_no_secret_and_no_body() {
    for scheme in SCHEMES {
        let other = configured("other", "github", &["a secret of another source"]).expect("usable");
        let all = [source(scheme), other];
        let right = signature(scheme, senders_key(scheme), BODY);
        let requests = [
            signed(scheme, b"nobody's secret", BODY),
            signed(scheme, b"a secret of another source", BODY),
            carrying(scheme, &hex(&right)),
            carrying(scheme, &base64(&right)),
            carrying(scheme, "%%%5f4dcc3b"),
            signed("stripe", senders_key(scheme), b"other"),
            HeaderMap::new(),
        ];
        let mut seen = 0;
        for mut headers in requests {
            let written: String = headers.values().fold(String::new(), |text, value| {
                text + value.to_str().expect("text") + " "
            });
            let now = NOW.to_string();
            let written = written
                .split([',', '=', ' '])
                .filter(|word| word.len() > 8 && *word != now);
            headers.insert(
                "content-type",
                HeaderValue::from_static("text/plain\t\t; charset=utf-8"),
            );
            let now = Timestamp::from_seconds(NOW);
            let Err((reason, checked)) =
                scheme::verify(all[0].scheme, all[0].keys(), &headers, BODY, now)
            else {
                continue;
            };
            seen += 1;
            let refusal = explain(&all[0], &all, &headers, BODY, reason, checked);
            assert_eq!(refusal.body_length, BODY.len());
            assert_eq!(refusal.content_type.as_str(), "text/plain ; charset=utf-8");
            let shown = format!(
                "{} {refusal:?} {}",
                refusal.line(),
                serde_json::to_string(&refusal).expect("JSON")
            );
            let hidden = [
                TEXT,
                &TEXT[6..],
                WHSEC,
                &WHSEC[6..],
                "nobody's",
                "evt_1",
                "a secret of another source",
            ];
            for hidden in hidden.into_iter().chain(written) {
                assert!(!shown.contains(hidden), "{hidden:?} shows in {shown}");
            }
        }
        assert!(seen >= 5, "{scheme}: {seen}");
    }
}
