//! One attempt of a delivery: the request that is built, and what follows from its outcome.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use http::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use rand::Rng;

use crate::address::Address;
use crate::configuration::Configuration;
use crate::delivery::{
    AttemptRecord, DeathReason, DeliveryKey, Next, Outcome, Unanswered, Verdict,
};
use crate::endpoint::Settings;
use crate::event::Event;
use crate::fail::{self, FailPoint};
use crate::forward::{self, KeptHeaders, Signed};
use crate::identity::{EventId, Run};
use crate::names::{ActionName, DestinationName, Kind, SenderId, SourceName};
use crate::ports::{Outgoing, Transport};
use crate::retry::RetryRule;
use crate::scheme::standard_webhooks;
use crate::scheme::{Draft, Key};
use crate::time::{Clock, Timestamp};

/// An attempt that may be made now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// Which delivery.
    pub key: DeliveryKey,
    /// What is delivered.
    pub event: Arc<Event>,
    /// The attempt's number, from 1, running on over redrives.
    pub number: u32,
    /// Its number within the round that a first queueing or a redrive began, from 1.
    pub in_round: u32,
}

/// What an attempt came to, ready to be recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Performed {
    /// What is kept of it.
    pub record: AttemptRecord,
    /// What follows.
    pub next: Next,
}

/// Where an attempt goes and by what rules.
struct Way<'a> {
    address: &'a Address,
    headers: Option<&'a HeaderMap>,
    keys: Vec<Key>,
    rule: &'a RetryRule,
    time_limit: Duration,
}

/// Makes attempts: all that it needs, made once.
pub struct Performer<T> {
    configuration: Arc<Configuration>,
    transport: T,
    clock: Arc<dyn Clock>,
    rng: Mutex<Box<dyn Rng + Send>>,
}

impl<T: Transport> Performer<T> {
    /// A performer of attempts; `rng` draws the pauses.
    pub fn new(
        configuration: Arc<Configuration>,
        transport: T,
        clock: Arc<dyn Clock>,
        rng: Box<dyn Rng + Send>,
    ) -> Self {
        Self {
            configuration,
            transport,
            clock,
            rng: Mutex::new(rng),
        }
    }

    /// Makes the attempt. `Err` when there is nowhere to send it to: nothing was sent.
    pub async fn perform(
        &self,
        attempt: &Attempt,
        settings: &Settings,
    ) -> Result<Performed, DeathReason> {
        let started = self.clock.now();
        let ticks = self.clock.ticks();
        let way = way(&self.configuration, attempt, settings, started)?;
        fail::reach(FailPoint::BeforeSending);
        let outcome = self.send(request(attempt, &way, started), &way).await;
        fail::reach(FailPoint::AfterSending);
        let took = self.clock.ticks().saturating_sub(ticks);
        let record = AttemptRecord::new(attempt.number, started, took, &outcome);
        let next = self.next(attempt, record.outcome, way.rule);
        tracing::info!(
            delivery.id = %attempt.key.id,
            delivery.destination = %attempt.key.destination,
            delivery.action = %attempt.key.action,
            event.id = %attempt.event.id,
            event.source = %attempt.event.source,
            event.kind = attempt.event.kind.as_str(),
            attempt.number = record.number,
            attempt.outcome = record.outcome.as_str(),
            attempt.status = record.status,
            attempt.detail = outcome_detail(&outcome),
            attempt.duration_ms = record.duration_ms,
            attempt.next = %next,
            "attempt"
        );
        Ok(Performed { record, next })
    }

