//! Many deliveries are moved in steps, by operators, lanes or the recovery, while it dies.

use http::Method;
use serde_json::{Value, json};
use switchboard_tests::setting::sender;
use switchboard_tests::switchboard::Switchboard;

use super::Scene;
use super::operators::ask;
use crate::book::Manner;
use crate::death::Death;
use crate::promise::{holds, text, wait_overview};
use crate::stored::{self, State};

/// The deliveries of a destination that is not configured any more become dead letters, each once.
pub(super) async fn burying(death: Death) {
    let scene = Scene::new(Manner::Well).await;
    let folder = stored::deliveries(700, "gone", State::Waiting).await;
    let folder = death.at_start(folder, scene.start.clone()).await;
    let switchboard = Switchboard::start_in(folder, scene.start.clone()).await;
    holds(&switchboard, &[], &scene.book).await;
    let dead = switchboard.list("/api/dead-letters").await;
    assert_eq!(dead.len(), 700);
    let why = |letter: &Value| text(letter, "reason").to_owned();
    let first = why(&dead[0]);
    assert!(dead.iter().all(|letter| why(letter) == first), "{first}");
}

/// Dies while a lane holds what waits; it is delivered after a release.
pub(super) async fn shelving(death: Death) {
    let scene = Scene::new(Manner::Well).await;
    let folder = stored::deliveries(700, "accounting", State::ToBeHeld).await;
    let folder = death.at_start(folder, scene.start.clone()).await;
    let switchboard = Switchboard::start_in(folder, scene.start.clone()).await;
    switchboard.wait_total("held", 700).await;
    assert_eq!(scene.book.entries().len(), 0, "it is held");
    let release = json!({ "destination": "accounting", "per_second": 1000 });
    ask(&switchboard, Method::POST, "/admin/release", Some(release)).await;
    holds(&switchboard, &[], &scene.book).await;
    assert_eq!(switchboard.total("delivered").await, 700);
}

/// Dies in a redrive; each dead letter is one still or waits, and the same call again moves the rest.
pub(super) async fn redriving(death: Death, dead: u32) {
    let scene = Scene::new(Manner::Well).await;
    let folder = stored::deliveries(dead, "accounting", State::Dead).await;
    let switchboard = death.begun(folder, scene.start.clone()).await;
    let switchboard = switchboard.expect("it serves until it is asked");
    let all = json!({ "all": true });
    let folder = ask_to_death(
        death,
        switchboard,
        Method::POST,
        "/admin/redrive",
        Some(all.clone()),
    )
    .await;
    let switchboard = Switchboard::start_in(folder, scene.start.clone()).await;
    let left = switchboard.list("/api/dead-letters").await.len();
    let answer = ask(&switchboard, Method::POST, "/admin/redrive", Some(all)).await;
    assert_eq!(answer, json!({ "redriven": left, "left": 0 }));
    holds(&switchboard, &[], &scene.book).await;
    assert_eq!(switchboard.total("delivered").await, u64::from(dead));
    assert_eq!(
        scene.book.entries().len(),
        usize::try_from(dead).expect("a number")
    );
}

/// Dies between two steps of a replay; the same call again plans what is missing, and nothing twice.
pub(super) async fn replaying(death: Death, events: u32) {
    let scene = Scene::new(Manner::Well).await;
    let folder = stored::deliveries(events, "accounting", State::Dead).await;
    let switchboard = death.begun(folder, scene.start.clone()).await;
    let switchboard = switchboard.expect("it serves until it is asked");
    let mut wish = json!({ "from": "2025-01-01T00:00:00Z", "per_second": 1000 });
    let begun = ask(
        &switchboard,
        Method::POST,
        "/admin/replay",
        Some(wish.clone()),
    )
    .await;
    assert_eq!(begun["deliveries"], 0, "{begun}");
    wish["progress"] = begun["progress"].clone();
    let again = wish.clone();
    let folder = ask_to_death(
        death,
        switchboard,
        Method::POST,
        "/admin/replay",
        Some(again),
    )
    .await;
    let switchboard = Switchboard::start_in(folder, scene.start.clone()).await;
    while wish["progress"].is_string() {
        let told = ask(
            &switchboard,
            Method::POST,
            "/admin/replay",
            Some(wish.clone()),
        )
        .await;
        wish["progress"] = told["progress"].clone();
    }
    holds(&switchboard, &[], &scene.book).await;
    assert_eq!(switchboard.total("delivered").await, u64::from(events));
}

/// Dies while it recovers what a cut release left; nobody asks for it again.
pub(super) async fn recovering(death: Death, held: u32) {
    let scene = Scene::new(Manner::Well).await;
    let folder = stored::deliveries(held, "accounting", State::Released).await;
    let folder = death.at_start(folder, scene.start.clone()).await;
    let switchboard = Switchboard::start_in(folder, scene.start.clone()).await;
    wait_overview(&switchboard, "/totals/held", json!(0)).await;
    holds(&switchboard, &[], &scene.book).await;
    assert_eq!(switchboard.total("delivered").await, u64::from(held));
}

/// Asks for what it dies of.
async fn ask_to_death(
    death: Death,
    switchboard: Switchboard,
    method: Method,
    path: &str,
    body: Option<Value>,
) -> tempfile::TempDir {
    let answer = switchboard.asked(method, path, body).await;
    assert_eq!(answer, None, "{death}: it answers");
    death.came(switchboard).await
}

/// Dies between two steps of a release; nobody asks for the rest.
pub(super) async fn releasing(death: Death, held: u32) {
    let scene = Scene::new(Manner::Well).await;
    let folder = stored::deliveries(held, "accounting", State::Held).await;
    let switchboard = death.begun(folder, scene.start.clone()).await;
    let switchboard = switchboard.expect("it serves until it is asked");
    // The lanes run, so the recovery of the start is over: it would release some of them.
    let order = sender(&switchboard, "shop")
        .send("1", "orders/create", "{}")
        .await;
    switchboard.wait_total("delivered", 1).await;
    let release = json!({ "destination": "accounting", "per_second": 1000 });
    let folder = ask_to_death(
        death,
        switchboard,
        Method::POST,
        "/admin/release",
        Some(release),
    )
    .await;
    let switchboard = Switchboard::start_in(folder, scene.start.clone()).await;
    wait_overview(&switchboard, "/totals/held", json!(0)).await;
    holds(&switchboard, &[order.event()], &scene.book).await;
    assert_eq!(switchboard.total("delivered").await, u64::from(held) + 2);
}

/// Dies between two steps of a clearing; the rest of the copies dies all the same.
pub(super) async fn clearing(death: Death, open: u32) {
    let scene = Scene::new(Manner::Not).await;
    let folder = stored::deliveries(open, "your-endpoint", State::Waiting).await;
    stored::set_endpoint(&folder, &scene.sink.url("/copies")).await;
    let switchboard = death.begun(folder, scene.start.clone()).await;
    let switchboard = switchboard.expect("it serves until it is asked");
    let folder = ask_to_death(death, switchboard, Method::DELETE, "/admin/endpoint", None).await;
    let switchboard = Switchboard::start_in(folder, scene.start.clone()).await;
    holds(&switchboard, &[], &scene.book).await;
    assert_eq!(switchboard.total("dead").await, u64::from(open));
}
