//! Your endpoint: a copy of each event while its address is set, signed.

use std::sync::atomic::{AtomicU32, Ordering};

use http::Method;
use serde_json::json;
use switchboard_core::scheme::{self, Scheme};
use switchboard_core::secret::Secret;
use switchboard_tests::sender::now;
use switchboard_tests::wait;

use super::setting::Scene;

/// Sets the address, sends an event, checks its copy, and clears the address.
pub(super) async fn signed(scene: &Scene<'_>) {
    let body = json!({ "url": scene.sink.url("/mine") });
    let set = scene
        .operator
        .does(Method::PUT, "/admin/endpoint", Some(body))
        .await;
    let secret = set["secret"].as_str().expect("a secret, the first time");
    let event = copied(scene).await;
    let copies = wait::until("the copy came", async || {
        let copies = scene.came_to("/mine");
        (!copies.is_empty()).then_some(copies)
    })
    .await;
    let [copy] = &copies[..] else {
        panic!("expected one copy, found {copies:#?}")
    };
    assert_eq!(copy.header("switchboard-event"), event);
    let scheme = Scheme::named("standard-webhooks").expect("a scheme");
    let key = (scheme.key)(&Secret::new(secret).expect("a secret")).expect("a key");
    let held = scheme::verify(scheme, &[key], &copy.headers, &copy.body, now());
    assert!(
        held.is_ok(),
        "the signature of the copy does not hold: {copy:?}"
    );
    assert_eq!(copy.header("webhook-id"), copy.key());
    scene
        .operator
        .does(Method::DELETE, "/admin/endpoint", None)
        .await;
}

/// Sends events until one is copied, and gives its id: the ingress may have read the settings just before they changed.
async fn copied(scene: &Scene<'_>) -> String {
    let body = "{\"type\":\"form.submitted\",\"data\":{\"email\":\"zoe@example.com\"}}";
    let number = AtomicU32::new(0);
    wait::until("an event is copied", async || {
        let id = format!("msg_copied_{}", number.fetch_add(1, Ordering::Relaxed));
        let sent = scene
            .sender("forms")
            .send(&id, "form.submitted", body)
            .await;
        let event = sent.event();
        let told = scene.operator.get(&format!("/api/events/{event}")).await;
        let is_copied = told["delivery_list"].to_string().contains("your-endpoint");
        scene.count(1, if is_copied { 3 } else { 2 });
        is_copied.then_some(event)
    })
    .await
}
