//! Operators ask for something, or lanes and recovery finish what they asked for, while it dies.

use http::{Method, StatusCode};
use serde_json::{Value, json};
use switchboard_tests::setting::sender;
use switchboard_tests::switchboard::Switchboard;

use super::posting::post;
use super::{Scene, Wish};
use crate::book::Manner;
use crate::death::Death;
use crate::promise::{holds, list, text, wait_overview};
use crate::stored::{self, State};

/// Asks for something that must be granted.
async fn ask(switchboard: &Switchboard, method: Method, path: &str, body: Option<Value>) -> Value {
    let (status, answer) = switchboard.ask(method, path, body).await;
    assert_eq!(status, StatusCode::OK, "{path}: {answer}");
    answer
}

/// The deliveries of a destination that is not configured any more become dead letters, each once.
pub(super) async fn burying(death: Death) {
    let scene = Scene::new(Manner::Well).await;
    let folder = stored::deliveries(700, "gone", State::Waiting).await;
    let folder = death.at_start(folder, scene.start.clone()).await;
    let switchboard = Switchboard::start_in(folder, scene.start.clone()).await;
    holds(&switchboard, &[], &scene.book).await;
    let dead = list(&switchboard, "/api/dead-letters").await;
    assert_eq!(dead.len(), 700);
    let why = |letter: &Value| text(letter, "reason").to_owned();
    let first = why(&dead[0]);
    assert!(dead.iter().all(|letter| why(letter) == first), "{first}");
}

/// What a destination that is held should get is held, and delivered after its release.
pub(super) async fn holding(death: Death) {
    let scene = Scene::new(Manner::Well).await;
    let switchboard = Switchboard::start(scene.start.clone()).await;
    let accounting = json!({ "destination": "accounting" });
    ask(
        &switchboard,
        Method::POST,
        "/admin/hold",
        Some(accounting.clone()),
    )
    .await;
    let (folder, _) = switchboard.kill().await;
    let mut answered = Vec::new();
    let folder = match death.begun(folder, scene.start.clone()).await {
        Ok(switchboard) => {
            answered = post(&switchboard, 20).await.answered;
            death.came(switchboard).await
        }
        Err(folder) => folder,
    };
    let switchboard = Switchboard::start_in(folder, scene.start.clone()).await;
    wait_overview(&switchboard, "/held", json!(["accounting"])).await;
    holds(&switchboard, &answered, &scene.book).await;
    let delivered_to = |path: &str| {
        scene
            .book
            .entries()
            .values()
            .filter(|entry| entry.path == path)
            .count()
    };
    assert_eq!(delivered_to("/accounting"), 0, "it is held");
    let release = json!({ "destination": "accounting", "per_second": 1000 });
    ask(&switchboard, Method::POST, "/admin/release", Some(release)).await;
    holds(&switchboard, &answered, &scene.book).await;
    assert_eq!(switchboard.total("held").await, 0);
    assert_eq!(delivered_to("/accounting"), delivered_to("/warehouse"));
}

