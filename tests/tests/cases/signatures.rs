//! Signature headers that are missing, misshapen or cut: refused, counted once each, and nothing breaks.

use std::fmt::Write as _;

use http::{HeaderMap, HeaderValue, StatusCode};
use serde_json::Value;
use switchboard_tests::sender::Sender;
use switchboard_tests::setting::{running, sender};
use switchboard_tests::switchboard::Switchboard;
use switchboard_tests::wire;

/// Each source, the header its signature stands in, and what stands there before the signature.
const HEADERS: [(&str, &str, &str); 4] = [
    ("shop", "x-shopify-hmac-sha256", ""),
    ("payments", "stripe-signature", "v1="),
    ("code", "x-hub-signature-256", "sha256="),
    ("forms", "webhook-signature", "v1,"),
];
const BODY: &str = r#"{"id":"evt_1","type":"some.kind"}"#;

async fn reasons(switchboard: &Switchboard) -> Vec<String> {
    let listed = switchboard.get("/api/refusals").await;
    let items = listed["items"].as_array().expect("a list");
    let reason = |one: &Value| one["reason"].as_str().expect("a reason").to_owned();
    items.iter().map(reason).collect()
}

/// A rightly signed request of the source is accepted, and the log tells of no panic.
async fn goes_on_well(switchboard: &Switchboard, source: &str) {
    let answer = sender(switchboard, source)
        .send("good", "some.kind", BODY)
        .await;
    assert_eq!(answer.status, StatusCode::OK, "{source}");
    assert!(
        !switchboard.log().contains("panic"),
        "{}",
        switchboard.log()
    );
}

#[tokio::test]
async fn without_its_own_signature_header_every_request_is_refused_once_as_missing_it() {
    let (sink, switchboard) = running().await;
    let mut sent = 0;
    for (source, header, _) in HEADERS {
        let own = sender(&switchboard, source);
        let mut without = own.headers("id-1", "some.kind", BODY.as_bytes());
        without.remove(header);
        let with = |name: &'static str, value: &str| {
            let mut headers = without.clone();
            headers.insert(name, HeaderValue::from_str(value).expect("a value"));
            headers
        };
        let mut requests = vec![without.clone(), with(header, ""), with(header, "   ")];
        if source == "code" {
            requests.push(with("x-hub-signature", &format!("sha1={}", "a".repeat(40))));
        }
        for (other, ..) in HEADERS.iter().filter(|(other, ..)| *other != source) {
            requests.push(sender(&switchboard, other).headers(
                "id-1",
                "some.kind",
                BODY.as_bytes(),
            ));
        }
        for headers in requests {
            let answer = own.post(headers.clone(), BODY).await;
            assert_eq!(
                answer.status,
                StatusCode::UNAUTHORIZED,
                "{source}: {headers:?}"
            );
            sent += 1;
        }
    }
    assert_eq!(switchboard.total("refused").await, sent);
    let reasons = reasons(&switchboard).await;
    assert!(!reasons.is_empty());
    for reason in reasons {
        assert!(reason.starts_with("missing signature"), "{reason}");
    }
    assert_eq!(switchboard.total("stored").await, 0);
    assert!(sink.received().is_empty());
    goes_on_well(&switchboard, "shop").await;
}

