//! Signed times: how far from ours, in which form, and what else was signed with them.

use http::HeaderMap;
use switchboard_core::configuration::Source;
use switchboard_core::refusal::Reason;
use switchboard_core::scheme;
use switchboard_core::time::Timestamp;

use crate::signed::{BODY, NOW, TEXT, WHSEC_KEY, base64, check, headers, hex, mac, source};

/// A request that a sender signed with this very text as its time.
fn at(scheme: &str, time: &str) -> HeaderMap {
    let before = format!("{time}.");
    if scheme == "stripe" {
        let signature = hex(&mac(TEXT.as_bytes(), &[before.as_bytes(), BODY]));
        headers(&[("Stripe-Signature", &format!("t={time},v1={signature}"))])
    } else {
        form("msg_1", time, &[b"msg_1.", before.as_bytes(), BODY])
    }
}

/// A Standard Webhooks request with the signature of `signed`.
fn form(id: &str, time: &str, signed: &[&[u8]]) -> HeaderMap {
    let signature = base64(&mac(WHSEC_KEY, signed));
    headers(&[
        ("webhook-id", id),
        ("webhook-timestamp", time),
        ("webhook-signature", &format!("v1,{signature}")),
    ])
}

fn timed() -> [Source; 2] {
    [source("stripe"), source("standard-webhooks")]
}

#[test]
fn a_signed_time_holds_up_to_300_seconds_on_either_side() {
    const TEN_YEARS: i64 = 10 * 365 * 24 * 3600;
    for source in timed() {
        for distance in [-300, -299, -1, 0, 1, 299, 300] {
            let request = at(source.scheme.name, &(NOW + distance).to_string());
            let checked = check(&source, &request, BODY).expect("within 300 s");
            assert_eq!(checked.clock_distance_s, Some(-distance));
            assert_eq!(checked.secrets_tried, 1);
        }
        for distance in [-TEN_YEARS, -301, 301, TEN_YEARS] {
            let request = at(source.scheme.name, &(NOW + distance).to_string());
            let now = Timestamp::from_seconds(NOW);
            let (reason, checked) =
                scheme::verify(source.scheme, source.keys(), &request, BODY, now)
                    .expect_err("outside 300 s");
            assert_eq!(reason, Reason::TimeOutside, "{distance}");
            assert_eq!(checked.clock_distance_s, Some(-distance));
            assert!(
                reason.to_string().contains("its time is more than 300 s"),
                "the reason names the time: {reason}"
            );
        }
    }
}

#[test]
fn a_second_that_has_begun_counts_as_whole() {
    for source in timed() {
        let request = at(source.scheme.name, &(NOW - 300).to_string());
        let judged = |millis| {
            let now = Timestamp::from_millis(NOW * 1000 + millis);
            scheme::verify(source.scheme, source.keys(), &request, BODY, now).is_ok()
        };
        assert!(judged(999));
        assert!(!judged(1000));
    }
}

#[test]
fn a_forged_request_is_told_from_a_late_one() {
    for source in timed() {
        let mut request = at(source.scheme.name, &(NOW - 301).to_string());
        assert_eq!(
            check(&source, &request, b"other"),
            Err(Reason::NoSecretMatched)
        );
        // A fresh time beside an old signature: the time is part of what was signed.
        if source.scheme.name == "standard-webhooks" {
            let fresh = NOW.to_string().parse().expect("value");
            request.insert("webhook-timestamp", fresh);
            assert_eq!(check(&source, &request, BODY), Err(Reason::NoSecretMatched));
        }
    }
}

#[test]
fn a_time_that_is_not_plain_digits_is_refused_though_that_very_text_was_signed() {
    let times = [
        "abc".to_owned(),
        "1700000000junk".to_owned(),
        format!("{NOW}junk"),
        format!("+{NOW}"),
        format!("-{NOW}"),
        "1.7e9".to_owned(),
        format!("{NOW}.0"),
        format!("0x{NOW:x}"),
        "１７６４４４６４００".to_owned(),
        "NaN".to_owned(),
        "9".repeat(30),
        i64::MIN.to_string(),
    ];
    for source in timed() {
        for time in &times {
            let refused = check(&source, &at(source.scheme.name, time), BODY);
            let form = matches!(
                refused,
                Err(Reason::MalformedHeader {
                    why: "the time is not plain decimal digits",
                    ..
                })
            );
            assert!(form, "{}, {time:?}: {refused:?}", source.scheme.name);
        }
        let far = at(source.scheme.name, &i64::MAX.to_string());
        assert_eq!(check(&source, &far, BODY), Err(Reason::TimeOutside));
    }
}

#[test]
fn an_empty_time_or_one_behind_a_space_is_refused() {
    let [stripe, form] = timed();
    for time in [String::new(), format!(" {NOW}"), format!("{NOW} ")] {
        let refused = check(&stripe, &at("stripe", &time), BODY);
        assert!(
            matches!(refused, Err(Reason::MalformedHeader { .. })),
            "{time:?}: {refused:?}"
        );
    }
    assert_eq!(
        check(&form, &at("standard-webhooks", ""), BODY),
        Err(Reason::MissingHeader {
            header: "webhook-timestamp"
        })
    );
    // Servers cut the space around a header's value; signed with it, the value is another.
    let spaced = format!(" {NOW}");
    assert_eq!(
        check(&form, &at("standard-webhooks", &spaced), BODY),
        Err(Reason::NoSecretMatched)
    );
}

#[test]
fn a_request_with_two_times_is_refused_whichever_was_signed() {
    let stripe = source("stripe");
    let (now, old) = (NOW.to_string(), (NOW - 100_000).to_string());
    for (first, second) in [(&now, &old), (&old, &now), (&now, &now)] {
        for signed in [first, second] {
            let before = format!("{signed}.");
            let v1 = hex(&mac(TEXT.as_bytes(), &[before.as_bytes(), BODY]));
            for value in [
                format!("t={first},t={second},v1={v1}"),
                format!("t={first},v1={v1},t={second}"),
            ] {
                let refused = check(&stripe, &headers(&[("Stripe-Signature", &value)]), BODY);
                assert!(
                    matches!(refused, Err(Reason::MalformedHeader { .. })),
                    "{value}: {refused:?}"
                );
            }
        }
    }
    let form = source("standard-webhooks");
    for (first, second) in [(&now, &old), (&old, &now), (&now, &now)] {
        let mut request = at("standard-webhooks", first);
        request.append("webhook-timestamp", second.parse().expect("value"));
        assert_eq!(
            check(&form, &request, BODY),
            Err(Reason::RepeatedHeader {
                header: "webhook-timestamp"
            })
        );
    }
}

#[test]
fn one_signed_text_cannot_be_cut_into_two_different_events() {
    let form_source = source("standard-webhooks");
    let (early, late) = (NOW - 100, NOW);
    let text = format!("a.{early}.{late}.B");
    let as_first = form("a", &early.to_string(), &[text.as_bytes()]);
    let first_body = format!("{late}.B");
    assert!(check(&form_source, &as_first, first_body.as_bytes()).is_ok());
    let id = format!("a.{early}");
    let as_second = form(&id, &late.to_string(), &[text.as_bytes()]);
    let refused = check(&form_source, &as_second, b"B");
    assert!(
        matches!(
            refused,
            Err(Reason::MalformedHeader {
                header: "webhook-id",
                ..
            })
        ),
        "{refused:?}"
    );
}