    /// Makes one attempt at a destination that belongs to no delivery, marked as a test, and tells what it came to: it is
    /// in no ledger and in no total. `id` tells it from others. `Err` when there is nowhere to send it to.
    pub async fn test(
        &self,
        destination: &DestinationName,
        id: &SenderId,
        settings: &Settings,
    ) -> Result<AttemptRecord, DeathReason> {
        let started = self.clock.now();
        let ticks = self.clock.ticks();
        let attempt = test_attempt(destination, id, started);
        let way = way(&self.configuration, &attempt, settings, started)?;
        let mut request = request(&attempt, &way, started);
        if let Some(request) = &mut request {
            let marked = HeaderValue::from_static("true");
            request.headers.insert(TEST, marked);
        }
        let outcome = self.send(request, &way).await;
        let took = self.clock.ticks().saturating_sub(ticks);
        tracing::info!(
            delivery.destination = %destination,
            attempt.outcome = outcome.verdict().as_str(),
            attempt.detail = outcome_detail(&outcome),
            "test delivery"
        );
        Ok(AttemptRecord::new(1, started, took, &outcome))
    }

    /// Sends a request; what it came to. `None` is one that could not be built.
    async fn send(&self, request: Option<Outgoing>, way: &Way<'_>) -> Outcome {
        let Some(request) = request else {
            return Outcome::Unanswered(Unanswered::Unbuildable);
        };
        let signatures = request.headers.get("webhook-signature").cloned();
        let outcome = self.transport.post(request).await;
        quoting_nothing(outcome, way, signatures.as_ref())
    }

    /// What becomes of an attempt during which our own code broke off: a failed attempt like any other.
    pub fn broke_off(&self, attempt: &Attempt) -> Performed {
        let outcome = Outcome::Unanswered(Unanswered::BrokeOff);
        let record = AttemptRecord::new(attempt.number, self.clock.now(), Duration::ZERO, &outcome);
        let rule = &self.configuration.limits(&attempt.key.destination).rule;
        let next = self.next(attempt, record.outcome, rule);
        tracing::error!(
            delivery.id = %attempt.key.id,
            attempt.number = record.number,
            attempt.next = %next,
            "an attempt broke off"
        );
        Performed { record, next }
    }

    fn next(&self, attempt: &Attempt, verdict: Verdict, rule: &RetryRule) -> Next {
        match verdict {
            Verdict::Delivered => Next::Delivered,
            Verdict::Rejected | Verdict::Unanswered => {
                let mut rng = self
                    .rng
                    .lock()
                    .unwrap_or_else(std::sync::PoisonError::into_inner);
                match rule.pause_after(attempt.in_round, &mut **rng) {
                    Some(pause) => Next::Waiting(self.clock.now().plus(pause)),
                    None => Next::Dead(DeathReason::AttemptsUsedUp),
                }
            }
        }
    }
}

/// The header that marks a test delivery.
pub const TEST: &str = "switchboard-test";

