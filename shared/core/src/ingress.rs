//! Receiving: from a request at a source's address to a stored event with its plan, or the reason why not.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use rand::Rng;

use crate::configuration::{Configuration, Source};
use crate::delivery::DeliveryKey;
use crate::event::Event;
use crate::fail::{self, FailPoint};
use crate::forward::KeptHeaders;
use crate::identity::{EventId, Run};
use crate::names::{ActionName, DestinationName};
use crate::piece::Piece;
use crate::ports::{Accepted, Answer, Backend, Note, Queued, SameBody};
use crate::refusal::{Cause, DetailBudget, NearMiss, Reason, Refusal, Unreadable};
use crate::retry::jittered;
use crate::route::{Plan, Planned};
use crate::scheme::{self, Checked, near_miss};
use crate::time::{Clock, Timestamp};

/// What the sender is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// 200: stored durably, its deliveries queued.
    Accepted(EventId),
    /// 200: it was stored before.
    Repeat(EventId),
    /// 401.
    Refused,
    /// 400, 404, 413 or 503.
    Declined(Cause),
}

/// Receives for every source of a configuration.
pub struct Ingress<B> {
    configuration: Arc<Configuration>,
    backend: Arc<B>,
    clock: Arc<dyn Clock>,
    rng: Mutex<Box<dyn Rng + Send>>,
    // One for each list, so that a flood of one kind does not hide the other.
    refused: Mutex<DetailBudget>,
    declined: Mutex<DetailBudget>,
}

impl<B: Backend> Ingress<B> {
    /// An ingress over `backend`; `rng` draws the first pauses of destinations that have one.
    pub fn new(
        configuration: Arc<Configuration>,
        backend: Arc<B>,
        clock: Arc<dyn Clock>,
        rng: Box<dyn Rng + Send>,
    ) -> Self {
        let now = clock.now();
        Self {
            configuration,
            backend,
            clock,
            rng: Mutex::new(rng),
            refused: Mutex::new(DetailBudget::new(now)),
            declined: Mutex::new(DetailBudget::new(now)),
        }
    }

    /// The source of that name.
    pub fn source(&self, name: &str) -> Option<&Source> {
        self.configuration
            .sources
            .iter()
            .find(|source| source.name.as_str() == name)
    }

    /// Receives a request to `source`: its headers and its whole body as they came.
    pub async fn receive(&self, source: &Source, headers: &HeaderMap, body: Bytes) -> Reply {
        let now = self.clock.now();
        let ticks = self.clock.ticks();
        if let Err((reason, checked)) =
            scheme::verify(source.scheme, source.keys(), headers, &body, now)
        {
            return self
                .refuse(source, headers, &body, reason, checked, now)
                .await;
        }
        let kept = KeptHeaders::of(headers);
        let identity = match (source.scheme.identify)(headers, &body) {
            Ok(identity) if kept.fit() => Ok(identity),
            Ok(_) => Err(Unreadable::HeadersTooLarge),
            Err(unreadable) => Err(unreadable),
        };
        let identity = match identity {
            Ok(identity) => identity,
            Err(unreadable) => {
                let cause = Cause::Unreadable(unreadable);
                return self
                    .decline(Some(source), source.name.as_str(), cause)
                    .await;
            }
        };
        let event = Event {
            id: EventId::of(&source.name, &identity.sender_id),
            source: source.name.clone(),
            sender_id: identity.sender_id,
            kind: identity.kind,
            received_at: now,
            headers: kept,
            body,
        };
        let (accepted, planned) = match self.accept(&event).await {
            Ok(accepted) => accepted,
            Err(error) if error.is_overloaded() => {
                return self
                    .decline(Some(source), source.name.as_str(), Cause::Overloaded)
                    .await;
            }
            Err(error) => {
                tracing::error!(event.source = %source.name, event.id = %event.id, error = %error.line(), "event not stored");
                return self
                    .decline(Some(source), source.name.as_str(), Cause::StoreUnavailable)
                    .await;
            }
        };
        log(
            &event,
            accepted,
            planned,
            self.clock.ticks().saturating_sub(ticks),
        );
        match accepted {
            Accepted::New => Reply::Accepted(event.id),
            Accepted::Repeat(_) => Reply::Repeat(event.id),
        }
    }

    /// Stores the event with its plan; what became of it, and how many deliveries were planned.
    async fn accept(&self, event: &Event) -> Answer<(Accepted, usize)> {
        let plan = self.plan(event).await?;
        let keep = self.configuration.keep();
        fail::reach(FailPoint::BeforeAccept);
        let accepted = self.backend.accept(event, &plan, keep).await?;
        fail::reach(FailPoint::BeforeAnswer);
        Ok((accepted, plan.len()))
    }

