//! What the backend in memory shows unless a test says otherwise: one event whose delivery is dead, and all around it.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::body::Bytes;
use http::HeaderMap;
use switchboard_core::alert::{Record, Standing};
use switchboard_core::delivery::{AttemptRecord, State, Verdict};
use switchboard_core::event::Event;
use switchboard_core::forward::KeptHeaders;
use switchboard_core::identity::Run;
use switchboard_core::names::{ActionName, Kind, SenderId};
use switchboard_core::piece::Piece;
use switchboard_core::refusal::Refusal;
use switchboard_core::views::{
    Bound, DeadLetter, DeadLetterGroup, DeadLetterGroups, Declined, DeclinedCount, DeliveryView,
    DestinationTotals, EventRow, EventView, Health, LastFailure, Looked, Overview, QueueDepth,
    Recent, RefusalRow, SourceHealth, SourceTotals, Totals, minute_of,
};

use crate::fake::Shown;

use crate::desk::{
    BODY, HOSTILE, LONG_NUMBER, NOW, PROOF, delivery_id, destination, event_id, source,
};

/// The event as it was stored: bytes that are no text, and headers of every kind.
fn stored() -> Event {
    let headers = [
        ("content-type", "application/json"),
        ("x-shopify-topic", "orders/create"),
        ("x-shopify-hmac-sha256", PROOF),
    ];
    let headers = headers.map(|(name, value)| {
        let name = http::HeaderName::from_static(name);
        (name, http::HeaderValue::from_static(value))
    });
    Event {
        id: event_id(),
        source: source("shop"),
        sender_id: SenderId::new(LONG_NUMBER).expect("id"),
        kind: Kind::new(HOSTILE).expect("kind"),
        received_at: NOW,
        headers: KeptHeaders::of(&HeaderMap::from_iter(headers)),
        body: Bytes::from_static(BODY),
    }
}

fn recent() -> Recent {
    let mut recent = Recent::quiet(NOW);
    recent
        .minute_mut(minute_of(NOW))
        .expect("the running minute")
        .failures = 6;
    let health = Health {
        failed: 6,
        p50_ms: Some(Bound {
            ms: 20,
            or_more: false,
        }),
        p95_ms: Some(Bound {
            ms: 10_000,
            or_more: true,
        }),
        last_failure: Some(LastFailure {
            at: NOW,
            why: "answer 503".to_owned(),
        }),
        in_flight: Some(0),
        oldest_due: Some(NOW),
        ..Health::default()
    };
    recent
        .destinations
        .insert(destination("accounting"), health);
    let shop = SourceHealth {
        last_event: Some(NOW),
        last_refusal: None,
    };
    recent.sources.insert(source("shop"), shop);
    recent.queue = Some(QueueDepth::default());
    recent
}

pub(crate) fn shown() -> Shown {
    let kind = Kind::new(HOSTILE).expect("kind");
    let row = EventRow {
        event: event_id(),
        source: source("shop"),
        sender_id: LONG_NUMBER.to_owned(),
        kind: kind.clone(),
        at: NOW,
        body_length: 12,
        repeats: 3,
        deliveries: BTreeMap::from([("dead", 1)]),
    };
    let attempt = AttemptRecord {
        number: 6,
        at: NOW,
        duration_ms: 12,
        outcome: Verdict::Rejected,
        status: Some(503),
        detail: "down".to_owned(),
    };
    let delivery = DeliveryView {
        delivery: delivery_id(0),
        run: Run(0),
        destination: destination("accounting"),
        action: ActionName::deliver(),
        state: State::Dead,
        due: None,
        reason: Some("attempts used up: last answer 503".to_owned()),
        attempts: 6,
        log: vec![attempt],
    };
    let refusal = Refusal {
        reason: "the signature is not that of any secret of this source".to_owned(),
        secrets_tried: 2,
        clock_distance_s: None,
        body_length: 12,
        content_type: Piece::clean(b"application/json"),
        near_miss: Some("it holds for the secret used as text, undecoded".to_owned()),
    };
    let dead = Standing {
        dead_letters: 1,
        ..Standing::well(destination("crm"))
    };
    Shown {
        overview: overview(),
        recent: recent(),
        stored: Some(stored()),
        groups: DeadLetterGroups {
            items: vec![DeadLetterGroup {
                destination: destination("accounting"),
                reason: "attempts used up: last answer 503".to_owned(),
                count: 1,
                oldest: NOW,
                newest: NOW,
            }],
            looked: Looked {
                at: 1,
                back_to: None,
            },
        },
        events: vec![row.clone()],
        event: Some(EventView {
            row,
            repeats_with_other_body: 1,
            kept_until: NOW,
            deliveries: vec![delivery],
        }),
        dead_letters: vec![DeadLetter {
            delivery: delivery_id(0),
            event: event_id(),
            source: source("shop"),
            kind,
            destination: destination("accounting"),
            action: ActionName::deliver(),
            attempts: 6,
            reason: "attempts used up: last answer 503".to_owned(),
            at: NOW,
            kept_until: NOW,
        }],
        refusals: vec![RefusalRow {
            at: NOW,
            source: source("shop"),
            refusal,
        }],
        declined: vec![Declined {
            at: NOW,
            source: None,
            path: "nobody".to_owned(),
            status: 404,
            cause: "no source of that name".to_owned(),
        }],
        alerts: BTreeMap::from([(
            destination("crm"),
            Record::default().judged(&dead, NOW, Duration::MAX),
        )]),
    }
}

fn overview() -> Overview {
    Overview {
        totals: Totals {
            received: 4,
            stored: 1,
            repeats: 3,
            repeats_with_other_body: 1,
            refused: 7,
            declined: 2,
            dead: 1,
            ..Totals::default()
        },
        sources: BTreeMap::from([(
            source("shop"),
            SourceTotals {
                stored: 1,
                repeats: 3,
                repeats_with_other_body: 1,
                refused: 7,
                unrouted: 0,
            },
        )]),
        destinations: BTreeMap::from([(
            destination("accounting"),
            DestinationTotals {
                dead: 1,
                ..DestinationTotals::default()
            },
        )]),
        declined: vec![DeclinedCount {
            source: None,
            status: 404,
            cause: "no \"source\"\\ of\nthat name".to_owned(),
            count: 2,
        }],
    }
}
