//! Answers that are lost: the SDK makes the same call again, and the backend knows its own write.

use switchboard_core::delivery::{DeathReason, Next};
use switchboard_core::ports::{Accepted, Ledger, Recorded};
use switchboard_testkit::emulator::Emulator;

use crate::ground::Ground;
use crate::proxy::{Fate, Proxy, Request};
use crate::sample::{KEEP, clients_at, delivered, event, go, hints, plan, received, unanswered};
use crate::support::START;

/// Loses the answer to the first request that `wanted` says.
pub(crate) fn losing(wanted: impl Fn(&Request) -> bool + Send + 'static) -> Proxy {
    let mut lost = false;
    Proxy::start(Emulator::shared().address(), move |request| {
        if !lost && wanted(request) {
            lost = true;
            return Fate::AnswerLost;
        }
        Fate::Passed
    })
}

pub(crate) fn times(proxy: &Proxy, operation: &str) -> usize {
    let operations = proxy.operations();
    operations
        .iter()
        .filter(|found| *found == operation)
        .count()
}

#[tokio::test]
async fn a_put_whose_answer_was_lost_is_new() {
    let ground = Ground::new().await;
    let proxy = losing(|request| request.operation == "PutItem");
    let backend = ground.open_with(
        &clients_at(&proxy.url(), ground.account()),
        ground.place.clone(),
    );
    let event = event("1001", 10);
    let plan = plan(&event, 2, START);
    let accepted = backend.accept(&event, &plan, KEEP).await;
    assert_eq!(accepted.expect("stored"), Accepted::New);
    assert_eq!(times(&proxy, "PutItem"), 2, "it was made again");
    let hints = hints(&ground.clients, &ground.place.deliveries).await;
    assert_eq!(hints.len(), 2, "one for each delivery");
}

#[tokio::test]
async fn a_record_whose_answer_was_lost_is_first() {
    let ground = Ground::new().await;
    let event = event("1001", 10);
    let plan = plan(&event, 3, START);
    let direct = ground.open();
    direct.accept(&event, &plan, KEEP).await.expect("stored");
    received(&ground.clients, &ground.place.deliveries).await;
    let due = START.plus(std::time::Duration::from_secs(1));
    let nexts = [
        (Next::Delivered, "2"),
        (Next::Waiting(due), "0"),
        (Next::Dead(DeathReason::AttemptsUsedUp), "3"),
    ];
    for ((next, state), queued) in nexts.into_iter().zip(&plan) {
        // The record itself is the change that has a log in it.
        let proxy = losing(|request| {
            request.operation == "UpdateItem" && request.body.contains("duration_ms")
        });
        let clients = clients_at(&proxy.url(), ground.account());
        let backend = ground.open_with(&clients, ground.place.clone());
        let attempt = go(&backend, queued).await;
        let record = match next {
            Next::Delivered => delivered(&attempt),
            Next::Waiting(_) | Next::Dead(_) => unanswered(&attempt),
        };
        let recorded = backend.record(&attempt, &record, next, KEEP).await;
        assert_eq!(recorded.expect("recorded"), Recorded::First, "{next:?}");
        let found = async |name| ground.attribute(&queued.key, name).await.expect(name);
        let stands = (found("st").await, found("n").await);
        assert_eq!(stands, (state.to_owned(), "1".to_owned()), "{next:?}");
        let log = found("log").await;
        assert_eq!(log.matches("duration_ms").count(), 1, "{next:?}: kept once");
        let made = proxy.requests();
        let made = made.iter().filter(|r| r.body.contains("duration_ms"));
        assert_eq!(made.count(), 2, "{next:?}: it was made again");
    }
    let tickets = received(&ground.clients, &ground.place.dead_letters).await;
    assert_eq!(tickets.len(), 1, "one ticket");
}

#[tokio::test]
async fn a_record_whose_hint_was_not_sent_is_completed_by_the_same_call() {
    let ground = Ground::new().await;
    let event = event("1001", 10);
    let plan = plan(&event, 1, START);
    let backend = ground.open();
    backend.accept(&event, &plan, KEEP).await.expect("stored");
    received(&ground.clients, &ground.place.deliveries).await;
    let queued = plan.first().expect("planned");
    let nowhere = switchboard_aws::Place {
        deliveries: format!("{}-gone", ground.place.deliveries),
        ..ground.place.clone()
    };
    let cut = ground.open_with(&ground.clients, nowhere);
    let attempt = go(&cut, queued).await;
    let (record, next) = (unanswered(&attempt), Next::Waiting(START));
    let recorded = cut.record(&attempt, &record, next, KEEP).await;
    recorded.expect_err("the hint was not sent");

    for _ in 0..2 {
        let again = backend.record(&attempt, &record, next, KEEP).await;
        assert_eq!(again.expect("completed"), Recorded::Stale);
        let hints = hints(&ground.clients, &ground.place.deliveries).await;
        let hint = hints.first().expect("the hint that was left");
        assert_eq!((&hint.key, hint.due), (&queued.key, START));
    }
    let other = backend
        .record(&attempt, &delivered(&attempt), next, KEEP)
        .await;
    assert_eq!(other.expect("an answer"), Recorded::Stale);
    let none = hints(&ground.clients, &ground.place.deliveries).await;
    assert_eq!(
        none,
        [],
        "what another recorded is not the call's to complete"
    );
}
