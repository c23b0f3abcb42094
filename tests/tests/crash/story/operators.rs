//! Operators ask for something while it dies.

use http::{Method, StatusCode};
use serde_json::{Value, json};
use switchboard_tests::setting::sender;
use switchboard_tests::switchboard::Switchboard;

use super::posting::post;
use super::{Scene, Wish};
use crate::book::Manner;
use crate::death::Death;
use crate::promise::{holds, wait_overview};

/// Asks for something that must be granted.
pub(super) async fn ask(
    switchboard: &Switchboard,
    method: Method,
    path: &str,
    body: Option<Value>,
) -> Value {
    let (status, answer) = switchboard.ask(method, path, body).await;
    assert_eq!(status, StatusCode::OK, "{path}: {answer}");
    answer
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