/// The signed request with its signature written otherwise.
fn written(
    own: &Sender,
    (_, header, before): (&str, &'static str, &str),
    change: impl Fn(&str) -> Vec<u8>,
) -> HeaderMap {
    let mut headers = own.headers("id-1", "some.kind", BODY.as_bytes());
    let value = headers[header].to_str().expect("text").to_owned();
    let at = if before.is_empty() {
        0
    } else {
        value.rfind(before).expect("a signature") + before.len()
    };
    let (kept, signature) = value.split_at(at);
    let changed = [kept.as_bytes(), &change(signature)].concat();
    headers.insert(header, HeaderValue::from_bytes(&changed).expect("a value"));
    headers
}

#[tokio::test]
async fn a_signature_of_any_other_length_alphabet_or_part_is_refused_and_breaks_nothing() {
    let (_sink, switchboard) = running().await;
    let mut sent = 0;
    for row in HEADERS {
        let own = sender(&switchboard, row.0);
        let mut requests: Vec<HeaderMap> = [0, 1, 31, 33, 64, 65, 30_000]
            .into_iter()
            .map(|length| written(&own, row, |_| vec![b'A'; length]))
            .collect();
        // Base64 of 33 bytes, bytes outside ASCII, the first bytes of the right one, and more than the right one.
        requests.push(written(&own, row, |_| vec![b'B'; 44]));
        requests.push(written(&own, row, |right| {
            [right.as_bytes(), &[0xff, 0xfe]].concat()
        }));
        requests.push(written(&own, row, |right| {
            [&[0xe4], right.as_bytes()].concat()
        }));
        for part in [2, 4, 16, 40] {
            requests.push(written(&own, row, |right| {
                right.as_bytes()[..part].to_vec()
            }));
        }
        requests.push(written(&own, row, |right| {
            right.as_bytes()[..right.len() - 1].to_vec()
        }));
        requests.push(written(&own, row, |right| right.repeat(2).into_bytes()));
        requests.push(written(&own, row, |right| {
            [right.as_bytes(), b"00"].concat()
        }));
        for headers in requests {
            let answer = own.post(headers.clone(), BODY).await;
            assert_eq!(
                answer.status,
                StatusCode::UNAUTHORIZED,
                "{}: {headers:?}",
                row.0
            );
            sent += 1;
        }
        let long = written(&own, row, |_| vec![b'a'; 100_000]);
        let status = own.post(long, BODY).await.status.as_u16();
        assert!([401, 431].contains(&status), "{}: {status}", row.0);
        sent += u64::from(status == 401);
        goes_on_well(&switchboard, row.0).await;
    }
    assert_eq!(
        switchboard.total("refused").await,
        sent,
        "each is counted once"
    );
    assert_eq!(switchboard.total("stored").await, 4, "the good ones");
}

#[tokio::test]
async fn a_repeated_identity_or_signature_header_is_never_joined_nor_chosen_from() {
    let (sink, switchboard) = running().await;
    for (source, name, status) in [
        ("code", "x-hub-signature-256", 401),
        ("code", "x-github-delivery", 400),
        ("forms", "webhook-id", 401),
        ("forms", "webhook-signature", 401),
        ("shop", "x-shopify-webhook-id", 400),
        ("payments", "stripe-signature", 401),
    ] {
        let own = sender(&switchboard, source);
        let good = own.headers("id-1", "some.kind", BODY.as_bytes());
        let other = own.headers("id-2", "some.kind", b"another body");
        for (first, second) in [(&good, &other), (&other, &good)] {
            let mut headers = good.clone();
            headers.remove(name);
            headers.append(name, first[name].clone());
            headers.append(name, second[name].clone());
            let answer = own.post(headers, BODY).await;
            assert_eq!(answer.status.as_u16(), status, "{source}: {name}");
        }
    }
    assert_eq!(switchboard.total("stored").await, 0);
    assert!(sink.received().is_empty());
}

#[tokio::test]
async fn a_byte_order_mark_is_signed_forwarded_and_skipped_for_reading_only() {
    let (sink, switchboard) = running().await;
    let body = format!("\u{feff}{BODY}");
    for source in ["shop", "payments", "code", "forms"] {
        let answer = sender(&switchboard, source)
            .send("id-1", "some.kind", body.clone())
            .await;
        assert_eq!(answer.status, StatusCode::OK, "{source}");
    }
    for received in sink.wait_for(4).await {
        assert_eq!(received.body, body.as_bytes());
        assert_eq!(received.header("switchboard-kind"), "some.kind");
    }
    assert_eq!(switchboard.total("refused").await, 0);
}

#[tokio::test]
async fn a_body_in_chunks_of_one_byte_with_extensions_and_a_trailer_goes_on_whole() {
    let (sink, switchboard) = running().await;
    let headers = sender(&switchboard, "shop").headers("id-1", "some.kind", BODY.as_bytes());
    let mut lines: Vec<(&str, &str)> = headers
        .iter()
        .map(|(name, value)| (name.as_str(), value.to_str().expect("text")))
        .collect();
    lines.extend([
        ("host", "localhost"),
        ("transfer-encoding", "chunked"),
        ("trailer", "x-later"),
    ]);
    let mut chunks = String::new();
    for c in BODY.chars() {
        let _ = write!(chunks, "1;name=value\r\n{c}\r\n");
    }
    chunks.push_str("0\r\nx-later: 1\r\n\r\n");
    let reply = wire::raw(&switchboard.url, "POST", "/in/shop", &lines, &chunks).await;
    assert_eq!(reply.status, 200, "{}", reply.head);
    let received = sink.wait_for(1).await.remove(0);
    assert_eq!(received.body, BODY.as_bytes());
    assert_eq!(received.header("content-length"), BODY.len().to_string());
    for gone in ["transfer-encoding", "trailer", "x-later"] {
        assert!(
            !received.headers.contains_key(gone),
            "{gone} reached the destination"
        );
    }
}
