//! Events are posted, delivered and refused while it dies.

use http::StatusCode;
use switchboard_tests::sender::Sender;
use switchboard_tests::setting::sender;
use switchboard_tests::switchboard::Switchboard;
use tokio::task::JoinSet;

use super::Scene;
use crate::book::Manner;
use crate::death::Death;
use crate::promise::holds;

/// Senders at once, and the most events that each posts.
const SENDERS: usize = 3;
const EVENTS: usize = 60;

/// What the senders know.
#[derive(Default)]
pub(super) struct Sent {
    /// Events that were answered 200.
    pub(super) answered: Vec<String>,
    /// Sender's ids of events without an answer.
    pub(super) unanswered: Vec<String>,
}

/// Posts until it dies, or every sender has posted its events.
pub(super) async fn post(switchboard: &Switchboard, events: usize) -> Sent {
    let mut senders = JoinSet::new();
    for number in 0..SENDERS {
        let shop = sender(switchboard, "shop");
        senders.spawn(post_one(shop, number, events));
    }
    let mut all = Sent::default();
    for mut sent in senders.join_all().await {
        all.answered.append(&mut sent.answered);
        all.unanswered.append(&mut sent.unanswered);
    }
    all
}

async fn post_one(shop: Sender, number: usize, events: usize) -> Sent {
    let mut sent = Sent::default();
    for nth in 0..events {
        let id = format!("sender-{number}-{nth}");
        let headers = shop.headers(&id, "orders/create", b"{}");
        let Some(answer) = shop.tried(headers, "{}").await else {
            sent.unanswered.push(id);
            break;
        };
        assert_eq!(answer.status, StatusCode::OK, "{id}");
        sent.answered.push(answer.event());
    }
    sent
}

/// Dies while events are posted and delivered. Of the senders without an answer one tries again, the others do not.
pub(super) async fn posting(death: Death) {
    let scene = Scene::new(Manner::Badly).await;
    let folder = tempfile::tempdir().expect("a folder");
    let mut sent = Sent::default();
    let folder = match death.begun(folder, scene.start.clone()).await {
        Ok(switchboard) => {
            sent = post(&switchboard, EVENTS).await;
            death.came(switchboard).await
        }
        Err(folder) => folder,
    };
    let switchboard = Switchboard::start_in(folder, scene.start.clone()).await;
    if let Some(id) = sent.unanswered.first() {
        let shop = sender(&switchboard, "shop");
        let again = shop.send(id, "orders/create", "{}").await;
        assert_eq!(again.status, StatusCode::OK);
        sent.answered.push(again.event());
    }
    holds(&switchboard, &sent.answered, &scene.book).await;
}

/// Dies while requests are refused: at most the one without an answer is counted besides those that have one.
pub(super) async fn refused(death: Death) {
    let scene = Scene::new(Manner::Well).await;
    let folder = tempfile::tempdir().expect("a folder");
    let switchboard = death.begun(folder, scene.start.clone()).await;
    let switchboard = switchboard.expect("it serves until something is refused");
    let shop = sender(&switchboard, "shop");
    let mut refused = 0;
    loop {
        let headers = shop.headers("id-1", "orders/create", b"another body");
        match shop.tried(headers, "{}").await {
            Some(answer) => assert_eq!(answer.status, StatusCode::UNAUTHORIZED),
            None => break,
        }
        refused += 1;
        assert!(refused < 100, "{death}: never hit");
    }
    let folder = death.came(switchboard).await;
    let switchboard = Switchboard::start_in(folder, scene.start.clone()).await;
    let counted = switchboard.total("refused").await;
    assert!(
        counted == refused || counted == refused + 1,
        "{refused} were answered 401, {counted} are counted"
    );
    let event = sender(&switchboard, "shop")
        .send("id-1", "orders/create", "{}")
        .await;
    assert_eq!(event.body["status"], "accepted", "nothing was stored of it");
    holds(&switchboard, &[event.event()], &scene.book).await;
}
