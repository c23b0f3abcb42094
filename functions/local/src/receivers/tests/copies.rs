//! Your endpoint: a copy is booked when its signature holds, and only then.

use switchboard_core::scheme::standard_webhooks::{self, sign_with_all};
use switchboard_core::scheme::{Draft, Key};
use switchboard_core::secret::Secret;
use switchboard_core::time::Timestamp;

use super::{Answer, NOW, Port};

const BODY: &[u8] = "{\"größe\":1}\n".as_bytes();

fn key(n: u8) -> Key {
    let secret = switchboard_core::endpoint::fresh_secret(&[n; 32]).expect("secret");
    standard_webhooks::key(&Secret::new(secret.expose()).expect("secret")).expect("key")
}

async fn copy(
    port: &Port,
    header: &str,
    id: &str,
    with: &[Key],
    now: Timestamp,
    body: &[u8],
) -> Answer {
    let signed = sign_with_all(
        with,
        &Draft {
            id,
            kind: "",
            now,
            body: BODY,
        },
    );
    let mut headers = super::delivery(header, "orders/create", "copy").to_vec();
    headers.extend(signed.iter().map(|(name, value)| (*name, value.as_str())));
    port.ask("POST", "/your-endpoint", &headers, body).await
}

#[tokio::test]
async fn a_copy_whose_signature_holds_is_booked_once() {
    let port = Port::with_keys(vec![key(1)]).await;
    for _ in 0..2 {
        assert_eq!(
            copy(&port, "dlv_a", "dlv_a", &[key(1)], NOW, BODY)
                .await
                .status,
            200
        );
    }
    let endpoint = &port.books().await["your-endpoint"];
    assert_eq!(
        (&endpoint["total"], &endpoint["answered_again"]),
        (&1.into(), &1.into())
    );
    let booked = &endpoint["copies"][0];
    assert_eq!(
        (&booked["key"], &booked["signature"]),
        (&"dlv_a".into(), &"held".into())
    );
    assert_eq!(
        (&booked["source"], &booked["kind"]),
        (&"shop".into(), &"orders/create".into())
    );
    assert_eq!(booked["event"], "evt_aaaaaaaaaaaaaaaaaaaaaaaaaa");
}

#[tokio::test]
async fn after_a_rotation_either_secret_is_enough() {
    let port = Port::with_keys(vec![key(2), key(1)]).await;
    assert_eq!(
        copy(&port, "dlv_a", "dlv_a", &[key(1)], NOW, BODY)
            .await
            .status,
        200
    );
    assert_eq!(
        copy(&port, "dlv_b", "dlv_b", &[key(2), key(1)], NOW, BODY)
            .await
            .status,
        200
    );
}

#[tokio::test]
async fn a_copy_whose_signature_does_not_hold_is_refused_counted_and_not_booked() {
    let port = Port::with_keys(vec![key(1)]).await;
    let late = Timestamp::from_seconds(NOW.seconds() - 301);
    for (what, status) in [
        (
            "another secret",
            copy(&port, "dlv_a", "dlv_a", &[key(9)], NOW, BODY)
                .await
                .status,
        ),
        (
            "another body",
            copy(&port, "dlv_a", "dlv_a", &[key(1)], NOW, b"{}")
                .await
                .status,
        ),
        (
            "an old time",
            copy(&port, "dlv_a", "dlv_a", &[key(1)], late, BODY)
                .await
                .status,
        ),
        (
            "no signature",
            port.deliver("/your-endpoint", "dlv_a", "k", "copy", "{}")
                .await
                .status,
        ),
    ] {
        assert_eq!(status, 401, "{what}");
    }
    let endpoint = &port.books().await["your-endpoint"];
    assert_eq!(
        (&endpoint["total"], &endpoint["refused"]),
        (&0.into(), &4.into())
    );
    assert_eq!(
        copy(&port, "dlv_a", "dlv_a", &[key(1)], NOW, BODY)
            .await
            .status,
        200,
        "its key was not kept"
    );
}

#[tokio::test]
async fn without_a_secret_every_copy_is_refused() {
    let port = Port::with_keys(Vec::new()).await;
    assert_eq!(
        copy(&port, "dlv_a", "dlv_a", &[key(1)], NOW, BODY)
            .await
            .status,
        401
    );
    assert_eq!(port.books().await["your-endpoint"]["refused"], 1);
}

#[tokio::test]
async fn the_key_that_counts_is_the_one_that_the_signature_covers() {
    let port = Port::with_keys(vec![key(1)]).await;
    assert_eq!(
        copy(&port, "dlv_a", "dlv_a", &[key(1)], NOW, BODY)
            .await
            .status,
        200
    );
    let captured = copy(&port, "dlv_other", "dlv_a", &[key(1)], NOW, BODY).await;
    assert_eq!(captured.status, 200);
    let endpoint = &port.books().await["your-endpoint"];
    assert_eq!(
        (&endpoint["total"], &endpoint["answered_again"]),
        (&1.into(), &1.into()),
        "not applied twice"
    );
    let signed = sign_with_all(
        &[key(1)],
        &Draft {
            id: "msg_1",
            kind: "",
            now: NOW,
            body: BODY,
        },
    );
    let headers: Vec<_> = signed
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    let plain = port.ask("POST", "/your-endpoint", &headers, BODY).await;
    assert_eq!(
        plain.status, 200,
        "Standard Webhooks alone is enough: {plain:?}"
    );
}
