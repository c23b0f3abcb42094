//! The store takes nothing for a while; when it takes events again, it dies before it has written what it counted.

use http::StatusCode;
use switchboard_tests::setting::sender;
use switchboard_tests::strace::Strace;
use switchboard_tests::switchboard::Switchboard;

use super::Scene;
use crate::book::Manner;
use crate::death::Death;
use crate::promise::holds;

/// Events and deliveries are exact; of what was declined the counts in memory are lost, and no more.
pub(super) async fn counting(death: Death) {
    let scene = Scene::new(Manner::Well).await;
    let folder = tempfile::tempdir().expect("a folder");
    let switchboard = death.begun(folder, scene.start.clone()).await;
    let switchboard = switchboard.expect("it serves until it counts");
    let shop = sender(&switchboard, "shop");
    let before = shop.send("before", "other", "{}").await.event();
    switchboard.wait_total("delivered", 1).await;
    let trace = switchboard.folder().join("trace");
    let strace = Strace::attach(
        switchboard.id(),
        &trace,
        &["-e", "inject=pwrite64:error=ENOSPC"],
    )
    .await;
    let declined = shop.send("while", "other", "{}").await;
    assert_eq!(declined.status, StatusCode::SERVICE_UNAVAILABLE);
    strace.detach().await;
    // Its step stands, but it is not answered: the counts come first.
    let headers = shop.headers("after", "other", b"{}");
    let answer = shop.tried(headers, "{}").await;
    assert!(answer.is_none(), "{death}: it answers {answer:?}");
    let folder = death.came(switchboard).await;
    let switchboard = Switchboard::start_in(folder, scene.start.clone()).await;
    let again = sender(&switchboard, "shop")
        .send("after", "other", "{}")
        .await;
    assert_eq!(again.status, StatusCode::OK);
    holds(&switchboard, &[before, again.event()], &scene.book).await;
    assert_eq!(
        switchboard.total("declined").await,
        0,
        "it died with the process"
    );
}