    /// Counts and lists a request that cannot be accepted, and gives its reply. `path` is what it was posted to.
    pub async fn decline(&self, source: Option<&Source>, path: &str, cause: Cause) -> Reply {
        let now = self.clock.now();
        let listed = take(&self.declined, now).then(|| {
            let path: String = path.chars().take(60).collect();
            Piece::clean(path.as_bytes()).as_str().to_owned()
        });
        let source = source.map(|source| source.name.clone());
        self.note(
            now,
            Note::Declined {
                source,
                cause,
                listed,
            },
        )
        .await;
        Reply::Declined(cause)
    }

    async fn refuse(
        &self,
        source: &Source,
        headers: &HeaderMap,
        body: &[u8],
        reason: Reason,
        checked: Checked,
        now: Timestamp,
    ) -> Reply {
        let listed = take(&self.refused, now).then(|| {
            explain(
                source,
                &self.configuration.sources,
                headers,
                body,
                reason,
                checked,
            )
        });
        if let Some(refusal) = &listed {
            tracing::warn!(event.source = %source.name, event.body_bytes = body.len(), reason = %refusal.reason, near_miss = refusal.near_miss, "refused");
        }
        self.note(
            now,
            Note::Refused {
                source: source.name.clone(),
                listed,
            },
        )
        .await;
        Reply::Refused
    }

    async fn note(&self, now: Timestamp, note: Note) {
        fail::reach(FailPoint::BeforeNote);
        if let Err(error) = self.backend.note(now, note).await
            && !error.is_overloaded()
        {
            tracing::error!(error = %error.line(), "not written to the journal; counted in memory");
        }
        fail::reach(FailPoint::AfterNote);
    }

    /// Run 0 of an event: its routes' deliveries, and a copy while your endpoint is set.
    async fn plan(&self, event: &Event) -> Answer<Vec<Queued>> {
        let mut plan = Plan::of(&self.configuration.routes, &event.source, &event.kind);
        if self.backend.settings().await?.endpoint.is_some() {
            plan.add(Planned {
                destination: DestinationName::your_endpoint(),
                action: ActionName::copy(),
            });
        }
        Ok(plan
            .deliveries()
            .iter()
            .map(|planned| self.queued(event, planned, Run(0)))
            .collect())
    }

    fn queued(&self, event: &Event, planned: &Planned, run: Run) -> Queued {
        let (destination, action) = (planned.destination.clone(), planned.action.clone());
        let key = DeliveryKey::of(&event.id, destination, action, run);
        let limits = self
            .configuration
            .destination(&planned.destination)
            .map(|destination| &destination.limits);
        let due = match limits.and_then(|limits| Some((limits.first_pause?, limits.rule.jitter())))
        {
            Some((pause, jitter)) => {
                let mut rng = self.rng.lock().unwrap_or_else(PoisonError::into_inner);
                event.received_at.plus(jittered(pause, jitter, &mut **rng))
            }
            None => event.received_at,
        };
        Queued { key, due }
    }
}

fn take(budget: &Mutex<DetailBudget>, now: Timestamp) -> bool {
    budget
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .take(now)
}

/// The one line of an accepted request.
fn log(event: &Event, accepted: Accepted, planned: usize, took: Duration) {
    let answer = match accepted {
        Accepted::New => "accepted",
        Accepted::Repeat(SameBody::Yes) => "repeat",
        Accepted::Repeat(SameBody::No) => "repeat with another body",
    };
    tracing::info!(
        event.id = %event.id,
        event.source = %event.source,
        event.kind = event.kind.as_str(),
        event.sender_id = event.sender_id.as_str(),
        event.body_bytes = event.body.len(),
        answer,
        deliveries = planned,
        duration_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        "received"
    );
}

/// All that an operator is told of a refusal: the same on the page and from `switchboard verify`.
pub fn explain(
    source: &Source,
    all: &[Source],
    headers: &HeaderMap,
    body: &[u8],
    reason: Reason,
    checked: Checked,
) -> Refusal {
    let near_miss: Option<NearMiss> = match reason {
        Reason::NoSecretMatched | Reason::MalformedSignature { .. } => {
            near_miss::find(source, all, headers, body)
        }
        Reason::MissingHeader { .. }
        | Reason::RepeatedHeader { .. }
        | Reason::MalformedHeader { .. }
        | Reason::TimeOutside => None,
    };
    let content_type = headers
        .get(CONTENT_TYPE)
        .map(http::HeaderValue::as_bytes)
        .unwrap_or_default();
    Refusal {
        reason: reason.to_string(),
        secrets_tried: checked.secrets_tried,
        clock_distance_s: checked.clock_distance_s,
        body_length: body.len(),
        content_type: Piece::clean(content_type.get(..100).unwrap_or(content_type)),
        near_miss: near_miss.map(|near| near.to_string()),
    }
}
