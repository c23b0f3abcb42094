//! Your endpoint: a copy of each event while its address is set, signed.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use http::Method;
use serde_json::json;
use switchboard_core::scheme::{self, Scheme};
use switchboard_core::secret::Secret;
use switchboard_tests::sender::now;
use switchboard_tests::wait;

use super::setting::Scene;

/// How long a function may go by settings that were changed meanwhile, and a second for its answer.
const OLD_SETTINGS: Duration = Duration::from_secs(5 + 1);

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
    // Until then an event may be copied still, and the copy be delivered or die. Nothing but the time shows it from outside.
    let cleared = now();
    wait::until("every function knows that it is cleared", async || {
        (now().since(cleared) >= OLD_SETTINGS).then_some(())
    })
    .await;
    let (_, is_copied) = send(scene, "msg_not_copied").await;
    assert!(!is_copied, "the address was cleared {OLD_SETTINGS:?} ago");
}

/// Sends events until one is copied, and gives its id: the ingress may have read the settings just before they changed.
async fn copied(scene: &Scene<'_>) -> String {
    let number = AtomicU32::new(0);
    wait::until("an event is copied", async || {
        let id = format!("msg_copied_{}", number.fetch_add(1, Ordering::Relaxed));
        let (event, is_copied) = send(scene, &id).await;
        is_copied.then_some(event)
    })
    .await
}

/// Sends an event; its id, and whether a copy is planned of it.
async fn send(scene: &Scene<'_>, id: &str) -> (String, bool) {
    let body = "{\"type\":\"form.submitted\",\"data\":{\"email\":\"zoe@example.com\"}}";
    let sent = scene.sender("forms").send(id, "form.submitted", body).await;
    let event = sent.event();
    let told = scene.operator.get(&format!("/api/events/{event}")).await;
    let is_copied = told["delivery_list"].to_string().contains("your-endpoint");
    scene.count(1, if is_copied { 3 } else { 2 });
    (event, is_copied)
}
