//! A replay whose transaction the service cancels.

use switchboard_core::delivery::DeliveryKey;
use switchboard_core::identity::Run;
use switchboard_core::ports::{Ledger, Queued};
use switchboard_testkit::emulator::Emulator;

use crate::ground::Ground;
use crate::lost::times;
use crate::proxy::{Fate, Proxy};
use crate::sample::{KEEP, clients_at, event, plan};
use crate::support::START;

/// The answer of a transaction that is cancelled for this reason.
fn cancelled(reason: &str) -> String {
    format!(
        r#"{{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","Message":"Transaction cancelled, please refer cancellation reasons for specific reasons [None, {reason}]","CancellationReasons":[{{"Code":"None"}},{{"Code":"{reason}"}}]}}"#
    )
}

/// Replays an event while its first `count` transactions are cancelled; what came of it, and how many were made.
async fn replayed(reason: &'static str, count: usize) -> (Result<bool, String>, usize) {
    let ground = Ground::new().await;
    let event = event("1001", 10);
    let planned = plan(&event, 1, START);
    let backend = ground.open();
    let accepted = backend.accept(&event, &planned, KEEP).await;
    accepted.expect("stored");
    let mut seen = 0;
    let proxy = Proxy::start(Emulator::shared().address(), move |request| {
        if request.operation != "TransactWriteItems" {
            return Fate::Passed;
        }
        seen += 1;
        if seen > count {
            Fate::Passed
        } else {
            Fate::Refused(cancelled(reason))
        }
    });
    let clients = clients_at(&proxy.url(), ground.account());
    let cancelled = ground.open_with(&clients, ground.place.clone());
    let first = &planned[0].key;
    let (to, action) = (first.destination.clone(), first.action.clone());
    let key = DeliveryKey::of(&event.id, to, action, Run(1));
    let run = [Queued { key, due: START }];
    let told = cancelled.replay(&event.id, Run(1), &run).await;
    let told = told.map_err(|error| error.line());
    let stands = ground.sorts(&event.id, "P#").await.len() == 1;
    assert_eq!(told.is_ok(), stands, "{told:?}");
    (told, times(&proxy, "TransactWriteItems"))
}

#[tokio::test]
async fn a_replay_that_is_throttled_fails_and_says_so() {
    for reason in ["ThrottlingError", "ProvisionedThroughputExceeded"] {
        let (told, made) = replayed(reason, 1).await;
        let line = told.expect_err("nothing is claimed");
        assert!(line.contains(reason), "{line}");
        assert_eq!(made, 1, "others were not first");
    }
}

#[tokio::test]
async fn a_replay_that_meets_another_transaction_is_made_again_within_bounds() {
    let (told, made) = replayed("TransactionConflict", 2).await;
    assert_eq!((told, made), (Ok(true), 3));
    let (told, made) = replayed("TransactionConflict", usize::MAX).await;
    told.expect_err("it is given up");
    assert!((2..=20).contains(&made), "{made} times");
}