/// Dies when an operator's wish is stored; after the start it is granted, and the same wish again finds it so.
pub(super) async fn wishing(death: Death, wish: Wish) {
    let scene = Scene::new(Manner::Well).await;
    let endpoint = json!({ "url": scene.sink.url("/copies") });
    let accounting = json!({ "destination": "accounting" });
    let (method, path, body) = match wish {
        Wish::Hold => (Method::POST, "/admin/hold", Some(accounting.clone())),
        Wish::Release => (Method::POST, "/admin/release", Some(accounting.clone())),
        Wish::SetEndpoint => (Method::PUT, "/admin/endpoint", Some(endpoint.clone())),
        Wish::RotateEndpoint => (Method::POST, "/admin/endpoint/rotate", None),
        Wish::ClearEndpoint => (Method::DELETE, "/admin/endpoint", None),
    };
    let switchboard = Switchboard::start(scene.start.clone()).await;
    match wish {
        Wish::Hold | Wish::SetEndpoint => {}
        Wish::Release => {
            ask(&switchboard, Method::POST, "/admin/hold", Some(accounting)).await;
        }
        // What is stored meanwhile has an open copy.
        Wish::RotateEndpoint | Wish::ClearEndpoint => {
            scene.book.keep(&scene.sink, Manner::Not);
            ask(&switchboard, Method::PUT, "/admin/endpoint", Some(endpoint)).await;
        }
    }
    let shop = sender(&switchboard, "shop");
    let mut answered = Vec::new();
    for n in 0..5 {
        answered.push(
            shop.send(&format!("before-{n}"), "other", "{}")
                .await
                .event(),
        );
    }
    if let Wish::Release = wish {
        switchboard.wait_total("held", 5).await;
    }
    let (folder, _) = switchboard.kill().await;
    let switchboard = death.begun(folder, scene.start.clone()).await;
    let switchboard = switchboard.expect("it serves until it is asked");
    let answer = switchboard.asked(method.clone(), path, body.clone()).await;
    assert_eq!(answer, None, "{death}: it answers");
    let folder = death.came(switchboard).await;
    let cleared = matches!(wish, Wish::ClearEndpoint);
    if !cleared {
        scene.book.keep(&scene.sink, Manner::Well);
    }
    let switchboard = Switchboard::start_in(folder, scene.start.clone()).await;
    granted(&switchboard, wish).await;
    ask(&switchboard, method, path, body).await;
    granted(&switchboard, wish).await;
    let shop = sender(&switchboard, "shop");
    answered.push(shop.send("after", "other", "{}").await.event());
    holds(&switchboard, &answered, &scene.book).await;
}

/// Whether what was wished for stands.
async fn granted(switchboard: &Switchboard, wish: Wish) {
    let (part, value) = match wish {
        Wish::Hold => ("/held", json!(["accounting"])),
        Wish::Release => ("/held", json!([])),
        Wish::SetEndpoint | Wish::RotateEndpoint => ("/your_endpoint/set", json!(true)),
        Wish::ClearEndpoint => ("/your_endpoint/set", json!(false)),
    };
    let overview = switchboard.get("/api/overview").await;
    assert_eq!(overview.pointer(part), Some(&value), "{overview}");
    // Nobody asks again for what a cut release or clearing left.
    match wish {
        Wish::Release => wait_overview(switchboard, "/totals/held", json!(0)).await,
        Wish::ClearEndpoint => {
            wait_overview(switchboard, "/destinations/your-endpoint/waiting", json!(0)).await;
        }
        Wish::Hold | Wish::SetEndpoint | Wish::RotateEndpoint => {}
    }
}

/// Dies in a redrive; each dead letter is one still or waits, and the same call again moves the rest.
pub(super) async fn redriving(death: Death, dead: u32) {
    let scene = Scene::new(Manner::Well).await;
    let folder = stored::deliveries(dead, "accounting", State::Dead).await;
    let switchboard = death.begun(folder, scene.start.clone()).await;
    let switchboard = switchboard.expect("it serves until it is asked");
    let all = json!({ "all": true });
    let answer = switchboard
        .asked(Method::POST, "/admin/redrive", Some(all.clone()))
        .await;
    assert_eq!(answer, None, "{death}: it answers");
    let folder = death.came(switchboard).await;
    let switchboard = Switchboard::start_in(folder, scene.start.clone()).await;
    let left = list(&switchboard, "/api/dead-letters").await.len();
    let answer = ask(&switchboard, Method::POST, "/admin/redrive", Some(all)).await;
    assert_eq!(answer, json!({ "redriven": left, "left": 0 }));
    holds(&switchboard, &[], &scene.book).await;
    assert_eq!(switchboard.total("delivered").await, u64::from(dead));
    assert_eq!(
        scene.book.entries().len(),
        usize::try_from(dead).expect("a number")
    );
}

/// Dies while it recovers what a cut release left; nobody asks for it again.
pub(super) async fn recovering(death: Death, held: u32) {
    let scene = Scene::new(Manner::Well).await;
    let folder = stored::deliveries(held, "accounting", State::Held).await;
    let folder = death.at_start(folder, scene.start.clone()).await;
    let switchboard = Switchboard::start_in(folder, scene.start.clone()).await;
    wait_overview(&switchboard, "/totals/held", json!(0)).await;
    holds(&switchboard, &[], &scene.book).await;
    assert_eq!(switchboard.total("delivered").await, u64::from(held));
}
