//! A test delivery: one attempt of no delivery, marked as what it is.

use http::header::CONTENT_TYPE;
use switchboard_core::delivery::{AttemptRecord, DeathReason, Verdict};
use switchboard_core::forward::KeptHeaders;

use super::*;

fn test(
    setting: &Setting,
    to: &DestinationName,
    id: &str,
    settings: &Settings,
) -> Result<AttemptRecord, DeathReason> {
    let id = SenderId::new(id).expect("an id");
    let tested = pin!(setting.performer.test(to, &id, settings));
    match tested.poll_once() {
        Poll::Ready(tested) => tested,
        Poll::Pending => unreachable!("nothing waits"),
    }
}

fn named(name: &str) -> DestinationName {
    DestinationName::parse(name).expect("a name")
}

/// What was sent, the last first.
fn sent(setting: &Setting) -> HeaderMap {
    let sent = setting.transport.1.lock().expect("a lock");
    sent.last().cloned().expect("something was sent")
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    let value = headers.get(name).expect(name);
    value.to_str().expect("text")
}

#[test]
fn it_is_marked_and_says_that_switchboard_made_it() {
    let setting = setting("no");
    let chat = named("chat");
    let record = test(&setting, &chat, "one", &Settings::default()).expect("made");
    assert_eq!((record.number, record.status), (1, Some(500)));
    assert_eq!(record.outcome, Verdict::Rejected);
    let headers = sent(&setting);
    assert_eq!(text(&headers, "switchboard-test"), "true");
    assert_eq!(text(&headers, "switchboard-source"), "switchboard");
    assert_eq!(text(&headers, "switchboard-kind"), "test");
    assert_eq!(text(&headers, "switchboard-action"), "test");
    assert_eq!(text(&headers, "switchboard-attempt"), "1");
    assert_eq!(text(&headers, CONTENT_TYPE.as_str()), "application/json");
    assert_eq!(text(&headers, "authorization"), CHAT, "its own headers");
    let body = setting.transport.2.lock().expect("a lock").clone();
    let body = String::from_utf8(body.last().expect("a body").to_vec()).expect("text");
    assert_eq!(body, r#"{"test":true,"at":"2027-01-15T08:00:00.000Z"}"#);
    // Another test is another event under another key.
    test(&setting, &chat, "two", &Settings::default()).expect("made");
    let other = sent(&setting);
    for name in ["idempotency-key", "switchboard-event"] {
        assert_ne!(text(&headers, name), text(&other, name), "{name}");
    }
    test(&setting, &chat, "one", &Settings::default()).expect("made");
    let again = sent(&setting);
    assert_eq!(
        text(&headers, "idempotency-key"),
        text(&again, "idempotency-key")
    );
}

#[test]
fn no_sender_and_no_real_delivery_can_carry_its_mark() {
    let came = HeaderMap::from_iter([(
        http::header::HeaderName::from_static("switchboard-test"),
        http::HeaderValue::from_static("true"),
    )]);
    let setting = setting("no");
    let attempt = attempt(named("chat"), 1);
    let attempt = Attempt {
        event: Arc::new(Event {
            headers: KeptHeaders::of(&came),
            ..Event::clone(&attempt.event)
        }),
        ..attempt
    };
    perform(&setting, &attempt, &Settings::default());
    assert_eq!(sent(&setting).get("switchboard-test"), None);
}

#[test]
fn it_is_signed_where_deliveries_are() {
    let setting = setting("no");
    let secret = fresh_secret(&[7; KEY_BYTES]).expect("a secret");
    let settings = Settings::default().after(Change::SetEndpoint {
        address: Address::parse("https://example.com/", Networks::Public).expect("an address"),
        fresh: secret.clone(),
    });
    let yours = DestinationName::your_endpoint();
    let configured = fresh_secret(&[9; KEY_BYTES]).expect("a secret");
    for (to, secret) in [(yours, secret), (named("signed"), configured)] {
        test(&setting, &to, "one", &settings).expect("made");
        let scheme = Scheme::named("standard-webhooks").expect("a scheme");
        let key: Key = (scheme.key)(&secret).expect("a key");
        let now = Timestamp::from_seconds(1_800_000_000);
        let body = setting.transport.2.lock().expect("a lock").clone();
        let body = body.last().expect("a body");
        let checked = verify(scheme, &[key], &sent(&setting), body, now);
        assert!(checked.is_ok(), "{to}");
    }
    test(&setting, &named("chat"), "one", &settings).expect("made");
    assert_eq!(sent(&setting).get("webhook-signature"), None, "unsigned");
}

#[test]
fn what_its_answer_quotes_of_the_request_is_not_told() {
    for (says, told) in [
        ("no such path: /hooks/T0KEN-PATH", "no such path: …"),
        ("no: Bearer a-token-of-chat", "no: …"),
        ("no: k3y!", "no: …"),
    ] {
        let setting = setting(says);
        let record = test(&setting, &named("chat"), "one", &Settings::default());
        assert_eq!(record.expect("made").detail, told);
    }
}

#[test]
fn nothing_is_sent_where_there_is_nowhere_to() {
    let setting = setting("no");
    for (to, why) in [
        (named("gone"), DeathReason::NoDestination),
        (
            DestinationName::your_endpoint(),
            DeathReason::EndpointCleared,
        ),
    ] {
        let tested = test(&setting, &to, "one", &Settings::default());
        assert_eq!(tested, Err(why), "{to}");
    }
    assert!(setting.transport.1.lock().expect("a lock").is_empty());
}