/// The attempt of a test delivery, with an event that no sender sent.
fn test_attempt(destination: &DestinationName, id: &SenderId, now: Timestamp) -> Attempt {
    let source = SourceName::switchboard();
    let event = Event {
        id: EventId::of(&source, id),
        source,
        sender_id: id.clone(),
        kind: Kind::test(),
        received_at: now,
        headers: KeptHeaders::of(&HeaderMap::from_iter([(
            CONTENT_TYPE,
            HeaderValue::from_static("application/json"),
        )])),
        body: Bytes::from(format!(r#"{{"test":true,"at":"{now}"}}"#)),
    };
    let action = ActionName::test();
    Attempt {
        key: DeliveryKey::of(&event.id, destination.clone(), action, Run(0)),
        event: Arc::new(event),
        number: 1,
        in_round: 1,
    }
}

/// Shortest part of a header or an address that is hidden by itself, in bytes: a shorter one is an everyday word.
const SHORTEST_HIDDEN: usize = 8;

/// The outcome without what an answer may quote of the request and nobody is to read: the destination's own headers,
/// the signatures, and what stands in its address behind the host.
fn quoting_nothing(outcome: Outcome, way: &Way<'_>, signatures: Option<&HeaderValue>) -> Outcome {
    match outcome {
        Outcome::Answered { status, piece } if !piece.as_str().is_empty() => {
            let piece = piece.without(&hidden(way, signatures));
            Outcome::Answered { status, piece }
        }
        Outcome::Answered { .. } | Outcome::Unanswered(_) => outcome,
    }
}

/// The texts to hide, longer ones first, since they may hold shorter ones.
fn hidden(way: &Way<'_>, signatures: Option<&HeaderValue>) -> Vec<String> {
    let own = way.headers.into_iter().flat_map(HeaderMap::values);
    let values: Vec<&str> = own
        .chain(signatures)
        .filter_map(|value| value.to_str().ok())
        .collect();
    let url = way.address.url();
    // Credentials are quoted without the word before them too, and of a list of signatures each.
    let parts = values
        .iter()
        .flat_map(|value| value.split([' ', ',']))
        .chain([url.path()])
        .chain(url.path().split('/'))
        .chain(url.query())
        .chain(url.query().unwrap_or_default().split(['&', '=']))
        .filter(|part| part.len() >= SHORTEST_HIDDEN);
    let mut hidden: Vec<String> = values
        .iter()
        .copied()
        .chain(parts)
        .map(str::to_owned)
        .collect();
    hidden.sort_by_key(|text| std::cmp::Reverse(text.len()));
    hidden
}

/// The answer's own words stay out of the log: they may quote what was sent.
fn outcome_detail(outcome: &Outcome) -> Option<String> {
    match outcome {
        Outcome::Answered { .. } => None,
        Outcome::Unanswered(why) => Some(why.to_string()),
    }
}

/// Why nothing can be sent to a destination, if so.
pub fn missing(
    configuration: &Configuration,
    destination: &DestinationName,
    settings: &Settings,
) -> Option<DeathReason> {
    if destination.is_your_endpoint() {
        return settings
            .endpoint
            .is_none()
            .then_some(DeathReason::EndpointCleared);
    }
    configuration
        .destination(destination)
        .is_none()
        .then_some(DeathReason::NoDestination)
}

fn way<'a>(
    configuration: &'a Configuration,
    attempt: &Attempt,
    settings: &'a Settings,
    now: Timestamp,
) -> Result<Way<'a>, DeathReason> {
    if attempt.key.destination.is_your_endpoint() {
        let endpoint = settings
            .endpoint
            .as_ref()
            .ok_or(DeathReason::EndpointCleared)?;
        let keys = endpoint
            .signing(now)
            .into_iter()
            .filter_map(|secret| standard_webhooks::key(secret).ok())
            .collect();
        let limits = &configuration.endpoint_limits;
        return Ok(Way {
            address: &endpoint.address,
            headers: None,
            keys,
            rule: &limits.rule,
            time_limit: limits.time_limit,
        });
    }
    let destination = configuration
        .destination(&attempt.key.destination)
        .ok_or(DeathReason::NoDestination)?;
    Ok(Way {
        address: &destination.address,
        headers: Some(&destination.headers),
        keys: destination.sign.iter().cloned().collect(),
        rule: &destination.limits.rule,
        time_limit: destination.limits.time_limit,
    })
}

fn request(attempt: &Attempt, way: &Way<'_>, now: Timestamp) -> Option<Outgoing> {
    let signed = if way.keys.is_empty() {
        Signed::No
    } else {
        Signed::Yes
    };
    let none = HeaderMap::new();
    let mut headers = forward::outgoing(attempt, way.headers.unwrap_or(&none), signed);
    if signed == Signed::Yes {
        let draft = Draft {
            id: attempt.key.id.as_str(),
            kind: attempt.event.kind.as_str(),
            now,
            body: &attempt.event.body,
        };
        for (name, value) in standard_webhooks::sign_with_all(&way.keys, &draft) {
            headers.insert(
                HeaderName::from_static(name),
                HeaderValue::from_str(&value).ok()?,
            );
        }
    }
    Some(Outgoing {
        address: way.address.clone(),
        destination: attempt.key.destination.clone(),
        headers,
        body: attempt.event.body.clone(),
        time_limit: way.time_limit,
    })
}
