//! Events with their plans, outcomes of attempts, and what a queue holds.

use std::time::Duration;

use bytes::Bytes;
use switchboard_aws::Aws;
use switchboard_aws::client::{Clients, clients_within};
use switchboard_aws::message::Message;
use switchboard_aws::testing::environment;
use switchboard_core::attempt::Attempt;
use switchboard_core::delivery::{AttemptRecord, DeliveryKey, Outcome, Unanswered};
use switchboard_core::event::Event;
use switchboard_core::forward::KeptHeaders;
use switchboard_core::identity::{EventId, Run};
use switchboard_core::names::{ActionName, DestinationName, Kind, SenderId, SourceName};
use switchboard_core::piece::Piece;
use switchboard_core::ports::{Begun, Hint, Keep, Ledger, Queued};
use switchboard_core::time::Timestamp;

use crate::support::START;

pub(crate) const KEEP: Keep = Keep { days: 30 };

/// An event of `length` bytes.
pub(crate) fn event(id: &str, length: usize) -> Event {
    let source = SourceName::parse("shop").expect("a name");
    let sender_id = SenderId::new(id).expect("an id");
    let body: Vec<u8> = (0..=250).cycle().take(length).collect();
    Event {
        id: EventId::of(&source, &sender_id),
        source,
        sender_id,
        kind: Kind::new("orders/create").expect("a kind"),
        received_at: START,
        headers: KeptHeaders::from_lines(b"content-type: application/json\n"),
        body: Bytes::from(body),
    }
}

pub(crate) fn to(name: &str) -> DestinationName {
    DestinationName::parse(name).expect("a name")
}

/// A plan of `count` deliveries that are due at `due`.
pub(crate) fn plan(event: &Event, count: u32, due: Timestamp) -> Vec<Queued> {
    let queued = |n| {
        let to = to(&format!("to-{n}"));
        let key = DeliveryKey::of(&event.id, to, ActionName::deliver(), Run(0));
        Queued { key, due }
    };
    (0..count).map(queued).collect()
}

pub(crate) fn hint(queued: &Queued) -> Hint {
    Hint {
        event: queued.key.event.clone(),
        delivery: queued.key.id.clone(),
        due: queued.due,
    }
}

/// Begins an attempt that is due.
pub(crate) async fn go(backend: &Aws, queued: &Queued) -> Attempt {
    let begun = backend.begin(&hint(queued), queued.due).await;
    match begun.expect("an answer") {
        Begun::Go(attempt) => *attempt,
        other @ (Begun::Later(_) | Begun::Drop) => panic!("it may be attempted, not {other:?}"),
    }
}

pub(crate) fn delivered(attempt: &Attempt) -> AttemptRecord {
    let outcome = Outcome::Answered {
        status: 200,
        piece: Piece::default(),
    };
    AttemptRecord::new(attempt.number, START, Duration::from_millis(7), &outcome)
}

pub(crate) fn unanswered(attempt: &Attempt) -> AttemptRecord {
    let outcome = Outcome::Unanswered(Unanswered::TimeLimit);
    AttemptRecord::new(attempt.number, START, Duration::from_secs(3), &outcome)
}

/// What a queue holds and gives out now, each message once.
pub(crate) async fn received(clients: &Clients, queue: &str) -> Vec<String> {
    let mut bodies = Vec::new();
    loop {
        let page = clients
            .sqs
            .receive_message()
            .queue_url(queue)
            .max_number_of_messages(10)
            .send()
            .await
            .expect("an answer");
        let messages = page.messages.unwrap_or_default();
        if messages.is_empty() {
            return bodies;
        }
        bodies.extend(messages.into_iter().filter_map(|message| message.body));
    }
}

/// The hints among them.
pub(crate) async fn hints(clients: &Clients, queue: &str) -> Vec<Message> {
    let read = |text: String| Message::read(&text).expect("a hint");
    received(clients, queue)
        .await
        .into_iter()
        .map(read)
        .collect()
}

/// Clients that reach the services by another address.
pub(crate) fn clients_at(url: &str, account: &str) -> Clients {
    let environment = environment(url, account).expect("an environment");
    clients_within(&environment, Duration::from_mins(1))
}
