//! Sending hints: every entry of a request is answered for by itself.

use std::time::Duration;

use serde_json::{Value, json};
use switchboard_aws::Aws;
use switchboard_aws::client::Clients;
use switchboard_core::delivery::{DeliveryKey, Next};
use switchboard_core::event::Event;
use switchboard_core::ports::{Accepted, Ledger, SameBody};
use switchboard_core::time::Timestamp;
use switchboard_testkit::emulator::Emulator;

use crate::ground::Ground;
use crate::proxy::{Fate, Proxy, Request};
use crate::sample::{KEEP, clients_at, event, go, plan, received, unanswered};
use crate::support::START;

fn ids(request: &Request) -> Vec<String> {
    let body: Value = serde_json::from_str(&request.body).expect("JSON");
    let entries = body["Entries"].as_array().expect("entries").clone();
    let id = |entry: &Value| entry["Id"].as_str().expect("an id").to_owned();
    entries.iter().map(id).collect()
}

/// An answer that refuses these entries.
fn refusing(request: &Request, refused: &[&str]) -> Fate {
    let (no, yes): (Vec<_>, Vec<_>) = ids(request)
        .into_iter()
        .partition(|id| refused.contains(&id.as_str()));
    let yes = yes.iter().map(
        |id| json!({"Id": id, "MessageId": id, "MD5OfMessageBody": "00000000000000000000000000000000"}),
    );
    let no = no
        .iter()
        .map(|id| json!({"Id": id, "SenderFault": false, "Code": "InternalError"}));
    let answer = json!({
        "Successful": yes.collect::<Vec<_>>(),
        "Failed": no.collect::<Vec<_>>(),
    });
    Fate::Answered(answer.to_string())
}

/// The clients of a ground whose queue is the proxy.
fn queueing_at(ground: &Ground, proxy: &Proxy) -> Clients {
    Clients {
        sqs: clients_at(&proxy.url(), ground.account()).sqs,
        ..ground.clients.clone()
    }
}

#[tokio::test]
async fn what_the_queue_refuses_is_sent_once_more_and_nothing_else_is() {
    let ground = Ground::new().await;
    let mut first = true;
    let proxy = Proxy::start(Emulator::shared().address(), move |request| {
        let refused: &[&str] = if first { &["3", "7"] } else { &[] };
        first = false;
        refusing(request, refused)
    });
    let backend = ground.open_with(&queueing_at(&ground, &proxy), ground.place.clone());
    let event = event("1001", 10);
    let accepted = backend.accept(&event, &plan(&event, 12, START), KEEP).await;
    assert_eq!(accepted.expect("stored"), Accepted::New);
    let sent: Vec<_> = proxy.requests().iter().map(ids).collect();
    let all: Vec<String> = (0..10).map(|n| n.to_string()).collect();
    let refused = ["3", "7"].map(str::to_owned).to_vec();
    let rest = ["10", "11"].map(str::to_owned).to_vec();
    assert_eq!(sent, [all, refused, rest]);
}

#[tokio::test]
async fn a_queue_that_refuses_twice_is_told_and_the_event_stands() {
    let ground = Ground::new().await;
    let refuse = |request: &Request| refusing(request, &["1"]);
    let proxy = Proxy::start(Emulator::shared().address(), refuse);
    let backend = ground.open_with(&queueing_at(&ground, &proxy), ground.place.clone());
    let event = event("1001", 10);
    let planned = plan(&event, 2, START);
    let accepted = backend.accept(&event, &planned, KEEP).await;
    let line = accepted.expect_err("one is not queued").line();
    assert!(line.contains("refused 1 of them"), "{line}");
    assert_eq!(proxy.operations().len(), 2);

    // The sender comes again: what has no record is queued, once.
    let again = |seconds| {
        let received_at = START.plus(Duration::from_secs(seconds));
        Event {
            received_at,
            ..event.clone()
        }
    };
    let direct = ground.open();
    for (seconds, expected) in [(9, 0), (11, 2), (12, 0), (40, 0), (42, 2)] {
        let repeat = direct.accept(&again(seconds), &planned, KEEP).await;
        let repeat = repeat.expect("counted");
        assert_eq!(repeat, Accepted::Repeat(SameBody::Yes));
        let hints = received(&ground.clients, &ground.place.deliveries).await;
        assert_eq!(hints.len(), expected, "after {seconds} s");
    }
}

#[tokio::test]
async fn a_hint_is_delayed_by_whole_seconds_and_grouped_by_its_destination() {
    let ground = Ground::new().await;
    let proxy = Proxy::start(Emulator::shared().address(), |request| {
        refusing(request, &[])
    });
    let backend = ground.open_with(&queueing_at(&ground, &proxy), ground.place.clone());
    for (millis, seconds) in [(0, 0), (999, 0), (2_391, 2), (720_000, 720)] {
        let event = event(&millis.to_string(), 10);
        let due = START.plus(Duration::from_millis(millis));
        let accepted = backend.accept(&event, &plan(&event, 1, due), KEEP).await;
        accepted.expect("stored");
        let sent = proxy.requests().pop().expect("a request");
        let sent: Value = serde_json::from_str(&sent.body).expect("JSON");
        let entry = &sent["Entries"][0];
        assert_eq!(entry["DelaySeconds"], seconds, "{millis} ms");
        assert_eq!(entry["MessageGroupId"], "to-0");
    }
}

#[tokio::test]
async fn what_is_due_beyond_twelve_minutes_sends_nothing_and_is_looked_at_ten_minutes_before() {
    let ground = Ground::new().await;
    let backend = ground.open();
    let event = event("1001", 10);
    let planned = plan(&event, 1, START);
    backend
        .accept(&event, &planned, KEEP)
        .await
        .expect("stored");
    let queue = &ground.place.deliveries;
    assert_eq!(received(&ground.clients, queue).await.len(), 1);
    let queued = planned.first().expect("planned");
    let attempt = go(&backend, queued).await;
    let due = START.plus(Duration::from_millis(720_001));
    let recorded = backend
        .record(&attempt, &unanswered(&attempt), Next::Waiting(due), KEEP)
        .await;
    recorded.expect("recorded");
    assert_eq!(received(&ground.clients, queue).await, [""; 0]);
    let look = ground.attribute(&queued.key, "lk").await;
    assert_eq!(look, Some((due.millis() - 600_000).to_string()));

    // The same holds of what is planned so.
    let far = event_due(&backend, due).await;
    assert_eq!(received(&ground.clients, queue).await, [""; 0]);
    let look = ground.attribute(&far, "lk").await;
    assert_eq!(look, Some((due.millis() - 600_000).to_string()));
}

/// Accepts an event whose one delivery is due then.
async fn event_due(backend: &Aws, due: Timestamp) -> DeliveryKey {
    let event = event("far", 10);
    let planned = plan(&event, 1, due);
    backend
        .accept(&event, &planned, KEEP)
        .await
        .expect("stored");
    planned.into_iter().next().expect("planned").key
}
