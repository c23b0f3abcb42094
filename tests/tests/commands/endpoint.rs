//! `endpoint set`, `rotate` and `clear` against a running Switchboard.

use switchboard_core::scheme::{self, Scheme};
use switchboard_core::secret::Secret;
use switchboard_tests::sender::now;
use switchboard_tests::setting::{running, sender};
use switchboard_tests::sink::{Received, Sink};
use switchboard_tests::switchboard::Switchboard;

/// The secret that a command printed.
fn secret(printed: &str) -> String {
    let word = printed
        .split_whitespace()
        .find(|word| word.starts_with("whsec_"));
    word.unwrap_or_else(|| panic!("no secret in {printed}"))
        .to_owned()
}

fn holds(received: &Received, secret: &str) -> bool {
    let scheme = Scheme::named("standard-webhooks").expect("a scheme");
    let key = (scheme.key)(&Secret::new(secret).expect("a secret")).expect("a key");
    scheme::verify(scheme, &[key], &received.headers, &received.body, now()).is_ok()
}

/// The copy of a new event.
async fn copy(sink: &Sink, switchboard: &Switchboard, id: &str) -> Received {
    let event = sender(switchboard, "code")
        .send(id, "push", "{}")
        .await
        .event();
    let is_it = |received: &&Received| {
        received.path == "/mine" && received.header("switchboard-event") == event
    };
    let received = sink
        .wait("the copy came", |received| {
            received.iter().any(|one| is_it(&one))
        })
        .await;
    received.iter().find(is_it).expect("the copy").clone()
}

#[tokio::test]
async fn set_prints_its_secret_once_and_every_event_is_copied_with_it() {
    let (sink, switchboard) = running().await;
    let address = sink.url("/mine");
    let (code, printed) = switchboard.run(&["endpoint", "set", &address]).await;
    assert_eq!(code, 0, "{printed}");
    assert!(printed.contains(sink.url("").as_str()), "{printed}");
    let first = secret(&printed);
    assert!(holds(&copy(&sink, &switchboard, "1").await, &first));
    let (code, printed) = switchboard.run(&["endpoint", "set", &address]).await;
    assert!(code == 0 && !printed.contains("whsec_"), "{printed}");
    assert!(
        holds(&copy(&sink, &switchboard, "2").await, &first),
        "it keeps its secret"
    );
}

#[tokio::test]
async fn after_rotate_the_old_secret_signs_beside_the_new_one() {
    let (sink, switchboard) = running().await;
    let (_, printed) = switchboard
        .run(&["endpoint", "set", &sink.url("/mine")])
        .await;
    let old = secret(&printed);
    let (code, printed) = switchboard.run(&["endpoint", "rotate"]).await;
    assert_eq!(code, 0, "{printed}");
    let new = secret(&printed);
    assert_ne!(old, new);
    let copy = copy(&sink, &switchboard, "1").await;
    assert!(holds(&copy, &old) && holds(&copy, &new));
}

#[tokio::test]
async fn after_clear_there_are_no_copies_and_set_gives_a_new_secret() {
    let (sink, switchboard) = running().await;
    let (_, printed) = switchboard
        .run(&["endpoint", "set", &sink.url("/mine")])
        .await;
    let old = secret(&printed);
    let (code, printed) = switchboard.run(&["endpoint", "clear"]).await;
    assert_eq!(code, 0, "{printed}");
    sender(&switchboard, "code").send("1", "push", "{}").await;
    switchboard.wait_total("delivered", 1).await;
    assert!(
        sink.received()
            .iter()
            .all(|received| received.path != "/mine")
    );
    let (_, printed) = switchboard
        .run(&["endpoint", "set", &sink.url("/mine")])
        .await;
    let new = secret(&printed);
    let copy = copy(&sink, &switchboard, "2").await;
    assert!(holds(&copy, &new) && !holds(&copy, &old));
}

#[tokio::test]
async fn rotate_without_an_endpoint_and_an_address_that_cannot_be_delivered_to_end_with_1_and_why()
{
    let (_sink, switchboard) = running().await;
    let (code, printed) = switchboard.run(&["endpoint", "rotate"]).await;
    assert_eq!(code, 1);
    assert!(printed.contains("your endpoint is not set"), "{printed}");
    for address in [
        "ftp://example.com/",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "not an address",
        "http://user:S3CRET@example.com/",
        "http://169.254.169.254/latest/meta-data",
        "http://127.0.0.1:0/",
        "http://exa mple.com/",
    ] {
        let (code, printed) = switchboard.run(&["endpoint", "set", address]).await;
        assert_eq!(
            (code, printed.lines().count()),
            (1, 1),
            "{address}: {printed}"
        );
        assert!(!printed.contains("S3CRET"), "{printed}");
        let set = &switchboard.get("/api/overview").await["your_endpoint"]["set"];
        assert_eq!(set, false, "{address}");
    }
}

#[tokio::test]
async fn an_address_with_a_secret_in_it_is_not_printed_whole() {
    let (sink, switchboard) = running().await;
    let address = format!("{}?token=S3CRET", sink.url("/mine/T0KEN"));
    let (code, printed) = switchboard.run(&["endpoint", "set", &address]).await;
    assert_eq!(code, 0, "{printed}");
    for hidden in ["S3CRET", "T0KEN"] {
        assert!(!printed.contains(hidden), "{printed}");
    }
    let shown = switchboard.get("/api/overview").await["your_endpoint"].to_string();
    assert!(
        !shown.contains("S3CRET") && !shown.contains("T0KEN"),
        "{shown}"
    );
}
