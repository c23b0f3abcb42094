//! Events of an hour that is over, as the backend itself would have stored and recorded them then: the keeper walks over
//! events only when they are an hour old, and nobody waits for that.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use switchboard_core::attempt::Attempt;
use switchboard_core::delivery::{AttemptRecord, DeliveryKey, Next, Verdict};
use switchboard_core::event::Event;
use switchboard_core::forward::KeptHeaders;
use switchboard_core::identity::{EventId, Run};
use switchboard_core::names::{ActionName, DestinationName, Kind, SenderId, SourceName};
use switchboard_core::ports::{Keep, Ledger, Queued};
use switchboard_core::time::Timestamp;
use switchboard_testkit::clock::HandClock;
use switchboard_tests::sender::now;

use crate::board::{Board, DESTINATIONS};

/// How long events are kept.
const KEEP: Keep = Keep { days: 30 };
const HOUR: i64 = 3_600_000;
const MINUTE: i64 = 60_000;
/// Events of the hour: one in each of its minutes, so that the counters of the hour are all there.
pub const EVENTS: u32 = 60;

/// The beginning of the last whole hour that is over for more than an hour.
fn hour() -> i64 {
    let ended = now().millis() - HOUR - 5 * MINUTE;
    (ended.div_euclid(HOUR) - 1) * HOUR
}

/// An event of a source in each minute of that hour, delivered to the first so many destinations at the first attempt.
pub async fn fill(board: &Board, source: &str, destinations: usize) {
    // Looked up once: meanwhile another hour may be over.
    let hour = hour();
    let clock = Arc::new(HandClock::at(Timestamp::from_millis(hour)));
    let aws = board.backend(clock.clone());
    for nth in 0..EVENTS {
        let at = Timestamp::from_millis(hour + i64::from(nth) * MINUTE);
        deliver(&aws, source, nth, destinations, at).await;
        clock.advance(Duration::from_mins(1));
    }
}

async fn deliver(ledger: &impl Ledger, source: &str, nth: u32, destinations: usize, at: Timestamp) {
    let source = SourceName::parse(source).expect("a name");
    let sender_id = SenderId::new(&format!("b54557e4-bdd9-4b37-8a5f-{nth:012}"));
    let sender_id = sender_id.expect("an id");
    let event = Event {
        id: EventId::of(&source, &sender_id),
        source,
        sender_id,
        kind: Kind::new("orders/create").expect("a kind"),
        received_at: at,
        headers: KeptHeaders::from_lines(b"content-type: application/json\n"),
        body: Bytes::from(vec![b'x'; 1024]),
    };
    let planned = DESTINATIONS.iter().take(destinations);
    let plan: Vec<Queued> = planned
        .map(|(name, action)| Queued {
            key: DeliveryKey::of(
                &event.id,
                DestinationName::parse(name).expect("a name"),
                ActionName::parse(action).expect("a name"),
                Run(0),
            ),
            due: at,
        })
        .collect();
    ledger.accept(&event, &plan, KEEP).await.expect("stored");
    let event = Arc::new(event);
    for queued in plan {
        let attempt = Attempt {
            key: queued.key,
            event: Arc::clone(&event),
            number: 1,
            in_round: 1,
        };
        let record = AttemptRecord {
            number: 1,
            at,
            duration_ms: 50,
            outcome: Verdict::Delivered,
            status: Some(200),
            detail: String::new(),
        };
        let recorded = ledger.record(&attempt, &record, Next::Delivered, KEEP);
        recorded.await.expect("recorded");
    }
}
